import { Command } from 'commander'
import { endAtOnceAsFirstProcess } from './cli/stop-signal.ts'

/**
 * Each command is loaded only when it is named: the emulator starts without the operator's libraries, in half the time
 * and memory.
 */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  operator: async () => (await import('./cli/operator.ts')).operatorCommand(),
  leftovers: async () => (await import('./cli/leftovers.ts')).leftoversCommand(),
  probe: async () => (await import('./cli/probe.ts')).probeCommand(),
  agent: async () => (await import('./cli/agent.ts')).agentCommand(),
  emulator: async () => (await import('./cli/emulator.ts')).emulatorCommand(),
  export: async () => (await import('./cli/export.ts')).exportCommand(),
  plan: async () => (await import('./cli/plan.ts')).planCommand(),
  demo: async () => (await import('./cli/demo.ts')).demoCommand(),
}

/** Handles signals until a command takes over, for example while its modules are loaded. */
const stopListening = endAtOnceAsFirstProcess()

/** Entry point of the `culvert` command. */
const program = new Command('culvert').description('A Kubernetes operator for a hosted tunnel-and-ingress service.')
const named = process.argv[2] ?? ''
const wanted = Object.hasOwn(COMMANDS, named) ? [COMMANDS[named]] : Object.values(COMMANDS)
for (const load of wanted) {
  if (load !== undefined) program.addCommand(await load())
}

program.hook('preAction', stopListening)
await program.parseAsync()
