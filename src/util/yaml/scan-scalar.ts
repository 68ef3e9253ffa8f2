import { type Cursor, isBlank, isBlankOrEnd, isBreak, isBreakOrEnd } from './cursor.ts'

/** Line breaks within a scalar, which are folded once it is known what follows them. */
class Breaks {
  #whitespace: string = ''
  #first: string = ''
  #more: string = ''

  /** Whether the last line of the scalar so far has ended. */
  get areOpen(): boolean {
    return this.#first !== ''
  }

  /** Passes spaces, tabs and line breaks. */
  read(cursor: Cursor): void {
    while (isBlank(cursor.peek()) || isBreak(cursor.peek())) this.readOne(cursor)
  }

  readOne(cursor: Cursor): void {
    if (isBlank(cursor.peek())) {
      const blank = cursor.read()
      if (!this.areOpen) this.#whitespace += blank
    } else if (this.areOpen) this.#more += cursor.readBreak()
    else this.#first = cursor.readBreak()
  }

  /** What they are in the value, once something follows. */
  take(): string {
    const folded = this.#first === '\n' ? this.#more || ' ' : this.#first + this.#more
    const taken = this.areOpen ? folded : this.#whitespace
    this.#whitespace = ''
    this.#first = ''
    this.#more = ''
    return taken
  }
}

/** Where a plain scalar stands. */
interface PlainPlace {
  /** Column of the collection around it. */
  readonly indent: number
  readonly isInFlow: boolean
}

/** Reads a scalar without quotes. */
export function scanPlain(
  cursor: Cursor,
  { indent, isInFlow }: PlainPlace,
): { readonly value: string; readonly endsAtBreak: boolean } {
  const start = cursor.line
  const breaks = new Breaks()
  let value = ''
  while (!(cursor.atIndicator('---') || cursor.atIndicator('...') || cursor.peek() === '#')) {
    while (!isBlankOrEnd(cursor.peek())) {
      if (cursor.peek() === ':' && isBlankOrEnd(cursor.peek(1))) break
      if (isInFlow && ',?[]{}'.includes(cursor.peek())) break
      value += breaks.take() + cursor.read()
    }
    if (!(isBlank(cursor.peek()) || isBreak(cursor.peek()))) break
    while (isBlank(cursor.peek()) || isBreak(cursor.peek())) {
      if (breaks.areOpen && cursor.column <= indent && cursor.peek() === '\t') {
        cursor.fail('found a tab character that violates indentation', start)
      }
      breaks.readOne(cursor)
    }
    if (!isInFlow && cursor.column <= indent) break
  }
  return { value, endsAtBreak: breaks.areOpen }
}

/** What stands for a character after a backslash. */
const ESCAPES: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '\\': '\\',
  N: '\u0085',
  _: '\u00a0',
  L: '\u2028',
  P: '\u2029',
}

/** Hexadecimal digits after a letter. */
const DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

/** Reads a scalar between quotes. */
export function scanQuoted(cursor: Cursor, quote: "'" | '"'): string {
  const start = cursor.line
  cursor.skip()
  let value = ''
  for (;;) {
    if (cursor.atIndicator('---') || cursor.atIndicator('...')) {
      cursor.fail('found unexpected document indicator in a quoted scalar', start)
    }
    if (cursor.peek() === '') cursor.fail('found unexpected end of stream in a quoted scalar', start)
    let isContinued = false
    while (!isBlankOrEnd(cursor.peek()) && !isContinued) {
      if (quote === "'" && cursor.peek() === "'" && cursor.peek(1) === "'") {
        value += "'"
        cursor.skip(2)
      } else if (cursor.peek() === quote) break
      else if (quote === '"' && cursor.peek() === '\\' && isBreak(cursor.peek(1))) {
        cursor.skip()
        cursor.readBreak()
        isContinued = true
      } else value += quote === '"' && cursor.peek() === '\\' ? escapedCharacter(cursor, start) : cursor.read()
    }
    if (cursor.peek() === quote) {
      cursor.skip()
      return value
    }
    value += isContinued ? continued(cursor) : foldedBreaks(cursor)
  }
}

function foldedBreaks(cursor: Cursor): string {
  const breaks = new Breaks()
  breaks.read(cursor)
  return breaks.take()
}

/** After an escaped line break, spaces are dropped and other line breaks are kept. */
function continued(cursor: Cursor): string {
  let kept = ''
  while (isBlank(cursor.peek()) || isBreak(cursor.peek())) {
    if (isBlank(cursor.peek())) cursor.skip()
    else kept += cursor.readBreak()
  }
  return kept
}

function escapedCharacter(cursor: Cursor, start: number): string {
  const letter = cursor.peek(1)
  const simple = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined
  const length = Object.hasOwn(DIGITS, letter) ? DIGITS[letter] : undefined
  if (simple === undefined && length === undefined) cursor.fail('found unknown escape character', start)
  cursor.skip(2)
  if (simple !== undefined) return simple
  const digits = Array.from({ length: length ?? 0 }, (_, ahead) => cursor.peek(ahead)).join('')
  if (!/^[0-9a-f]+$/i.test(digits) || digits.length !== length) {
    cursor.fail('did not find expected hexadecimal number', start)
  }
  const code = Number.parseInt(digits, 16)
  if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) {
    cursor.fail('found invalid Unicode character escape code', start)
  }
  cursor.skip(digits.length)
  return String.fromCodePoint(code)
}

/** Reads a literal or folded scalar. @param indent column of the collection around it, or -1 */
export function scanBlock(cursor: Cursor, parent: number): string {
  const start = cursor.line
  const isLiteral = cursor.read() === '|'
  const { chomping, increment } = blockHeader(cursor, start)
  const place = { indent: increment === 0 ? 0 : Math.max(parent, 0) + increment, parent, start }
  let { breaks, indent } = blockBreaks(cursor, place)
  let value = ''
  let lastBreak = ''
  let wasIndented = false
  while (cursor.column === indent && cursor.peek() !== '') {
    const isIndented = isBlank(cursor.peek())
    const isFolded = !isLiteral && !wasIndented && !isIndented && lastBreak === '\n'
    value += isFolded ? breaks || ' ' : lastBreak + breaks
    wasIndented = isIndented
    while (!isBreakOrEnd(cursor.peek())) value += cursor.read()
    lastBreak = cursor.readBreak()
    breaks = blockBreaks(cursor, { ...place, indent }).breaks
  }
  return value + (chomping === '-' ? '' : lastBreak) + (chomping === '+' ? breaks : '')
}

/** Reads the characters after `|` or `>`. */
function blockHeader(cursor: Cursor, start: number): { readonly chomping: string; readonly increment: number } {
  let chomping = ''
  let increment = 0
  const readChomping = (): void => {
    if (cursor.peek() === '+' || cursor.peek() === '-') chomping = cursor.read()
  }
  readChomping()
  if (/^[0-9]$/.test(cursor.peek())) {
    increment = Number(cursor.read())
    if (increment === 0) cursor.fail('found an indentation indicator equal to 0', start)
    if (chomping === '') readChomping()
  }
  cursor.skipBlanks()
  cursor.skipComment()
  if (!isBreakOrEnd(cursor.peek())) cursor.fail('did not find expected comment or line break', start)
  cursor.readBreak()
  return { chomping, increment }
}

/** Reads empty lines, and finds out how far the scalar is indented if that is not known. */
function blockBreaks(
  cursor: Cursor,
  { indent, parent, start }: { readonly indent: number; readonly parent: number; readonly start: number },
): { breaks: string; readonly indent: number } {
  let breaks = ''
  let widest = 0
  for (;;) {
    const isBelow = (): boolean => indent === 0 || cursor.column < indent
    while (isBelow() && cursor.peek() === ' ') cursor.skip()
    widest = Math.max(widest, cursor.column)
    if (isBelow() && cursor.peek() === '\t') {
      cursor.fail('found a tab character where an indentation space is expected', start)
    }
    if (!isBreak(cursor.peek())) break
    breaks += cursor.readBreak()
  }
  return { breaks, indent: indent === 0 ? Math.max(widest, parent + 1, 1) : indent }
}
