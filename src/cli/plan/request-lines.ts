import { type Styled, wrap } from '../terminal/line.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The length of the lines of a plan. */
export type Paper = Pick<Terminal, 'width'>

/** What a request of a plan does to its object. */
export type Action = keyof typeof SIGNS

const SIGNS = { create: ['+', 'green'], update: ['~', 'yellow'], delete: ['-', 'red'] } as const

/** The head of the `number`th request of a plan; `about` says what of. */
export function headLines(number: number, action: Action, about: string, { width }: Paper): readonly Styled[] {
  const [sign, colour] = SIGNS[action]
  return wrap(`${number}. ${sign} ${action} ${about}`, width, BELOW).map((text) => ({ text, style: colour }))
}

/** What belongs to a request, below its head. */
export function linesBelow(text: string, { width }: Paper): readonly string[] {
  return wrap(text, width - BELOW.length, '  ').map((line) => BELOW + line)
}

const BELOW = ' '.repeat(5)

/** A field with its values, as people see them. */
export interface ShownChange {
  readonly field: string
  /** Absent: there was none. */
  readonly from?: string | undefined
  /** Absent: it is removed. */
  readonly to?: string | undefined
  /** The values are not shown. */
  readonly isSecret: boolean
}

/** A field with its old and new value, in one line. */
export function changeLine({ field, from, to = '(none)', isSecret }: ShownChange): string {
  if (isSecret) return `${field}: (secret, changed)`
  return from === undefined ? `${field}: ${to}` : `${field}: ${from} → ${to}`
}
