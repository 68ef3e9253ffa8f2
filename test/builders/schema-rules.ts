import { Environment } from '@marcbachmann/cel-js'
import { readsOf } from '../../scripts/crds/cel.ts'
import type { SchemaNode } from '../../scripts/crds/schema-node.ts'
import { celName, type Rule } from '../../src/schema/rules.ts'

type Value = Readonly<Record<string, unknown>>
type Child = readonly [node: SchemaNode, value: unknown, path: string]

const environment = new Environment({ unlistedVariablesAreDyn: true }).registerFunction(
  'list.sum(): int',
  (numbers: readonly bigint[]) => numbers.reduce((sum, each) => sum + each, 0n),
)
const compiled = new Map<string, (variables: Record<string, unknown>) => unknown>()
const updates = new Map<string, boolean>()

/**
 * Functions of the apiserver that the evaluator lacks. Values under such rules are generated so that they satisfy them.
 */
const BEYOND = /\b(isCIDR|cidr|isIP|ip)\(/

/** Whether a value satisfies the rules of its own schema, except transition rules. */
export function keepsRules(node: SchemaNode, value: unknown, path: string): boolean {
  return rulesOf(node)
    .filter(({ rule }) => !aboutUpdate(rule, node, path))
    .every(({ rule }) => evaluate(rule, { self: celValue(node, value) }))
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
    if (evaluate(rule, variables)) continue
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

/** The value as the apiserver stores it, with the schema's defaults. */
export function withDefaults(node: SchemaNode, value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((item) => (node.items === undefined ? item : withDefaults(node.items, item)))
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

function rulesOf(node: SchemaNode): readonly Rule[] {
  return (node['x-kubernetes-validations'] ?? []).filter(({ rule }) => !BEYOND.test(rule))
}

function aboutUpdate(rule: string, node: SchemaNode, path: string): boolean {
  const found = updates.get(rule) ?? readsOf(rule, node, path).usesOldSelf
  updates.set(rule, found)
  return found
}

function evaluate(rule: string, variables: Record<string, unknown>): boolean {
  const run = compiled.get(rule) ?? environment.parse(rule)
  compiled.set(rule, run)
  return run(variables) === true
}

/** The value as the apiserver's CEL sees it: integers, times, and names that are not CEL keywords. */
function celValue(node: SchemaNode, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => (node.items === undefined ? item : celValue(node.items, item)))
  if (typeof value === 'number' && node.type === 'integer') return BigInt(value)
  if (typeof value === 'string' && node.format === 'date-time') return new Date(value)
  if (typeof value !== 'object' || value === null) return value
  const { properties, additionalProperties } = node
  const entries = Object.entries(value).map(([name, child]): readonly [string, unknown] => {
    const schema = properties?.[name] ?? additionalProperties
    return [properties === undefined ? name : celName(name), schema === undefined ? child : celValue(schema, child)]
  })
  // Keys of a map may be names that have a meaning in objects.
  return properties === undefined ? new Map(entries) : Object.fromEntries(entries)
}

function mapped(value: object, map: (child: unknown, name: string) => unknown): Value {
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, map(child, name)]))
}
