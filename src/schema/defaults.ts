import type { SchemaNode } from './schema-node.ts'

/** The value as the apiserver stores it, with the schema's defaults. */
export function withDefaults(node: SchemaNode, value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => (node.items === undefined ? item : withDefaults(node.items, item)))
  }
  if (typeof value !== 'object' || value === null) return value
  const { additionalProperties, properties } = node
  if (additionalProperties !== undefined) return mapped(value, (child) => withDefaults(additionalProperties, child))
  if (properties === undefined) return value
  const absent = Object.entries(properties).filter(([name, child]) => !(name in value) && child.default !== undefined)
  return {
    ...mapped(value, (child, name) => (properties[name] === undefined ? child : withDefaults(properties[name], child))),
    ...Object.fromEntries(absent.map(([name, child]) => [name, child.default])),
  }
}

function mapped(value: object, map: (child: unknown, name: string) => unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, map(child, name)]))
}
