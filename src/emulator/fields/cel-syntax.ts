import { invalid } from '../values/request-error.ts'
import { type Reader, reader } from './field.ts'

/** Why a text is no CEL expression, and where. */
export interface CelProblem {
  readonly summary: string
  /** Counted in UTF-16 units from 0. */
  readonly position: number
}

/**
 * Why `text` is no CEL expression by the grammar of the language; undefined if it is one. The meaning of names is not
 * checked. As in cel-go, macros are part of the syntax, and numbers must fit their types.
 */
export function celProblem(text: string): CelProblem | undefined {
  try {
    new Parser(text).whole()
    return undefined
  } catch (error) {
    if (error instanceof SyntaxProblem) return { summary: error.message, position: error.position }
    throw error
  }
}

class SyntaxProblem extends Error {
  override readonly name = 'SyntaxProblem'
  readonly code = 'CEL_SYNTAX'
  readonly position: number

  constructor(summary: string, position: number) {
    super(summary)
    this.position = position
  }
}

interface Token {
  readonly type: 'name' | 'escaped' | 'number' | 'text' | 'sign' | 'end'
  readonly text: string
  readonly at: number
}

/** What an expression is, as far as the grammar asks: only a selection can be tested, only a name declared. */
type Form = 'name' | 'selection' | 'other'

/** As deep as cel-go goes. */
const DEEPEST = 250
const KEYWORDS: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null'])
const RESERVED: ReadonlySet<string> = new Set([
  ...['as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import'],
  ...['let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
])
/** Macros of a list or map, with the numbers of arguments with which they are macros: the first is a name. */
const COMPREHENSIONS: ReadonlyMap<string, readonly number[]> = new Map([
  ['all', [2]],
  ['exists', [2]],
  ['exists_one', [2]],
  ['map', [2, 3]],
  ['filter', [2]],
])
const RELATIONS = ['<', '<=', '>=', '>', '==', '!=', 'in']

const ESCAPE = String.raw`\\(?:[abfnrtv"'\\?${'`'}]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})`
const quoted = (quote: string): string =>
  `${quote}{3}(?:${ESCAPE}|[^\\\\])*?${quote}{3}|${quote}(?:${ESCAPE}|[^\\\\\\n\\r${quote}])*${quote}`
const raw = (quote: string): string => `${quote}{3}[^]*?${quote}{3}|${quote}[^\\n\\r${quote}]*${quote}`
const TEXT = `[bB]?(?:[rR](?:${raw('"')}|${raw("'")})|${quoted('"')}|${quoted("'")})`
const NUMBER = String.raw`(?:\d+\.\d+|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|(?:0x[0-9a-fA-F]+|\d+)[uU]?`
const TOKEN = new RegExp(
  [
    String.raw`(?<space>(?:[\t\n\f\r ]|//[^\n]*)+)`,
    `(?<text>${TEXT})`,
    `(?<number>${NUMBER})`,
    '(?<name>[_a-zA-Z][_a-zA-Z0-9]*)',
    '(?<escaped>`[-_.a-zA-Z0-9/ ]+`)',
    String.raw`(?<sign>&&|\|\||[<>=!]=|[-+*/%<>!?:.,()[\]{}])`,
  ].join('|'),
  'y',
)

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    const groups = TOKEN.exec(text)?.groups
    if (groups === undefined) throw new SyntaxProblem(`unexpected ${JSON.stringify(text.charAt(at))}`, at)
    for (const type of ['text', 'number', 'name', 'escaped', 'sign'] as const) {
      const found = groups[type]
      if (found !== undefined) tokens.push({ type, text: found, at })
    }
  }
  return [...tokens, { type: 'end', text: '', at: text.length }]
}

class Parser {
  readonly #tokens: readonly Token[]
  #next = 0
  #depth = 0

  constructor(text: string) {
    this.#tokens = tokensOf(text)
  }

  whole(): void {
    this.#expression()
    if (this.#token.type !== 'end') throw this.#unexpected()
  }

  get #token(): Token {
    const token = this.#tokens[this.#next]
    if (token === undefined) throw new Error('the last token was read')
    return token
  }

  /** Reads one of these signs or keywords, if it is next. */
  #take(...texts: readonly string[]): string | undefined {
    const { type, text } = this.#token
    if ((type !== 'sign' && text !== 'in') || !texts.includes(text)) return undefined
    this.#next++
    return text
  }

  #expect(text: string): void {
    if (this.#take(text) === undefined) throw this.#unexpected()
  }

  #unexpected(): SyntaxProblem {
    const { type, text, at } = this.#token
    return new SyntaxProblem(type === 'end' ? 'unexpected end' : `unexpected ${JSON.stringify(text)}`, at)
  }

  #expression(): Form {
    if (++this.#depth > DEEPEST) throw new SyntaxProblem(`deeper than ${DEEPEST} levels`, this.#token.at)
    let form = this.#chain(0)
    if (this.#take('?') !== undefined) {
      this.#chain(0)
      this.#expect(':')
      this.#expression()
      form = 'other'
    }
    this.#depth--
    return form
  }

  /** Operators of one level of precedence, the lowest first. */
  #chain(level: number): Form {
    const operators = [['||'], ['&&'], RELATIONS, ['+', '-'], ['*', '/', '%']][level]
    if (operators === undefined) return this.#unary()
    let form = this.#chain(level + 1)
    while (this.#take(...operators) !== undefined) {
      this.#chain(level + 1)
      form = 'other'
    }
    return form
  }

  #unary(): Form {
    const sign = this.#take('!', '-')
    if (sign === undefined) return this.#member()
    let count = 1
    while (this.#take(sign) !== undefined) count++
    this.#member(sign === '-' && count % 2 === 1)
    return 'other'
  }

  #member(isNegative = false): Form {
    let { form, isTypeName } = this.#primary(isNegative)
    for (;;) {
      if (this.#take('.') !== undefined) {
        const name = this.#selector()
        const { type } = name
        if (type === 'name' && this.#take('(') !== undefined) {
          this.#call(name, true)
          ;[form, isTypeName] = ['other', false]
        } else {
          ;[form, isTypeName] = ['selection', isTypeName && type === 'name']
        }
      } else if (this.#take('[') !== undefined) {
        this.#expression()
        this.#expect(']')
        ;[form, isTypeName] = ['other', false]
      } else if (isTypeName && this.#take('{') !== undefined) {
        this.#entries('}', () => {
          this.#selector()
          this.#expect(':')
          this.#expression()
        })
        ;[form, isTypeName] = ['other', false]
      } else {
        return form
      }
    }
  }

  #primary(isNegative: boolean): { form: Form; isTypeName: boolean } {
    const isRooted = this.#take('.') !== undefined
    const token = this.#token
    const { type, text, at } = token
    if (type === 'name' && !KEYWORDS.has(text)) {
      this.#next++
      if (this.#take('(') !== undefined) {
        this.#call(token, false)
        return { form: 'other', isTypeName: false }
      }
      if (RESERVED.has(text)) throw new SyntaxProblem(`${text} is a reserved word`, at)
      return { form: isRooted ? 'other' : 'name', isTypeName: true }
    }
    if (isRooted) throw this.#unexpected()
    if (type === 'number') checkRange(token, isNegative)
    if (type === 'text') checkCharacters(token)
    if (type === 'text' || type === 'number' || (type === 'name' && text !== 'in')) this.#next++
    else if (this.#take('(') !== undefined) {
      const form = this.#expression()
      this.#expect(')')
      return { form, isTypeName: false }
    } else if (this.#take('[') !== undefined) this.#entries(']', () => this.#expression())
    else if (this.#take('{') !== undefined) {
      this.#entries('}', () => {
        this.#expression()
        this.#expect(':')
        this.#expression()
      })
    } else throw this.#unexpected()
    return { form: 'other', isTypeName: false }
  }

  /** Entries up to `end`, with an optional comma after the last. */
  #entries(end: string, entry: () => void): void {
    while (this.#take(end) === undefined) {
      if (this.#take(',') === undefined) {
        entry()
        if (this.#take(',') !== undefined) continue
      }
      this.#expect(end)
      return
    }
  }

  #selector(): Token {
    const token = this.#token
    if (token.type !== 'escaped' && (token.type !== 'name' || KEYWORDS.has(token.text))) throw this.#unexpected()
    this.#next++
    return token
  }

  /** Arguments and the closing parenthesis. */
  #call({ text, at }: Token, isMember: boolean): void {
    const forms: Form[] = []
    if (this.#take(')') === undefined) {
      do forms.push(this.#expression())
      while (this.#take(',') !== undefined)
      this.#expect(')')
    }
    const [first] = forms
    if (isMember && COMPREHENSIONS.get(text)?.includes(forms.length) === true && first !== 'name') {
      throw new SyntaxProblem(`the first argument of ${text} is not a simple name`, at)
    }
    if (!isMember && text === 'has' && forms.length === 1 && first !== 'selection') {
      throw new SyntaxProblem('the argument of has is not a field selection', at)
    }
  }
}

/** Escapes of a text name Unicode characters; those of bytes cannot. */
function checkCharacters({ text, at }: Token): void {
  const [prefix = ''] = /^[a-zA-Z]*/.exec(text) ?? []
  if (/r/i.test(prefix)) return
  for (const { 0: found, 1: digits, index } of text.matchAll(/\\(?:[uU]([0-9a-fA-F]+)|.)/gs)) {
    if (digits === undefined) continue
    const width = found.startsWith('\\u') ? 4 : 8
    const code = Number.parseInt(digits.slice(0, width), 16)
    if (prefix !== '' || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      throw new SyntaxProblem(`${found.slice(0, 2 + width)} is no character here`, at + index)
    }
  }
}

function checkRange({ text, at }: Token, isNegative: boolean): void {
  if (!/^(?:0x[0-9a-fA-F]+|\d+)[uU]?$/.test(text)) return
  const isUnsigned = /u$/i.test(text)
  const value = BigInt(text.replace(/u$/i, ''))
  const most = isUnsigned ? 2n ** 64n - 1n : 2n ** 63n - (isNegative ? 0n : 1n)
  if (value > most) throw new SyntaxProblem(`${text} is out of range`, at)
}

/** A CEL expression: it must parse; the meaning of its names is not checked (`api-decisions.md § Values`). */
export const celExpression: Reader<string> = reader(
  { type: 'string', description: 'A CEL expression.' },
  (value, at) => {
    if (typeof value !== 'string') throw invalid(at, 'must be a string')
    const problem = celProblem(value)
    if (problem !== undefined) {
      throw invalid(at, `not a CEL expression: ${problem.summary} at position ${problem.position}`)
    }
    return value
  },
)
