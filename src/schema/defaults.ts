import type { SchemaNode } from './schema-node.ts'

/**
 * The value as the apiserver stores it, with the schema's defaults. A field or an entry of a map that is null counts as
 * absent: no field of ours is nullable.
 */
export function withDefaults(node: SchemaNode, value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => (node.items === undefined ? item : withDefaults(node.items, item)))
  }
  if (typeof value !== 'object' || value === null) return value
  const { additionalProperties, properties } = node
  if (additionalProperties !== undefined) {
    return mapped(given(value), (child) => withDefaults(additionalProperties, child))
  }
  if (properties === undefined) return value
  const present = given(value, properties)
  const absent = Object.entries(properties).filter(([name, child]) => !(name in present) && child.default !== undefined)
  return {
    ...mapped(present, (child, name) =>
      properties[name] === undefined ? child : withDefaults(properties[name], child),
    ),
    ...Object.fromEntries(absent.map(([name, child]) => [name, child.default])),
  }
}

/** Without nulls; `known`: but for fields that it does not have. */
function given(value: object, known?: Readonly<Record<string, unknown>>): object {
  const entries = Object.entries(value).filter(([name, child]) => child !== null || (known && !(name in known)))
  return Object.fromEntries(entries)
}

function mapped(value: object, map: (child: unknown, name: string) => unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, map(child, name)]))
}
