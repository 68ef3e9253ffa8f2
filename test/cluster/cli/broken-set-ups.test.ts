import { describe, expect, test } from 'vitest'
import { CommandError } from '../../../src/cli/cluster/command-error.ts'
import type { Finding } from '../../../src/cli/doctor/finding.ts'
import { runDoctor } from '../../../src/cli/doctor-command.ts'
import { runWhy } from '../../../src/cli/why-command.ts'
import { startNameServer } from '../../builders/name-server.ts'
import { type Asked, ask } from '../support/ask.ts'
import { startOwnCluster } from '../support/own-cluster.ts'
import { World } from '../support/world.ts'
import { type BrokenSetUp, brokenSetUps } from './broken-set-ups.ts'

describe('why says the cause and the command, and doctor names first the object, of', () => {
  for (const setUp of brokenSetUps) {
    const { title, isDaily } = setUp
    test(title, { tags: isDaily ? [] : ['nightly'] }, () => expectDiagnosis(setUp))
  }
})

async function expectDiagnosis(setUp: BrokenSetUp): Promise<void> {
  const { options, ownCluster, make, mend, asker, asked, says, command, code = 0, first = asked } = setUp
  await using cluster = ownCluster && (await startOwnCluster())
  await using world = await World.open({ ...options, ...(cluster && { kubeconfig: cluster.kubeconfigPath }) })
  await using mending = new AsyncDisposableStack()
  mending.defer(async () => void (await mend?.(world)))
  await make(world)
  const { namespace, operatorNamespace } = world
  const place = { namespace, kubeconfig: (await asker?.(world)) ?? world.kubeconfig }
  const flags = { release: 'culvert', operatorNamespace }

  const why = await ask(place, (cluster) => runWhy(cluster, [asked], { output: 'text', ...flags })).catch(refusal)
  expect(why.code).toBe(code)
  expect(why.text).toMatch(says)
  expect(why.lines.at(-1)?.trim()).toMatch(command)

  // Nothing answers here: each set-up is broken in one way only.
  await using names = await startNameServer()
  const doctor = await ask(place, (cluster) => {
    return runDoctor(cluster, { output: 'json', allNamespaces: false, dnsServer: [names.address], ...flags })
  })
  const { findings } = JSON.parse(doctor.lines.join('\n')) as { readonly findings: readonly Finding[] }
  // What could not be checked matters only where a right is missing, and then of what was asked about.
  const [worst] = findings.filter(({ check, severity }) => {
    return asker === undefined ? severity !== 'unchecked' : check === 'resources'
  })
  if (first === 'nothing') expect(worst).toBeUndefined()
  else expect(worst?.object, JSON.stringify(worst)).toContain(first)
  if (worst?.check === 'deletion') expect(worst.command).toMatch(command)
}

/** What a person reads who asks about something that the cluster does not have. */
function refusal(error: unknown): Asked {
  if (!(error instanceof CommandError)) throw error
  return { code: 1, lines: error.lines, text: error.lines.join(' ') }
}
