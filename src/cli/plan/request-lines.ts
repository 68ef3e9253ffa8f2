import type { Terminal } from '../terminal/terminal.ts'
import { wrap } from '../terminal/wrap.ts'

/** Colours of a plan, and the length of its lines. */
export type Paper = Pick<Terminal, 'styled' | 'width'>

/** What a request of a plan does to its object. */
export type Action = keyof typeof SIGNS

const SIGNS = { create: ['+', 'green'], update: ['~', 'yellow'], delete: ['-', 'red'] } as const

/** The head of the `number`th request of a plan; `about` says what of. */
export function headLines(number: number, action: Action, about: string, { styled, width }: Paper): readonly string[] {
  const [sign, colour] = SIGNS[action]
  return wrap(`${number}. ${sign} ${action} ${about}`, width, BELOW).map((line) => styled(colour, line))
}

/** What belongs to a request, below its head. */
export function linesBelow(text: string, { width }: Pick<Paper, 'width'>): readonly string[] {
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
