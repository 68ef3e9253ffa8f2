import { styleText } from 'node:util'

/** A colour or weight of `styleText`. */
export type Style = Parameters<typeof styleText>[0]

/** Where a command prints for a person. */
export interface Terminal {
  /** Columns of a line; at least 60. */
  readonly width: number
  /** Columns of a line of a table, which other programs may read: no limit in a pipe or a file. */
  readonly tableWidth: number
  /** Prints one line. */
  print(line: string): void
  /** `text` in a colour or weight, where there is a terminal that wants colours. */
  styled(style: Style, text: string): string
}

/** Narrower terminals wrap lines by themselves. */
const LEAST_WIDTH = 60
/** Width of prose that is printed into a pipe or a file. */
const PIPE_WIDTH = 100

/** A stream as a terminal. Colours follow what the stream can show, `NO_COLOR` and `FORCE_COLOR`. */
export function terminalOf(stream: NodeJS.WriteStream): Terminal {
  return {
    width: Math.max(LEAST_WIDTH, stream.columns ?? PIPE_WIDTH),
    tableWidth: Math.max(LEAST_WIDTH, stream.columns ?? Number.POSITIVE_INFINITY),
    print: (line) => void stream.write(`${line}\n`),
    styled: (style, text) => styleText(style, text, { stream }),
  }
}

/** Ends the process without a word once nobody reads what it prints, as `culvert tree | head` does. */
export function endWithReader(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    endByBrokenPipe()
  })
}

/**
 * Ends the process as the system ends those that write into a pipe that nobody reads: by SIGPIPE, which Node ignores
 * otherwise. Process 1 of a container cannot be ended so, and exits with the code that shells give to that signal.
 */
function endByBrokenPipe(): never {
  const listener = (): void => undefined
  // Removing the only listener restores what the system does by default.
  process.on('SIGPIPE', listener).off('SIGPIPE', listener)
  process.kill(process.pid, 'SIGPIPE')
  process.exit(141)
}
