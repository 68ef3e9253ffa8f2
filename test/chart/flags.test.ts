import { expect, it } from 'vitest'
import { emulatorCommand } from '../../src/cli/emulator.ts'
import { leftoversCommand } from '../../src/cli/leftovers.ts'
import { operatorCommand } from '../../src/cli/operator.ts'
import { probeCommand } from '../../src/cli/probe.ts'
import { at, find, HELMS, MODES, merged, type Rendered, render, type Values, valuesAt } from './support/helm.ts'
import { aroundCases } from './support/value-cases/around.ts'
import { operatorCases } from './support/value-cases/operator.ts'

/** Operator flags without a value in the chart, and why. */
const WITHOUT_VALUE: Readonly<Record<string, string>> = {
  '--kubeconfig': 'a Pod reaches its cluster by its service account; operator.extraArgs for another one',
  '--context': 'goes with --kubeconfig',
  '--namespace': 'the release is in it: POD_NAMESPACE',
  '--release': 'ends the operator: a command for people (docs/leaving.md)',
  '--release-timeout': 'goes with --release',
}

it('sets every flag of the operator from a value', async () => {
  const set = new Set<string>()
  for (const { path, to, beside } of [...operatorCases, ...aroundCases]) {
    const values = merged(merged(MODES.cluster, beside ?? {}), valuesAt(path, to))
    for (const argument of argumentsOf(await render(4, values), 'Deployment', 'culvert')) set.add(flagOf(argument))
  }
  const flags = operatorCommand().options.map(({ long }) => long ?? '')
  expect(flags.filter((flag) => !set.has(flag) && WITHOUT_VALUE[flag] === undefined)).toEqual([])
  expect(Object.keys(WITHOUT_VALUE).filter((flag) => set.has(flag) && flag !== '--context')).toEqual([])
})

it('starts every program with arguments that it accepts', async () => {
  const values: Values = {
    emulator: { enabled: true },
    operator: { allowApiHosts: ['api.example.com'], installation: 'a b' },
    metrics: { authentication: { enabled: true } },
  }
  const commands = {
    operator: operatorCommand(),
    emulator: emulatorCommand(),
    leftovers: leftoversCommand(),
    probe: probeCommand(),
  }
  const started = new Set<string>()
  for (const major of HELMS) {
    for (const mode of Object.values(MODES)) {
      const objects = await render(major, merged(mode, values))
      for (const [kind, name, container] of [
        ['Deployment', 'culvert'],
        ['Deployment', 'culvert-emulator'],
        ['Job', 'culvert-leftovers'],
        ['Pod', 'culvert-test'],
        ['Pod', 'culvert-test', 1],
      ] as const) {
        const [program = '', ...args] = argumentsOf(objects, kind, name, container)
        const command = commands[program as keyof typeof commands]
        const { unknown } = command.exitOverride().parseOptions(args)
        expect({ program, unknown }).toEqual({ program, unknown: [] })
        started.add(program)
      }
    }
  }
  expect(started).toEqual(new Set(Object.keys(commands)))
})

it('has the operator’s own defaults', async () => {
  const command = operatorCommand().exitOverride()
  const own = { ...command.opts() }
  const [, ...args] = argumentsOf(await render(4, MODES.cluster), 'Deployment', 'culvert')
  command.parseOptions(args)
  expect(command.opts()).toEqual({ ...own, listen: '0.0.0.0:8080' })
})

function argumentsOf(objects: readonly Rendered[], kind: string, name: string, container = 0): readonly string[] {
  const path = kind === 'Pod' ? 'spec' : 'spec.template.spec'
  return (at(find(objects, kind, name), `${path}.containers.${container}.args`) ?? []) as readonly string[]
}

function flagOf(argument: string): string {
  return argument.split('=', 1)[0] ?? ''
}
