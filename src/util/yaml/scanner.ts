import { Cursor, isBlank, isBlankOrEnd, isBreak } from './cursor.ts'
import { scanBlock, scanPlain, scanQuoted } from './scan-scalar.ts'

/** A word of YAML, with the line it begins in, from 0. */
export type Token = { readonly line: number } & (
  | { readonly type: 'scalar'; readonly value: string; readonly isPlain: boolean }
  | { readonly type: 'anchor' | 'alias' | 'tag'; readonly value: string }
  | {
      readonly type:
        | 'document-start'
        | 'document-end'
        | 'end'
        | 'block-sequence'
        | 'block-mapping'
        | 'block-end'
        | 'block-entry'
        | 'flow-sequence'
        | 'flow-sequence-end'
        | 'flow-mapping'
        | 'flow-mapping-end'
        | 'flow-entry'
        | 'key'
        | 'value'
    }
)

/** A place where a token begins that a `:` would make the key of a mapping. */
interface SimpleKey {
  readonly isRequired: boolean
  /** Number of its token, of all tokens from the start. */
  readonly token: number
  readonly index: number
  readonly line: number
  readonly column: number
}

/** Longest key without a `?`, in characters. */
const LONGEST_SIMPLE_KEY = 1024

/** Deepest nesting; the API server refuses deeper objects long before. */
const DEEPEST = 1000

const FLOW_STARTS = { '[': 'flow-sequence', '{': 'flow-mapping' } as const
const FLOW_ENDS = { ']': 'flow-sequence-end', '}': 'flow-mapping-end' } as const

/**
 * Splits a document into tokens as go.yaml.in/yaml/v2 does, with which kubectl reads manifests: a port of its scanner,
 * and so of libyaml's. It looks no further ahead than that one, which ignores errors behind the end of a document.
 * Directives are refused: kubectl refuses them too, since it splits a stream at `---` before.
 */
export class Scanner {
  readonly cursor: Cursor
  readonly #tokens: Token[] = []
  /** Tokens that were taken. */
  #taken = 0
  readonly #indents: number[] = []
  #indent: number = -1
  /** One for the block context, and one for each flow collection around the cursor. */
  readonly #keys: (SimpleKey | undefined)[] = [undefined]
  /** Position in `#keys` by the number of the key's token. */
  readonly #keyOfToken = new Map<number, number>()
  /** Of each flow collection around the cursor, the last token in it that could be a key; at first its own. */
  readonly #lastKeys: number[] = []
  #allowsKey: boolean = true

  constructor(text: string, line: number) {
    this.cursor = new Cursor(text, line)
  }

  /** The next token, which stays. */
  peek(): Token {
    for (;;) {
      const [first] = this.#tokens
      const key = this.#keyOfToken.get(this.#taken)
      // A token that may turn out to be a key is not known before what follows it.
      if (first !== undefined && (key === undefined || !this.#isPossible(key))) return first
      this.#fetch()
    }
  }

  take(): Token {
    const token = this.peek()
    if (token.type === 'end') return token
    this.#tokens.shift()
    this.#taken += 1
    return token
  }

  get #isInFlow(): boolean {
    return this.#keys.length > 1
  }

  #push(type: Exclude<Token['type'], 'scalar' | 'anchor' | 'alias' | 'tag'>, length = 0): void {
    this.#tokens.push({ type, line: this.cursor.line })
    this.cursor.skip(length)
  }

  #fetch(): void {
    const { cursor } = this
    this.#skipToToken()
    this.#unroll(cursor.column)
    const first = cursor.peek()
    const isAlone = isBlankOrEnd(cursor.peek(1))
    if (first === '') this.#fetchEnd()
    else if (cursor.column === 0 && first === '%') cursor.fail('directives are not allowed')
    else if (cursor.atIndicator('---')) this.#fetchIndicator('document-start')
    else if (cursor.atIndicator('...')) this.#fetchIndicator('document-end')
    else if (first === '[' || first === '{') this.#fetchFlowStart(FLOW_STARTS[first])
    else if (first === ']' || first === '}') this.#fetchFlowEnd(FLOW_ENDS[first])
    else if (first === ',') this.#fetchSeparator('flow-entry', true)
    else if (first === '-' && isAlone) this.#fetchBlockEntry()
    else if (first === '?' && (this.#isInFlow || isAlone)) this.#fetchKey()
    else if (first === ':' && (this.#isInFlow || isAlone)) this.#fetchValue()
    else if (first === '*' || first === '&') this.#fetchAnchor(first === '*' ? 'alias' : 'anchor')
    else if (first === '!') this.#fetchTag()
    else if ((first === '|' || first === '>') && !this.#isInFlow) this.#fetchBlockScalar()
    else if (first === "'" || first === '"') this.#fetchQuoted(first)
    else if (this.#beginsPlain(first, cursor.peek(1))) this.#fetchPlain()
    else cursor.fail('found character that cannot start any token')
  }

  #beginsPlain(first: string, second: string): boolean {
    if (first === '-') return !isBlank(second)
    if (first === '?' || first === ':') return !this.#isInFlow && !isBlankOrEnd(second)
    return !(isBlankOrEnd(first) || ',[]{}#&*!|>\'"%@`'.includes(first))
  }

  #skipToToken(): void {
    const { cursor } = this
    for (;;) {
      while (cursor.peek() === ' ' || ((this.#isInFlow || !this.#allowsKey) && cursor.peek() === '\t')) cursor.skip()
      cursor.skipComment()
      if (!isBreak(cursor.peek())) return
      cursor.readBreak()
      if (!this.#isInFlow) this.#allowsKey = true
    }
  }

  #isPossible(position: number): boolean {
    const key = this.#keys[position]
    if (key === undefined) return false
    const { cursor } = this
    if (key.line >= cursor.line && key.index + LONGEST_SIMPLE_KEY >= cursor.index) return true
    if (key.isRequired) cursor.fail("could not find expected ':'", key.line)
    this.#keys[position] = undefined
    return false
  }

  #saveKey(): void {
    if (!this.#allowsKey) return
    const { index, line, column } = this.cursor
    const isRequired = !this.#isInFlow && this.#indent === column
    this.#removeKey()
    const token = this.#taken + this.#tokens.length
    this.#keys[this.#keys.length - 1] = { isRequired, token, index, line, column }
    this.#keyOfToken.set(token, this.#keys.length - 1)
    if (this.#isInFlow) this.#lastKeys[this.#lastKeys.length - 1] = token
  }

  #removeKey(): void {
    const key = this.#keys.at(-1)
    if (key === undefined) return
    if (key.isRequired) this.cursor.fail("could not find expected ':'", key.line)
    this.#keys[this.#keys.length - 1] = undefined
    this.#keyOfToken.delete(key.token)
  }

  /** @param token number of the token before which the collection begins; default: the next */
  #roll(type: 'block-sequence' | 'block-mapping', column: number, token = this.#taken + this.#tokens.length): void {
    if (this.#isInFlow || this.#indent >= column) return
    this.#indents.push(this.#indent)
    this.#indent = column
    if (this.#indents.length > DEEPEST) this.cursor.fail(`exceeded max depth of ${DEEPEST}`)
    this.#insert(token, { type, line: this.cursor.line })
  }

  /** Puts a token before the one with that number, or behind all others where that was taken already. */
  #insert(number: number, token: Token): void {
    const position = number - this.#taken
    this.#tokens.splice(position < 0 ? this.#tokens.length : position, 0, token)
  }

  #unroll(column: number): void {
    if (this.#isInFlow) return
    while (this.#indent > column) {
      this.#push('block-end')
      this.#indent = this.#indents.pop() ?? -1
    }
  }

  #fetchEnd(): void {
    this.#unroll(-1)
    this.#removeKey()
    this.#allowsKey = false
    this.#push('end')
  }

  #fetchIndicator(type: 'document-start' | 'document-end'): void {
    this.#unroll(-1)
    this.#removeKey()
    this.#allowsKey = false
    this.#push(type, 3)
  }

  #fetchFlowStart(type: 'flow-sequence' | 'flow-mapping'): void {
    this.#saveKey()
    this.#lastKeys.push(this.#taken + this.#tokens.length)
    this.#keys.push(undefined)
    if (this.#keys.length > DEEPEST) this.cursor.fail(`exceeded max depth of ${DEEPEST}`)
    this.#allowsKey = true
    this.#push(type, 1)
  }

  #fetchFlowEnd(type: 'flow-sequence-end' | 'flow-mapping-end'): void {
    this.#removeKey()
    if (this.#isInFlow) this.#keys.pop()
    // As go.yaml.in/yaml/v2 does: an empty collection is no longer taken for a key.
    this.#keyOfToken.delete(this.#lastKeys.pop() ?? -1)
    this.#allowsKey = false
    this.#push(type, 1)
  }

  #fetchSeparator(type: 'flow-entry' | 'block-entry' | 'key', allowsKey: boolean): void {
    this.#removeKey()
    this.#allowsKey = allowsKey
    this.#push(type, 1)
  }

  #fetchBlockEntry(): void {
    if (!this.#isInFlow) {
      if (!this.#allowsKey) this.cursor.fail('block sequence entries are not allowed in this context')
      this.#roll('block-sequence', this.cursor.column)
    }
    this.#fetchSeparator('block-entry', true)
  }

  #fetchKey(): void {
    if (!this.#isInFlow) {
      if (!this.#allowsKey) this.cursor.fail('mapping keys are not allowed in this context')
      this.#roll('block-mapping', this.cursor.column)
    }
    this.#fetchSeparator('key', !this.#isInFlow)
  }

  #fetchValue(): void {
    const position = this.#keys.length - 1
    const key = this.#keys[position]
    if (key !== undefined && this.#isPossible(position)) {
      this.#insert(key.token, { type: 'key', line: key.line })
      this.#roll('block-mapping', key.column, key.token)
      this.#keys[position] = undefined
      this.#keyOfToken.delete(key.token)
      this.#allowsKey = false
    } else {
      if (!this.#isInFlow) {
        if (!this.#allowsKey) this.cursor.fail('mapping values are not allowed in this context')
        this.#roll('block-mapping', this.cursor.column)
      }
      this.#allowsKey = !this.#isInFlow
    }
    this.#push('value', 1)
  }

  #fetchAnchor(type: 'anchor' | 'alias'): void {
    this.#saveKey()
    this.#allowsKey = false
    const { cursor } = this
    const { line } = cursor
    cursor.skip()
    let value = ''
    while (isWord(cursor.peek())) value += cursor.read()
    if (value === '' || !(isBlankOrEnd(cursor.peek()) || '?:,]}%@`'.includes(cursor.peek()))) {
      cursor.fail(`did not find expected alphabetic or numeric character of an ${type}`, line)
    }
    this.#tokens.push({ type, value, line })
  }

  #fetchTag(): void {
    this.#saveKey()
    this.#allowsKey = false
    const { line } = this.cursor
    this.#tokens.push({ type: 'tag', value: scanTag(this.cursor), line })
  }

  #fetchBlockScalar(): void {
    this.#removeKey()
    this.#allowsKey = true
    const { line } = this.cursor
    this.#tokens.push({ type: 'scalar', value: scanBlock(this.cursor, this.#indent), isPlain: false, line })
  }

  #fetchQuoted(quote: "'" | '"'): void {
    this.#saveKey()
    this.#allowsKey = false
    const { line } = this.cursor
    this.#tokens.push({ type: 'scalar', value: scanQuoted(this.cursor, quote), isPlain: false, line })
  }

  #fetchPlain(): void {
    this.#saveKey()
    this.#allowsKey = false
    const { line } = this.cursor
    const { value, endsAtBreak } = scanPlain(this.cursor, { indent: this.#indent, isInFlow: this.#isInFlow })
    this.#tokens.push({ type: 'scalar', value, isPlain: true, line })
    if (endsAtBreak) this.#allowsKey = true
  }
}

function isWord(character: string): boolean {
  return /^[\w-]$/.test(character)
}

/** What `!!` stands for. */
const STANDARD = 'tag:yaml.org,2002:'

/** Reads a tag, in its long form. */
function scanTag(cursor: Cursor): string {
  const { line } = cursor
  const isVerbatim = cursor.peek(1) === '<'
  cursor.skip(isVerbatim ? 2 : 1)
  let text = ''
  while (cursor.peek() !== '' && /^[\w;/?:@&=+$,.!~*'()[\]-]$/.test(cursor.peek())) text += cursor.read()
  if (cursor.peek() === '%') cursor.fail('escaped characters in tags are not supported', line)
  if (isVerbatim) {
    if (text === '' || cursor.peek() !== '>') cursor.fail("did not find the expected tag and '>'", line)
    cursor.skip()
  }
  if (!isBlankOrEnd(cursor.peek())) cursor.fail('did not find expected whitespace or line break after a tag', line)
  if (isVerbatim) return text
  const [, handle, suffix = ''] = /^([\w-]*)!(.*)$/.exec(text) ?? []
  if (handle === undefined) return `!${text}`
  if (handle !== '') cursor.fail('found undefined tag handle', line)
  if (suffix === '') cursor.fail('did not find expected tag URI', line)
  return STANDARD + suffix
}
