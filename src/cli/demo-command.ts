import { Command } from 'commander'
import { DemoError } from './demo/cluster.ts'
import { runDemo } from './demo/run.ts'
import { stopSignal } from './exit.ts'
import { positive } from './flags.ts'
import { standardTerminals } from './terminal/terminal.ts'

interface Flags {
  readonly once: boolean
  readonly kubeconfig?: string
  readonly certSeconds: number
}

/** Time from the apply until all resources must be Ready. */
const TIMEOUT_MS = 120_000

/** `culvert demo`: everything on this machine, from a control plane to Ready resources. */
export function demoCommand(): Command {
  return new Command('demo')
    .description(
      'Start a control plane, an emulator and an operator locally, apply the examples, and show what happens.',
    )
    .option(
      '--once',
      'exit once all resources are Ready and traffic was seen, with code 0; or else with code 1 and the reasons',
      false,
    )
    .option('--kubeconfig <file>', 'use this cluster, as its administrator, instead of starting one')
    .option('--cert-seconds <seconds>', 'how long a certificate takes to provision', positive, 4)
    .action(async (flags: Flags) => {
      process.exitCode = await run(flags)
    })
}

async function run(flags: Flags): Promise<number> {
  const entryPoint = process.argv[1]
  if (entryPoint === undefined) throw new Error('cannot start the operator: the path of this program is unknown')
  const { out, err } = standardTerminals()
  try {
    return await runDemo({ ...flags, timeoutMs: TIMEOUT_MS, entryPoint, output: out }, () =>
      // SIGHUP: the terminal was closed.
      stopSignal(['SIGINT', 'SIGTERM', 'SIGHUP']),
    )
  } catch (error) {
    if (!(error instanceof DemoError)) throw error
    err.write(`${error.message}\n`)
    return 1
  }
}
