import { afterAll, beforeAll, expect, it } from 'vitest'
import { AccountAtEmulator } from './support/account-at-emulator.ts'
import { packChart } from './support/chart-packages.ts'
import { documented } from './support/documented.ts'
import { InstalledCluster } from './support/installed-cluster.ts'
import { helmWithJob } from './support/job-runner.ts'
import type { PodProcess } from './support/pod-process.ts'
import { countResources, quickstartAt } from './support/quickstart.ts'
import { expectNothingRefused, expectRightsOfManifest } from './support/rights-granted.ts'
import { stopAtFirstFailure } from './support/story.ts'

/** One installation from its first day to its last: the tests depend on each other, in this order. */
const HOME = 'culvert-system'
const IN_HOME = ['--namespace', HOME]
const LEFTOVERS = { name: 'culvert-leftovers', namespace: HOME }
/** For the emulator: certificates are issued quickly, and another installation has the same key. */
const EMULATOR = ['emulator.apiKey=key-of-ours', 'emulator.extraArgs={--cert-seconds=1}'].flatMap((value) => [
  '--set',
  value,
])

let cluster: InstalledCluster
let chart: string
let account: AccountAtEmulator
let operator: PodProcess | undefined
/** Number of existing Culvert resources. */
let count = 0

stopAtFirstFailure()
beforeAll(async () => {
  cluster = await InstalledCluster.start()
  chart = await packChart(cluster, 4)
}, 300_000)
afterAll(() => cluster[Symbol.asyncDispose](), 60_000)

/** Replaces the running operator by the one that the Deployment now describes; resolves once it reconciles. */
async function rollOut(): Promise<PodProcess> {
  if (operator !== undefined) expect(await operator.stop()).toBe(0)
  operator = await cluster.operator(HOME)
  return operator
}

/** The resources, and their remote objects. */
async function ids(): Promise<readonly (readonly unknown[])[]> {
  const all = await cluster.list('culvert', '--all-namespaces')
  return all.map(({ kind, metadata, status }) => [kind, metadata.name, metadata.uid, status?.id])
}

it('does what the README says, up to a first resource that is Ready', async () => {
  // Without the first commands, which build the image: here its program runs without a container.
  const [, install = '', giveAccount = '', firstResource = ''] = await documented('README.md', 'Install')
  await cluster.shell(`${install.trimEnd()} ${EMULATOR.map((word) => `'${word}'`).join(' ')}`)
  account = await AccountAtEmulator.run(cluster, 'culvert', HOME)
  await rollOut()
  await cluster.shell(giveAccount)
  expect(await cluster.shell(firstResource)).toContain('condition met')
  expect(await account.objects('ip_policies')).toHaveLength(1)
})

it('makes the quickstart Ready', async () => {
  const manifests = await quickstartAt(account)
  await cluster.kubectl(['apply', '--server-side', '--validate=strict', '-f', '-'], { stdin: manifests })
  // Plus those created from the README.
  count = countResources(manifests) + 2
  await cluster.allReady(count)
})

it('may do what the roles of the release say, and nothing else, and needs no more', async () => {
  await expectNothingRefused(cluster)
  const manifest = await cluster.helmed(4, ['get', 'manifest', 'culvert', ...IN_HOME])
  await expectRightsOfManifest(cluster, manifest, { name: 'culvert', namespace: HOME }, ['default', 'quickstart', HOME])
})

it('is upgraded with another value without a write to the API', async () => {
  const before = await ids()
  const mark = await account.mark()
  const [upgrade = ''] = await documented('docs/install.md', 'Upgrading')
  await cluster.shell(`${upgrade.trimEnd()} --set operator.workers=3`)
  const deployment = JSON.stringify(await cluster.get('deployment', 'culvert', HOME))
  expect(deployment).toContain('"--workers=3"')
  await rollOut()
  await cluster.resync('default', 'quickstart')
  await cluster.allReady(count)
  expect(await ids()).toEqual(before)
  expect(await account.writes(mark)).toEqual([])
})

it('refuses to be uninstalled while resources are left, and names them', async () => {
  const hooks = await cluster.helmed(4, ['get', 'hooks', 'culvert', ...IN_HOME])
  const look = () => expectRightsOfManifest(cluster, hooks, LEFTOVERS, ['default', HOME])
  const uninstall = ['uninstall', 'culvert', ...IN_HOME]
  const { helm, output, exitCode } = await helmWithJob(cluster, 4, uninstall, LEFTOVERS, look)
  expect(exitCode, output).toBe(1)
  expect(output).toContain('Edge: quickstart/database, quickstart/shop')
  expect(output).toContain('ClusterAccount: default, shared')
  expect(helm.code).not.toBe(0)
  expect(await cluster.get('deployment', 'culvert', HOME)).toBeDefined()
})

it('leaves the CRDs, the resources and the account when the check is off', async () => {
  const before = await ids()
  const mark = await account.mark()
  // The operator runs a little longer without its roles, like a terminating Pod: it cannot even release its Lease.
  await cluster.helmed(4, ['uninstall', 'culvert', '--no-hooks', ...IN_HOME])
  expect(await operator?.stop()).toBe(0)
  expect(await ids()).toEqual(before)
  expect(await account.writes(mark)).toEqual([])
  const types = 'all,serviceaccounts,roles,rolebindings,secrets,clusterroles,clusterrolebindings'
  const left = await cluster.list(types, '--all-namespaces', '-l', 'app.kubernetes.io/part-of=culvert')
  const names = left.map(({ kind, metadata }) => `${kind}/${metadata.name}`)
  // What the hook leaves is its report.
  expect(names.filter((name) => !name.endsWith('-leftovers'))).toEqual([])
})

it('finds everything unchanged when it is installed again', async () => {
  const before = await ids()
  const mark = await account.mark()
  await cluster.helmed(4, ['install', 'culvert', chart, ...IN_HOME, '--set', 'emulator.enabled=true', ...EMULATOR])
  operator = undefined
  await rollOut()
  await cluster.resync('default', 'quickstart')
  await cluster.allReady(count)
  expect(await ids()).toEqual(before)
  expect(await account.writes(mark)).toEqual([])
})

it('uninstalls as install.md says: the resources with their objects first', async () => {
  const [commands = ''] = await documented('docs/install.md', 'Uninstalling')
  const [deletion = '', uninstallation = ''] = commands.trimEnd().split('\n')
  await cluster.shell(deletion)
  expect(await account.objects('edges/tls')).toEqual([])
  expect(await account.objects('ip_policies')).toEqual([])
  const { helm, output } = await helmWithJob(cluster, 4, uninstallation.split(' ').slice(1), LEFTOVERS)
  expect(output).toContain('No resource needs')
  expect(helm, helm.stderr).toMatchObject({ code: 0 })
  expect(await cluster.get('deployment', 'culvert', HOME)).toBeUndefined()
  expect(await operator?.stop()).toBe(0)
})
