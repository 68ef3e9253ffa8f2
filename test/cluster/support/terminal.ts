import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stripVTControlCharacters } from 'node:util'
import { PROGRAM } from '../../builders/program.ts'

export interface TerminalOptions {
  readonly columns: number
  readonly env: Readonly<Record<string, string>>
  /** What the person types once the terminal shows `after`. */
  readonly typing?: { readonly after: string; readonly keys: string }
}

/** What stood on the terminal when the command had ended. */
export interface TerminalSession {
  readonly code: number
  /** With colours, as the terminal got it. */
  readonly raw: string
  /** Without them, line by line. */
  readonly lines: readonly string[]
}

/** Runs the command `culvert` in a terminal of its own: a pseudo-terminal, by util-linux's `script`. */
export async function inTerminal(
  args: readonly string[],
  { columns, env, typing }: TerminalOptions,
): Promise<TerminalSession> {
  const command = `stty cols ${columns} rows 50; exec ${[process.execPath, PROGRAM, ...args].map(quoted).join(' ')}`
  // Nothing else of what is around the tests: `CI`, for one, takes the colours away.
  const { PATH, HOME } = process.env
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { PATH, HOME, TERM: 'xterm-256color', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let raw = ''
  let typed = typing === undefined
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    raw += text
    if (typed || typing === undefined || !raw.includes(typing.after)) return
    typed = true
    child.stdin.write(typing.keys)
  })
  const [code] = (await once(child, 'close')) as [number]
  const lines = stripVTControlCharacters(raw).replaceAll(/\r+\n/g, '\n').trimEnd().split('\n')
  // What is written after a carriage return takes the place of a line, as progress does.
  return { code, raw, lines: lines.map((line) => line.slice(line.lastIndexOf('\r') + 1)) }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
