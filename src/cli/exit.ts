import { type Command, CommanderError } from 'commander'

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
  letErrorsThrough(program)
  try {
    await program.parseAsync()
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    process.exitCode = error.exitCode
  }
}

/** Has the command, and those below it, throw where they would call `process.exit`. */
function letErrorsThrough(command: Command): void {
  command.exitOverride()
  for (const each of command.commands) letErrorsThrough(each)
}
