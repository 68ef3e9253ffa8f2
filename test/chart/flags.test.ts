import { expect, it } from 'vitest'
import { emulatorCommand } from '../../src/cli/emulator-command.ts'
import { leftoversCommand } from '../../src/cli/leftovers-command.ts'
import { operatorCommand } from '../../src/cli/operator-command.ts'
import { probeCommand } from '../../src/cli/probe-command.ts'
import { argumentsOf, HELMS, MODES, merged, render, type Values } from './support/helm.ts'

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

it('hands the emulator its secrets by the environment, since arguments are seen by everyone on the node', async () => {
  const objects = await render(4, merged(MODES.cluster, { emulator: { enabled: true } }))
  expect(argumentsOf(objects, 'Deployment', 'culvert-emulator').join(' ')).not.toMatch(/api-key|admin-token|\$\(/)
})

it('has the operator’s own defaults', async () => {
  const command = operatorCommand().exitOverride()
  const own = { ...command.opts() }
  const [, ...args] = argumentsOf(await render(4, MODES.cluster), 'Deployment', 'culvert')
  command.parseOptions(args)
  expect(command.opts()).toEqual({ ...own, listen: '0.0.0.0:8080' })
})
