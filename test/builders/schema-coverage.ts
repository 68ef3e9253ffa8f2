import type { SchemaNode } from '../../src/schema/schema-node.ts'
import { childrenOf } from './schema-rules.ts'

/** Counts how often each optional field of a schema was present and absent, and each enum value and boolean. */
export class SchemaCoverage {
  readonly #counts = new Map<string, number>()
  readonly #schema: SchemaNode

  constructor(schema: SchemaNode) {
    this.#schema = schema
    this.#expect(schema, 'spec')
  }

  count(value: unknown): void {
    this.#visit(this.#schema, value, 'spec')
  }

  /** What never occurred. */
  missing(): readonly string[] {
    return [...this.#counts].filter(([, count]) => count === 0).map(([what]) => what)
  }

  /** All figures in one line. */
  summary(): string {
    return [...this.#counts].map(([what, count]) => `${what} ${count}`).join(', ')
  }

  #expect(node: SchemaNode, path: string): void {
    for (const word of wordsOf(node)) this.#counts.set(`${path}=${word}`, 0)
    for (const [name, child] of Object.entries(node.properties ?? {})) {
      if (!node.required?.includes(name)) {
        this.#counts.set(`${path}.${name}`, 0)
        this.#counts.set(`no ${path}.${name}`, 0)
      }
      this.#expect(child, `${path}.${name}`)
    }
    if (node.items !== undefined) this.#expect(node.items, `${path}[]`)
    if (node.additionalProperties !== undefined) this.#expect(node.additionalProperties, `${path}{}`)
  }

  #visit(node: SchemaNode, value: unknown, path: string): void {
    const word = typeof value === 'object' ? undefined : String(value)
    if (word !== undefined && wordsOf(node).includes(word)) this.#add(`${path}=${word}`)
    const given = typeof value === 'object' && value !== null ? Object.keys(value) : []
    for (const name of Object.keys(node.properties ?? {})) {
      if (node.required?.includes(name)) continue
      this.#add(given.includes(name) ? `${path}.${name}` : `no ${path}.${name}`)
    }
    for (const [child, below, at] of childrenOf(node, value, path)) this.#visit(child, below, at)
  }

  #add(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
  }
}

/** The possible values, if they are few. */
function wordsOf(node: SchemaNode): readonly string[] {
  return node.type === 'boolean' ? ['true', 'false'] : (node.enum ?? []).map(String)
}
