import type { SchemaNode } from '../../../src/schema/schema-node.ts'

type Fields = Record<string, unknown>

/** The value with the defaults of its schema, as the API server stores it. */
export function withDefaults(schema: SchemaNode | undefined, value: unknown): unknown {
  if (schema === undefined) return value
  if (Array.isArray(value)) return value.map((item) => withDefaults(schema.items, item))
  if (typeof value !== 'object' || value === null) return value
  const result: Fields = { ...value }
  for (const [name, node] of Object.entries(schema.properties ?? {})) {
    if (result[name] === undefined && node.default !== undefined) result[name] = structuredClone(node.default)
    if (result[name] !== undefined) result[name] = withDefaults(node, result[name])
  }
  if (typeof schema.additionalProperties === 'object') {
    for (const [name, item] of Object.entries(value)) {
      if (schema.properties?.[name] === undefined) result[name] = withDefaults(schema.additionalProperties, item)
    }
  }
  return result
}
