import { spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'

/** How to run a program. */
export interface RunProgramOptions {
  /** Working directory. Default: the caller's. */
  readonly cwd?: string
  /** The whole environment. Default: the caller's. */
  readonly env?: NodeJS.ProcessEnv
  /** Text for standard input. Default: empty. */
  readonly stdin?: string
  /** Kills the program when aborted; the returned promise then rejects with an `AbortError`. */
  readonly signal?: AbortSignal
  /** Whether the program, with those that it starts, gets only the time that others leave. Default false. */
  readonly lowPriority?: boolean
  /** Called with each piece of standard error as it arrives. */
  readonly onStderr?: (chunk: string) => void
}

/** How a program ended. */
export interface ProgramResult {
  /** Exit code; 128 if a signal ended the program. */
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const ENDED_BY_SIGNAL = 128

/**
 * Runs a program until it ends and collects its output. A non-zero exit code is a result, not an error.
 *
 * @throws the system's error (`ENOENT`, `EACCES`) if the program cannot be started
 */
export function runProgram(
  program: string,
  args: readonly string[],
  options: RunProgramOptions = {},
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: options.env ?? process.env,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
    if (options.lowPriority && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk
      options.onStderr?.(chunk)
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? ENDED_BY_SIGNAL, stdout, stderr }))
    // A program that ends without reading its input closes the pipe; its exit code is what matters.
    child.stdin.on('error', () => {})
    child.stdin.end(options.stdin ?? '')
  })
}
