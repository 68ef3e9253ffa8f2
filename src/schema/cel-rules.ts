import { Environment } from '@marcbachmann/cel-js'
import ipaddr from 'ipaddr.js'
import { celName, type Rule } from './rules.ts'
import type { SchemaNode } from './schema-node.ts'

/**
 * The CEL rules of a schema, evaluated as the apiserver does. Its functions about addresses work on texts in canonical
 * form here: the rules only compare them with texts and with each other.
 */

/** A rule that a value breaks. */
export interface BrokenRule {
  /** `spec.rules[0].cidr` */
  readonly path: string
  readonly message: string
}

type Value = Readonly<Record<string, unknown>>

const environment = new Environment({ unlistedVariablesAreDyn: true })
  .registerFunction('list.sum(): int', (numbers: readonly bigint[]) => numbers.reduce((sum, each) => sum + each, 0n))
  .registerFunction('isIP(string): bool', (text: string) => canonicalIP(text) !== undefined)
  .registerFunction('ip(string): string', (text: string) => canonicalIP(text) ?? text)
  .registerFunction('isCIDR(string): bool', (text: string) => canonicalCIDR(text) !== undefined)
  .registerFunction('cidr(string): string', (text: string) => canonicalCIDR(text) ?? text)
  .registerFunction('string.masked(): string', (text: string) => masked(text))

const compiled = new Map<string, (variables: Record<string, unknown>) => unknown>()

/** Whether a rule holds for these variables, as `celValue` makes them. */
export function holds(rule: string, variables: Readonly<Record<string, unknown>>): boolean {
  const run = compiled.get(rule) ?? environment.parse(rule)
  compiled.set(rule, run)
  return run({ ...variables }) === true
}

/**
 * Every rule that `value` or a part of it breaks.
 * @param old the value before an edit, for rules about a change; undefined: there was none, or it is not known
 */
export function brokenRules(node: SchemaNode, value: unknown, path: string, old?: unknown): readonly BrokenRule[] {
  const own = (node['x-kubernetes-validations'] ?? []).filter((rule) => !keeps(rule, node, value, old))
  return [
    ...own.map(({ fieldPath = '', message }) => ({ path: `${path}${fieldPath}`, message })),
    ...childrenOf(node, value, old).flatMap(([child, part, name, before]) => {
      return brokenRules(child, part, `${path}${name}`, before)
    }),
  ]
}

function keeps({ rule }: Rule, node: SchemaNode, value: unknown, old: unknown): boolean {
  const self = celValue(node, value)
  if (!ABOUT_CHANGE.test(rule)) return holds(rule, { self })
  return old === undefined || holds(rule, { self, oldSelf: celValue(node, old) })
}

const ABOUT_CHANGE = /\boldSelf\b/

type Child = readonly [node: SchemaNode, value: unknown, name: string, old: unknown]

/** Items of lists have no former value: only names tell which was which. */
function childrenOf(
  { items, additionalProperties, properties = {} }: SchemaNode,
  value: unknown,
  old: unknown,
): Child[] {
  if (Array.isArray(value)) {
    return items === undefined ? [] : value.map((item, index) => [items, item, `[${index}]`, undefined])
  }
  if (typeof value !== 'object' || value === null) return []
  const former = typeof old === 'object' && old !== null ? (old as Value) : {}
  return Object.entries(value).flatMap(([name, part]): Child[] => {
    const node = additionalProperties ?? properties[name]
    return node === undefined ? [] : [[node, part, `.${name}`, former[name]]]
  })
}

/** The value as the apiserver's CEL sees it: integers, times, and names that are not CEL keywords. */
export function celValue(node: SchemaNode, value: unknown): unknown {
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

/** An address in canonical form; undefined if the text is none. */
function canonicalIP(text: string): string | undefined {
  if (/^\d/.test(text) && !text.includes(':')) {
    return /^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/.test(text) && ipaddr.IPv4.isValid(text) ? text : undefined
  }
  if (!ipaddr.IPv6.isValid(text) || /[%.]/.test(text)) return undefined
  return ipaddr.IPv6.parse(text).toRFC5952String()
}

function canonicalCIDR(text: string): string | undefined {
  const [, address = '', length = ''] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? []
  const canonical = canonicalIP(address)
  if (canonical === undefined || Number(length) > (canonical.includes(':') ? 128 : 32)) return undefined
  return `${canonical}/${length}`
}

function masked(text: string): string {
  const network = text.includes(':')
    ? ipaddr.IPv6.networkAddressFromCIDR(text)
    : ipaddr.IPv4.networkAddressFromCIDR(text)
  return canonicalCIDR(`${network.toString()}/${text.slice(text.indexOf('/') + 1)}`) ?? text
}
