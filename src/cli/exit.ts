import { inspect } from 'node:util'
import { type Command, CommanderError } from 'commander'
import { ProxyError } from '../http-client/proxies.ts'
import { endWithReader, standardTerminals, type Terminals } from './terminal/terminal.ts'

/** How long a process that has nothing left to do may take to end by itself, in milliseconds. */
const LINGER_MS = 1_000

/**
 * Ends the process with this exit code as soon as nothing is left to do; what still holds it after a second, such as a
 * connection to a server that does not answer, is given up.
 *
 * Nothing here calls `process.exit` while there is work: it waits for V8's threads without serving them, so that it
 * never returns when one of them, compiling, has just asked for a garbage collection (nodejs/node#54918).
 */
export function endWith(code: number): void {
  process.exitCode = code
  setTimeout(() => process.exit(), LINGER_MS).unref()
}

/**
 * Parses the command line and runs the command that it names. Help and wrong flags end the process by itself as well.
 */
export async function runProgram(program: Command): Promise<void> {
  endWithReader()
  const terminals = standardTerminals()
  prepare(program, terminals)
  try {
    await program.parseAsync()
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode
    else if (error instanceof ProxyError) {
      terminals.err.print(`error: ${error.message}`)
      endWith(1)
    } else {
      // A bug. Node would print it as it is, with whatever strangers wrote into its message.
      terminals.err.write(`${inspect(error)}\n`)
      endWith(1)
    }
  }
}

/** Has the command, and those below it, throw where they would call `process.exit`, and print like everything else. */
function prepare(command: Command, terminals: Terminals): void {
  command.exitOverride().configureOutput({ writeOut: terminals.out.write, writeErr: terminals.err.write })
  for (const each of command.commands) prepare(each, terminals)
}

/** Signals that stop a process gracefully. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Exit codes by which shells and container runtimes recognise the end by a signal. */
const EXIT_CODES = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const

type StopSignal = keyof typeof EXIT_CODES

/**
 * Aborted by the first of these signals; a second one of the same name ends the process at once, as Node does by
 * default.
 */
export function stopSignal(signals: readonly StopSignal[] = STOP_SIGNALS): AbortSignal {
  const controller = new AbortController()
  for (const signal of signals) {
    process.once(signal, () => {
      controller.abort()
      endAtOnceAsFirstProcess([signal])
    })
  }
  return controller.signal
}

/**
 * The kernel does not apply a signal's default action to process 1 of a container, so that a stop would wait until the
 * runtime kills it. Process 1 therefore exits by itself; any other process is left as it is. Returns the function to
 * undo this.
 */
export function endAtOnceAsFirstProcess(signals: readonly StopSignal[] = STOP_SIGNALS, pid = process.pid): () => void {
  if (pid !== 1) return () => {}
  const undo = signals.map((signal) => {
    const end = (): never => process.exit(EXIT_CODES[signal])
    process.once(signal, end)
    return () => process.off(signal, end)
  })
  return () => {
    for (const each of undo) each()
  }
}
