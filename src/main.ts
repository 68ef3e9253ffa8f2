import { Command } from 'commander'
import { demoCommand } from './cli/demo.ts'
import { emulatorCommand } from './cli/emulator.ts'
import { operatorCommand } from './cli/operator.ts'

/** Entry point of the `culvert` command. */
const program = new Command('culvert')
  .description('Keeps an account of a tunnel-and-ingress service as Kubernetes resources say.')
  .addCommand(operatorCommand())
  .addCommand(emulatorCommand())
  .addCommand(demoCommand())

await program.parseAsync()
