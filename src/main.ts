import { basename } from 'node:path'
import { Command } from 'commander'
import { commands } from './cli/commands.ts'
import { endAtOnceAsFirstProcess, runProgram } from './cli/exit.ts'
import { packageVersion } from './config.ts'

/** Handles signals until a command takes over, for example while its modules are loaded. */
const stopListening = endAtOnceAsFirstProcess()

/** kubectl runs the program `kubectl-culvert` for `kubectl culvert`. */
const isPlugin = basename(process.argv[1] ?? '').startsWith('kubectl-culvert')

/** Entry point of the `culvert` command. */
const program = new Command(isPlugin ? 'kubectl culvert' : 'culvert')
  .description('A Kubernetes operator for a hosted tunnel-and-ingress service.')
  .version(packageVersion())

const [first = '', second = ''] = process.argv.slice(2)
const named = first === 'help' ? second : first
if (Object.hasOwn(commands, named)) {
  const command = await commands[named]?.load()
  if (command !== undefined) program.addCommand(command)
} else {
  for (const [name, { summary }] of Object.entries(commands))
    program.command(name).summary(summary).description(summary)
}

program.hook('preAction', stopListening)
await runProgram(program)
