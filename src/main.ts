import { basename } from 'node:path'
import { Command } from 'commander'
import { commands } from './cli/commands.ts'
import { endAtOnceAsFirstProcess, endWith, runProgram } from './cli/exit.ts'
import { packageVersion } from './config.ts'

/** Handles signals until a command takes over, for example while its modules are loaded. */
const stopListening = endAtOnceAsFirstProcess()

/**
 * kubectl runs the program `kubectl-culvert` for `kubectl culvert`, and `kubectl_complete-culvert` with the words of
 * which the last is to be completed.
 */
const called = basename(process.argv[1] ?? '')
const isPlugin = called.startsWith('kubectl-culvert')
const words = process.argv.slice(2)
const [first = '', second = ''] = words

if (called.startsWith('kubectl_complete-') || first === '__complete') {
  // Not a command, since the words may be flags of any.
  const { printCompletions } = await import('./cli/completion/completions.ts')
  await printCompletions(first === '__complete' ? words.slice(1) : words, commands)
  endWith(0)
} else {
  await runProgram(await programFor(first === 'help' ? second : first))
}

/** The `culvert` command, with the named command loaded, or else with the summaries of all. */
async function programFor(named: string): Promise<Command> {
  const program = new Command(isPlugin ? 'kubectl culvert' : 'culvert')
    .description('A Kubernetes operator for a hosted tunnel-and-ingress service.')
    .version(packageVersion())
  const command = Object.hasOwn(commands, named) ? await commands[named]?.load() : undefined
  if (command !== undefined) program.addCommand(command)
  else
    for (const [name, { summary }] of Object.entries(commands))
      program.command(name).summary(summary).description(summary)
  return program.hook('preAction', stopListening)
}
