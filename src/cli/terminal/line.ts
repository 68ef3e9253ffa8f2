import type { styleText } from 'node:util'
import { escaped } from '../../util/printable.ts'

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
