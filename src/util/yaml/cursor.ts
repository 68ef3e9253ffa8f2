/** Character of the line breaks that a scalar keeps as they are, unlike all others, which it reads as `\n`. */
const KEPT_BREAKS = '\u2028\u2029'
const BREAKS = `\n\r\u0085${KEPT_BREAKS}`

/** A position in a text, which counts lines and columns as YAML 1.1 does: it has five kinds of line breaks. */
export class Cursor {
  /** Code points: columns count them, and so does the longest simple key. */
  readonly #characters: readonly string[]
  index = 0
  /** From 0. */
  line: number
  /** From 0. */
  column = 0

  /** @param line of the first character, from 0 */
  constructor(text: string, line = 0) {
    this.#characters = Array.from(text)
    this.line = line
  }

  /** The character so far ahead; empty beyond the end. */
  peek(ahead = 0): string {
    return this.#characters[this.index + ahead] ?? ''
  }

  /** Passes one character of a line, and returns it. */
  read(): string {
    const character = this.peek()
    this.index += 1
    this.column += 1
    return character
  }

  skip(count = 1): void {
    this.index += count
    this.column += count
  }

  /** Passes a line break, and returns it as a scalar reads it; empty at the end of the text. */
  readBreak(): string {
    const character = this.peek()
    if (character === '') return ''
    this.index += character === '\r' && this.peek(1) === '\n' ? 2 : 1
    this.column = 0
    this.line += 1
    return KEPT_BREAKS.includes(character) ? character : '\n'
  }

  /** Passes spaces and tabs. */
  skipBlanks(): void {
    while (isBlank(this.peek())) this.skip()
  }

  skipComment(): void {
    if (this.peek() === '#') while (!isBreakOrEnd(this.peek())) this.skip()
  }

  /** Whether a line that ends a document, or begins one, begins here. */
  atIndicator(indicator: '---' | '...'): boolean {
    return (
      this.column === 0 &&
      [...indicator].every((character, ahead) => this.peek(ahead) === character) &&
      isBlankOrEnd(this.peek(3))
    )
  }

  /** @param line of the problem, from 0; default: this one */
  fail(message: string, line = this.line): never {
    throw new YamlError(line + 1, message)
  }
}

/** Whether the character is a space or tab. */
export function isBlank(character: string): boolean {
  return character === ' ' || character === '\t'
}

/** Whether the character is a line break of YAML 1.1. */
export function isBreak(character: string): boolean {
  return character !== '' && BREAKS.includes(character)
}

/** Whether the character is a line break, or the text ends there. */
export function isBreakOrEnd(character: string): boolean {
  return character === '' || isBreak(character)
}

/** Whether the character is a space, a tab or a line break, or the text ends there. */
export function isBlankOrEnd(character: string): boolean {
  return isBlank(character) || isBreakOrEnd(character)
}

/** A text that kubectl refuses as YAML or JSON. The message says why, without the text itself. */
export class YamlError extends Error {
  override readonly name = 'YamlError'
  readonly code = 'YAML_UNREADABLE'
  /** Line of the problem, from 1, counted from the start of the text that was read. */
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}
