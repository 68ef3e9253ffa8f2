import fc, { type Arbitrary } from 'fast-check'
import type { SchemaNode } from '../../src/schema/schema-node.ts'
import { keepsRules } from './schema-rules.ts'

export type Spec = Readonly<Record<string, unknown>>

/**
 * Values for places of a schema (`spec.acl[]`) where its constraints do not suffice: mainly names of existing objects.
 */
export type Places = Readonly<Record<string, Arbitrary<unknown>>>

/** Maximum number of entries of lists and maps beyond the schema's minimum. */
const MORE = 3
/** Texts with limits up to this length are also tried at their limit. */
const LONG = 4096

/** Any spec that satisfies the schema and its rules. */
export function specsFrom(node: SchemaNode, places: Places): Arbitrary<Spec> {
  return arbitraryOf(node, places, 'spec') as Arbitrary<Spec>
}

/** Paths of the schema, in the form of `Places`. */
export function pathsOf(node: SchemaNode, path = 'spec'): readonly string[] {
  const below = Object.entries(node.properties ?? {}).flatMap(([name, child]) => pathsOf(child, `${path}.${name}`))
  const items = node.items === undefined ? [] : pathsOf(node.items, `${path}[]`)
  const values = node.additionalProperties === undefined ? [] : pathsOf(node.additionalProperties, `${path}{}`)
  return [path, ...below, ...items, ...values]
}

function arbitraryOf(node: SchemaNode, places: Places, path: string): Arbitrary<unknown> {
  const value = places[path] ?? ofType(node, places, path)
  return node['x-kubernetes-validations'] === undefined ? value : value.filter((each) => keepsRules(node, each, path))
}

function ofType(node: SchemaNode, places: Places, path: string): Arbitrary<unknown> {
  if (node.enum !== undefined) return fc.constantFrom(...node.enum)
  switch (node.type) {
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: node.minimum ?? -1000, max: node.maximum ?? 1000 })
    case 'string':
      return text(node)
    case 'array':
      return list(node, places, path)
    default:
      return node.properties === undefined ? map(node, places, path) : record(node, places, path)
  }
}

/** An optional field is present half of the time, so that rules which count fields are satisfied often enough. */
function record(node: SchemaNode, places: Places, path: string): Arbitrary<unknown> {
  const fields = Object.entries(node.properties ?? {}).map(([name, child]) => {
    const value = arbitraryOf(child, places, `${path}.${name}`)
    const field = node.required?.includes(name) ? value : fc.option(value, { nil: undefined, freq: 2 })
    return field.map((found) => [name, found] as const)
  })
  return fc.tuple(...fields).map((entries) => Object.fromEntries(entries.filter(([, found]) => found !== undefined)))
}

function map(node: SchemaNode, places: Places, path: string): Arbitrary<unknown> {
  const { additionalProperties, minProperties = 0, maxProperties = MORE } = node
  if (additionalProperties === undefined) return fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue())
  return fc.dictionary(fc.string({ minLength: 1 }), arbitraryOf(additionalProperties, places, `${path}{}`), {
    minKeys: minProperties,
    maxKeys: Math.min(maxProperties, minProperties + MORE),
  })
}

function list(node: SchemaNode, places: Places, path: string): Arbitrary<unknown> {
  const { items, minItems = 0, maxItems = MORE } = node
  if (items === undefined) return fc.constant([])
  const length = { minLength: minItems, maxLength: Math.min(maxItems, minItems + MORE) }
  const item = arbitraryOf(items, places, `${path}[]`)
  const keys = node['x-kubernetes-list-map-keys']
  switch (node['x-kubernetes-list-type']) {
    case 'map':
      return fc.uniqueArray(item, {
        ...length,
        selector: (each) => JSON.stringify(keys?.map((key) => (each as Spec)[key])),
      })
    case 'set':
      return fc.uniqueArray(item, { ...length, selector: (each) => JSON.stringify(each) })
    default:
      return fc.array(item, length)
  }
}

function text(node: SchemaNode): Arbitrary<unknown> {
  const { minLength = 0, maxLength = LONG + 1, pattern, format } = node
  if (node['x-kubernetes-validations']?.some(({ rule }) => rule.startsWith('isCIDR(self) '))) return cidr
  if (format === 'date-time') return moment(1971, 2099)
  if (pattern !== undefined) {
    return fc.stringMatching(new RegExp(pattern)).filter(({ length }) => length >= minLength && length <= maxLength)
  }
  const least = Math.max(minLength, 0)
  const short = { minLength: least, maxLength: Math.min(maxLength, least + 12) }
  const any = fc.oneof(fc.string(short), fc.string({ ...short, unit: 'binary' }))
  if (maxLength > LONG) return any
  const full = fc.string({ minLength: maxLength, maxLength })
  return fc.oneof({ weight: 9, arbitrary: any }, { weight: 1, arbitrary: full })
}

/** An RFC 3339 time between the two years, in any zone, with and without fractions. */
export function moment(from: number, to: number): Arbitrary<string> {
  return fc
    .tuple(
      fc.integer({ min: Date.UTC(from, 0), max: Date.UTC(to, 0) }),
      fc.constantFrom('Z', '+00:00', '+05:30', '-11:00'),
      fc.boolean(),
    )
    .map(([ms, zone, fraction]) => new Date(ms).toISOString().replace(fraction ? 'Z' : /\.\d+Z/, zone))
}

/** Canonical ranges. */
const cidr: Arbitrary<string> = fc.oneof(
  fc.tuple(fc.nat(), fc.integer({ min: 0, max: 32 })).map(([seed, prefix]) => ipv4(seed, prefix)),
  fc
    .tuple(fc.integer({ min: 1, max: 0xffff }), fc.constantFrom('::/32', ':40::/48', '::7/128'))
    .map(([group, rest]) => {
      return `2001:${group.toString(16)}${rest}`
    }),
)

function ipv4(seed: number, prefix: number): string {
  const mask = prefix === 0 ? 0 : (0xffffffff << (32 - prefix)) >>> 0
  const address = (seed * 2 + 1) & mask
  return `${[24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')}/${prefix}`
}
