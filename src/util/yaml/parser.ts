import { isBreak, YamlError } from './cursor.ts'
import { Scanner, type Token } from './scanner.ts'

/** A part of a document. Lines are counted from 0. */
export type YamlNode = ScalarNode | SequenceNode | MappingNode | AliasNode

/** A text, and what says how it is read. */
export interface ScalarNode {
  readonly kind: 'scalar'
  readonly line: number
  readonly value: string
  /** In its long form; empty: none. */
  readonly tag: string
  /** Whether its characters decide what it is: it stands without quotes. */
  readonly isPlain: boolean
}

export interface SequenceNode {
  readonly kind: 'sequence'
  readonly line: number
  readonly items: YamlNode[]
}

export interface MappingNode {
  readonly kind: 'mapping'
  readonly line: number
  readonly pairs: (readonly [key: YamlNode, value: YamlNode])[]
}

/** A reference to the node of an anchor. */
export interface AliasNode {
  readonly kind: 'alias'
  readonly line: number
  readonly target: YamlNode
}

/** The first document of a text. */
export interface ParsedDocument {
  readonly root: YamlNode
  /** Line of what follows the document, which go.yaml.in/yaml/v2 ignores; undefined: nothing but comments. */
  readonly ignoredFrom: number | undefined
}

/**
 * The first document of a text; undefined if it has none.
 *
 * @param line of the text's first character, from 0
 * @throws YamlError
 */
export function parseDocument(text: string, line: number): ParsedDocument | undefined {
  return new Parser(text, line).document()
}

const NO_PROPERTIES = { anchor: undefined, tag: '' } as const

/** Puts tokens together in the order of libyaml's grammar, with its peculiarities. */
class Parser {
  readonly #scanner: Scanner
  readonly #anchors = new Map<string, YamlNode>()

  constructor(text: string, line: number) {
    this.#scanner = new Scanner(text, line)
  }

  document(): ParsedDocument | undefined {
    const { type } = this.#scanner.peek()
    if (type === 'end') return undefined
    if (type === 'document-start') this.#scanner.take()
    const isEmpty = type === 'document-start' && this.#isNext('document-start', 'document-end', 'end')
    const root = isEmpty ? this.#empty() : this.#node(true, false)
    return { root, ignoredFrom: this.#ignoredFrom() }
  }

  #ignoredFrom(): number | undefined {
    const { type, line } = this.#scanner.peek()
    if (type === 'end') return undefined
    if (type !== 'document-end') return line
    this.#scanner.take()
    const { cursor } = this.#scanner
    for (;;) {
      cursor.skipBlanks()
      cursor.skipComment()
      if (!isBreak(cursor.peek())) break
      cursor.readBreak()
    }
    return cursor.peek() === '' ? undefined : cursor.line
  }

  #isNext(...types: readonly Token['type'][]): boolean {
    return types.includes(this.#scanner.peek().type)
  }

  #empty({ anchor, tag }: Properties = NO_PROPERTIES): ScalarNode {
    const { line } = this.#scanner.peek()
    return this.#anchored(anchor, { kind: 'scalar', line, value: '', tag, isPlain: tag === '' })
  }

  #anchored<Node extends YamlNode>(anchor: string | undefined, node: Node): Node {
    if (anchor !== undefined) this.#anchors.set(anchor, node)
    return node
  }

  /**
   * @param isBlock whether a collection in block style may stand here
   * @param isIndentless whether its entries may stand in the column of the key
   */
  #node(isBlock: boolean, isIndentless: boolean): YamlNode {
    const { line } = this.#scanner.peek()
    if (this.#isNext('alias')) return this.#alias()
    const properties = this.#properties()
    const { anchor, tag } = properties
    const token = this.#scanner.peek()
    const isCollection = isBlock || token.type.startsWith('flow-')
    if (token.type === 'scalar') {
      this.#scanner.take()
      const { value, isPlain } = token
      return this.#anchored(anchor, { kind: 'scalar', line, value, tag, isPlain: tag === '' ? isPlain : tag === '!' })
    }
    if (isIndentless && token.type === 'block-entry') {
      const node = this.#anchored<SequenceNode>(anchor, { kind: 'sequence', line, items: [] })
      this.#entries(node, ['block-entry', 'key', 'value', 'block-end'])
      return node
    }
    if (isCollection && (token.type === 'block-sequence' || token.type === 'flow-sequence')) {
      const node = this.#anchored<SequenceNode>(anchor, { kind: 'sequence', line, items: [] })
      this.#scanner.take()
      if (token.type === 'flow-sequence') this.#flowSequence(node)
      else {
        this.#entries(node, ['block-entry', 'block-end'])
        this.#expect('block-end', "did not find expected '-' indicator")
      }
      return node
    }
    if (isCollection && (token.type === 'block-mapping' || token.type === 'flow-mapping')) {
      const node = this.#anchored<MappingNode>(anchor, { kind: 'mapping', line, pairs: [] })
      this.#scanner.take()
      if (token.type === 'flow-mapping') this.#flowMapping(node)
      else this.#blockMapping(node)
      return node
    }
    if (anchor === undefined && tag === '') throw new YamlError(token.line + 1, 'did not find expected node content')
    return this.#empty(properties)
  }

  #alias(): AliasNode {
    const { line, ...token } = this.#scanner.take()
    const target = token.type === 'alias' ? this.#anchors.get(token.value) : undefined
    if (target === undefined) throw new YamlError(line + 1, 'unknown anchor referenced')
    return { kind: 'alias', line, target }
  }

  /** An anchor and a tag, in either order. */
  #properties(): Properties {
    let anchor: string | undefined
    let tag = ''
    for (let token = this.#scanner.peek(); ; token = this.#scanner.peek()) {
      if (token.type === 'anchor' && anchor === undefined) anchor = token.value
      else if (token.type === 'tag' && tag === '') tag = token.value
      else return { anchor, tag }
      this.#scanner.take()
    }
  }

  #expect(type: Token['type'], message: string): void {
    const { line } = this.#scanner.peek()
    if (!this.#isNext(type)) throw new YamlError(line + 1, message)
    this.#scanner.take()
  }

  /** The entries of a sequence in block style. @param ends what follows an entry without content */
  #entries(node: SequenceNode, ends: readonly Token['type'][]): void {
    while (this.#isNext('block-entry')) {
      this.#scanner.take()
      node.items.push(this.#isNext(...ends) ? this.#empty() : this.#node(true, false))
    }
  }

  #blockMapping(node: MappingNode): void {
    const part = (): YamlNode => {
      this.#scanner.take()
      return this.#isNext('key', 'value', 'block-end') ? this.#empty() : this.#node(true, true)
    }
    while (this.#isNext('key')) {
      const key = part()
      node.pairs.push([key, this.#isNext('value') ? part() : this.#empty()])
    }
    this.#expect('block-end', 'did not find expected key')
  }

  #flowMapping(node: MappingNode): void {
    const ends = ['flow-entry', 'flow-mapping-end'] as const
    while (!this.#isNext('flow-mapping-end')) {
      if (node.pairs.length > 0) this.#expect('flow-entry', "did not find expected ',' or '}'")
      if (this.#isNext('flow-mapping-end')) break
      if (!this.#isNext('key')) {
        node.pairs.push([this.#node(false, false), this.#empty()])
        continue
      }
      this.#scanner.take()
      const key = this.#isNext('value', ...ends) ? this.#empty() : this.#node(false, false)
      node.pairs.push([key, this.#flowValue(ends)])
    }
    this.#scanner.take()
  }

  #flowSequence(node: SequenceNode): void {
    const ends = ['flow-entry', 'flow-sequence-end'] as const
    while (!this.#isNext('flow-sequence-end')) {
      if (node.items.length > 0) this.#expect('flow-entry', "did not find expected ',' or ']'")
      if (this.#isNext('flow-sequence-end')) break
      if (!this.#isNext('key')) {
        node.items.push(this.#node(false, false))
        continue
      }
      const { line } = this.#scanner.take()
      const pair: MappingNode = { kind: 'mapping', line, pairs: [] }
      node.items.push(pair)
      const isEmpty = this.#isNext('value', ...ends)
      const key = isEmpty ? this.#empty() : this.#node(false, false)
      // As libyaml does, whose next token is lost there.
      if (isEmpty) this.#scanner.take()
      pair.pairs.push([key, this.#flowValue(ends)])
    }
    this.#scanner.take()
  }

  #flowValue(ends: readonly Token['type'][]): YamlNode {
    if (!this.#isNext('value')) return this.#empty()
    this.#scanner.take()
    return this.#isNext(...ends) ? this.#empty() : this.#node(false, false)
  }
}

interface Properties {
  readonly anchor: string | undefined
  readonly tag: string
}
