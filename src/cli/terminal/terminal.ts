import { createInterface } from 'node:readline/promises'
import { styleText } from 'node:util'
import { escaped, jsonText } from '../../util/printable.ts'
import { type Line, lineText } from './line.ts'

/**
 * Where a command prints: the only way to standard output and standard error (the linter forbids others). Whatever it
 * is given to print may come from strangers, so that it adds all control sequences itself and escapes any others.
 */
export interface Terminal {
  /** Columns of a line; at least 60. */
  readonly width: number
  /** Columns of a line of a table, which other programs may read: no limit in a pipe or a file. */
  readonly tableWidth: number
  /** Lines that can be redrawn: all that a terminal has, and none in a pipe or a file. */
  readonly height: number
  /** Prints one line. */
  print(line: Line): void
  /** Prints a text of several lines as it is, such as a manifest. */
  write(text: string): void
  /** Prints a value for programs. */
  json(value: unknown): void
  /** Prints lines in the place of those that the last call printed; nothing else may be printed meanwhile. */
  redraw(lines: readonly Line[]): void
}

/** Narrower terminals wrap lines by themselves. */
const LEAST_WIDTH = 60
/** Width of prose that is printed into a pipe or a file. */
const PIPE_WIDTH = 100

/** A stream that may be a terminal. */
export type Output = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/** A stream as a terminal. Colours follow what the stream can show, `NO_COLOR` and `FORCE_COLOR`. */
export function terminalOf(stream: Output): Terminal {
  const painted = (line: Line): string => lineText(line, ({ style, text }) => styleText(style, text, { stream }))
  let drawn = 0
  return {
    width: Math.max(LEAST_WIDTH, stream.columns ?? PIPE_WIDTH),
    tableWidth: Math.max(LEAST_WIDTH, stream.columns ?? Number.POSITIVE_INFINITY),
    height: stream.isTTY === true ? (stream.rows ?? Number.POSITIVE_INFINITY) : 0,
    print: (line) => void stream.write(`${painted(line)}\n`),
    write: (text) => void stream.write(escaped(text, true)),
    json: (value) => void stream.write(`${jsonText(value, 2)}\n`),
    redraw: (lines) => {
      // Move up to the first of the former lines, reprint each line, cleared to its end, and clear what is left below.
      const up = drawn === 0 ? '' : `\u001b[${drawn}A`
      stream.write(`${up}\r${lines.map((line) => `${painted(line)}\u001b[K\n`).join('')}\u001b[J`)
      drawn = lines.length
    },
  }
}

/** Where a command prints results, and messages. */
export interface Terminals {
  readonly out: Terminal
  readonly err: Terminal
}

/** Standard output and standard error. */
export function standardTerminals(): Terminals {
  return { out: terminalOf(process.stdout), err: terminalOf(process.stderr) }
}

/**
 * Ends the process without a word once no one reads what it prints, as `culvert tree | head` does. A command that
 * handles errors of a stream itself, as the audit records of an operator do, continues.
 */
export function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (stream.listenerCount('error') > 1) return
      if (error.code !== 'EPIPE') throw error
      endByBrokenPipe()
    })
  }
}

/**
 * Ends the process as the system ends those that write into a pipe that no one reads: by SIGPIPE, which Node ignores
 * otherwise. Process 1 of a container cannot be ended so, and exits with the code that shells give to that signal.
 */
function endByBrokenPipe(): never {
  const listener = (): void => undefined
  // Removing the only listener restores what the system does by default.
  process.on('SIGPIPE', listener).off('SIGPIPE', listener)
  process.kill(process.pid, 'SIGPIPE')
  process.exit(141)
}

/**
 * Asks the person at the terminal. Anything but `y` or `yes` is a no, and so is the end of the input.
 *
 * @returns undefined if no one can be asked, since the input is no terminal
 */
export async function confirm(question: string): Promise<boolean | undefined> {
  if (!process.stdin.isTTY) return undefined
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(`${escaped(question)} [y/N] `)).trim())
  } catch {
    // Ctrl-D closes the input.
    return false
  } finally {
    lines.close()
  }
}
