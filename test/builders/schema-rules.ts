import { readsOf } from '../../scripts/crds/cel.ts'
import { celValue, holds } from '../../src/schema/cel-rules.ts'
import type { Rule } from '../../src/schema/rules.ts'
import type { SchemaNode } from '../../src/schema/schema-node.ts'

type Value = Readonly<Record<string, unknown>>
type Child = readonly [node: SchemaNode, value: unknown, path: string]

const updates = new Map<string, boolean>()

/** Whether a value satisfies the rules of its own schema, except transition rules. */
export function keepsRules(node: SchemaNode, value: unknown, path: string): boolean {
  return rulesOf(node)
    .filter(({ rule }) => !aboutUpdate(rule, node, path))
    .every(({ rule }) => holds(rule, { self: celValue(node, value) }))
}

/** Whether a value satisfies every rule of its schema and its descendants. */
export function keepsAllRules(node: SchemaNode, value: unknown, path: string): boolean {
  return keepsRules(node, value, path) && childrenOf(node, value, path).every((child) => keepsAllRules(...child))
}

/** `after` with the immutable fields of `before`: the rules name them. */
export function withFixedFields(node: SchemaNode, before: Value, after: Value): Value {
  let result = after
  for (const { rule, fieldPath } of rulesOf(node).filter((each) => aboutUpdate(each.rule, node, 'spec'))) {
    const variables = { self: celValue(node, result), oldSelf: celValue(node, before) }
    if (holds(rule, variables)) continue
    const field = fieldPath?.slice(1) ?? ''
    const { [field]: _changed, ...rest } = result
    result = before[field] === undefined ? rest : { ...rest, [field]: before[field] }
  }
  return result
}

/** Each value below `value` that the schema describes, with its schema and path. */
export function childrenOf(node: SchemaNode, value: unknown, path: string): readonly Child[] {
  const { items, additionalProperties, properties = {} } = node
  if (Array.isArray(value)) return items === undefined ? [] : value.map((item) => [items, item, `${path}[]`])
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, child]): readonly Child[] => {
    if (additionalProperties !== undefined) return [[additionalProperties, child, `${path}{}`]]
    const found = properties[name]
    return found === undefined ? [] : [[found, child, `${path}.${name}`]]
  })
}

function rulesOf(node: SchemaNode): readonly Rule[] {
  return node['x-kubernetes-validations'] ?? []
}

function aboutUpdate(rule: string, node: SchemaNode, path: string): boolean {
  const found = updates.get(rule) ?? readsOf(rule, node, path).usesOldSelf
  updates.set(rule, found)
  return found
}
