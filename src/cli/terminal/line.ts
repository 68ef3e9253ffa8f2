import type { styleText } from 'node:util'
import { escaped, printable } from '../../util/printable.ts'

/** A colour or weight of `styleText`. */
export type Style = Parameters<typeof styleText>[0]

/** Text in a style. An escape sequence in the text itself is shown, not obeyed. */
export interface Styled {
  readonly text: string
  readonly style: Style
}

/** A part of a line. */
export type Span = string | Styled

/** One line of output. */
export type Line = Span | readonly Span[]

/** The line as it is printed: on one line, in printable characters, and in colours as far as `paint` adds them. */
export function lineText(line: Line, paint: (styled: Styled) => string = ({ text }) => text): string {
  const spans: readonly Span[] = typeof line === 'string' || 'text' in line ? [line] : line
  return spans
    .map((span) => (typeof span === 'string' ? escaped(span) : paint({ ...span, text: escaped(span.text) })))
    .join('')
    .trimEnd()
}

const UNITS = [
  { name: 'day', ms: 86_400_000 },
  { name: 'hour', ms: 3_600_000 },
  { name: 'minute', ms: 60_000 },
  { name: 'second', ms: 1_000 },
] as const

/** A span of time for people, in its largest unit: `45 seconds`, `2 hours`. Below a second: `a moment`. */
export function spanText(ms: number): string {
  const unit = UNITS.find((each) => ms >= each.ms)
  if (unit === undefined) return 'a moment'
  const count = Math.floor(ms / unit.ms)
  return `${count} ${unit.name}${count === 1 ? '' : 's'}`
}

/**
 * `text` in lines of at most `width` characters, broken between words; a longer word has a line of its own. Spaces
 * within a line stay as they are. Lines after the first begin with `indent`.
 */
export function wrap(text: string, width: number, indent = ''): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const piece of printable(text)
    .trim()
    .match(/ *[^ ]+/g) ?? []) {
    if (line !== '' && line.length + piece.length > width) {
      lines.push(line)
      line = `${indent}${piece.trimStart()}`
    } else line += piece
  }
  return line === '' ? lines : [...lines, line]
}
