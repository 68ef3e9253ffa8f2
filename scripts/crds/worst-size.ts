import { isASCII } from '../../src/schema/pattern.ts'
import { byteLimitOf, exclusiveFields, keyLimitOf, mapLimitOf } from '../../src/schema/rules.ts'
import type { SchemaNode } from '../../src/schema/schema-node.ts'
import { budgetOf } from '../../src/schema/text-budget.ts'

/**
 * Maximum size of the largest legal spec as JSON. etcd accepts 1.5 MiB per object, the API a body of 1 MiB; the rest is
 * for the status, managed fields and escapes.
 */
export const MAX_SPEC_BYTES = 1_048_576

/** A place in a schema, with the size of everything it may contain over all items of the lists around it. */
interface Place {
  readonly path: string
  readonly bytes: number
}

export interface WorstSize {
  /** Infinity if something has no bound. */
  readonly bytes: number
  /** Texts, maps and so on, the largest first. */
  readonly places: readonly Place[]
  /** Places with content that the schema leaves open, which is not counted. */
  readonly opaque: readonly string[]
}

/** How many places a refusal names. */
const NAMED = 5

/**
 * A character has at most four bytes in UTF-8. Escapes (`\"`, `\u0000`) are not counted: no one writes texts full of
 * them.
 */
const BYTES_PER_CHARACTER = 4
/** A time with a fraction and an offset. */
const TIME = 40
/** Digits and sign of an int64, and of a double. */
const NUMBER = 24

/** Context from the levels above. */
interface Around {
  /** Paths of lists whose texts an object above limits together and counts. */
  readonly budgeted: ReadonlySet<string>
}

/**
 * The size in bytes of the largest value, as JSON, that a structural schema allows. Of fields that exclude each other,
 * the largest counts. Anything that no rule of a known form (`rules.ts`, `text-budget.ts`) limits counts in full.
 *
 * @example
 * ```ts
 * worstSize(toStructural(definition.spec, 'spec'), 'spec').bytes // 1_030_112
 * ```
 */
export function worstSize(node: SchemaNode, path: string): WorstSize {
  return sizeOf(node, path, { budgeted: new Set() })
}

/**
 * The problem if the largest legal value takes more than `limit` bytes, with the places that take the most; undefined
 * otherwise.
 */
export function sizeProblem(node: SchemaNode, path: string, limit: number): string | undefined {
  const { bytes, places } = worstSize(node, path)
  if (bytes <= limit) return undefined
  const largest = places.slice(0, NAMED).map((place) => `${place.path} (${amount(place.bytes)})`)
  return (
    `the largest legal value takes ${amount(bytes)} as JSON, and ${amount(limit)} may be: ` +
    `lower a maxLength, maxItems or maxProperties, most is taken by ${largest.join(', ')}`
  )
}

function amount(bytes: number): string {
  return Number.isFinite(bytes) ? `${bytes.toLocaleString('en')} bytes` : 'without bound'
}

function sizeOf(node: SchemaNode, path: string, around: Around): WorstSize {
  if (node.enum) return leaf(path, Math.max(...node.enum.map((value) => JSON.stringify(value).length)))
  switch (node.type) {
    case 'string':
      return leaf(path, 2 + textBytes(node, path, around))
    case 'integer':
    case 'number':
      return leaf(path, NUMBER)
    case 'array':
      return listSize(node, path, around)
    case 'object':
      return node.additionalProperties ? mapSize(node, path, around) : objectSize(node, path, around)
    default:
      return leaf(path, 'false'.length)
  }
}

function textBytes(node: SchemaNode, path: string, { budgeted }: Around): number {
  if (budgeted.has(path)) return 0
  if (node.format === 'date-time') return TIME
  const { maxLength = Number.POSITIVE_INFINITY, pattern } = node
  const rules = node['x-kubernetes-validations'] ?? []
  const limits = rules.flatMap((rule) => byteLimitOf(rule) ?? [])
  const narrow =
    (pattern !== undefined && isASCII(pattern)) || rules.some(({ rule }) => rule.startsWith('isCIDR(self) '))
  return Math.min(maxLength * (narrow ? 1 : BYTES_PER_CHARACTER), ...limits)
}

function listSize(node: SchemaNode, path: string, around: Around): WorstSize {
  const { items, maxItems = Number.POSITIVE_INFINITY } = node
  if (!items || maxItems === 0) return leaf(path, 2)
  return times(sizeOf(items, `${path}[]`, around), maxItems, 1, 2)
}

function mapSize(node: SchemaNode, path: string, around: Around): WorstSize {
  const { additionalProperties, maxProperties = Number.POSITIVE_INFINITY } = node
  if (!additionalProperties || maxProperties === 0) return leaf(path, 2)
  const rules = node['x-kubernetes-validations'] ?? []
  // Each character that the limit counts in a name may take four bytes.
  const limits = rules.flatMap((rule) => mapLimitOf(rule) ?? []).map((bytes) => bytes * BYTES_PER_CHARACTER)
  if (limits.length > 0) return leaf(path, 2 + Math.min(...limits))
  const keys = rules.flatMap((rule) => keyLimitOf(rule) ?? [])
  const key = Math.min(Number.POSITIVE_INFINITY, ...keys) * BYTES_PER_CHARACTER
  const value = sizeOf(additionalProperties, `${path}{}`, around)
  const named = { ...value, places: [...value.places, { path: `keys of ${path}`, bytes: key + 2 }] }
  return times({ ...named, bytes: value.bytes + key + 2 }, maxProperties, 2, 2)
}

/** `count` values, each with `more` bytes around it, in `frame` bytes. */
function times({ bytes, places, opaque }: WorstSize, count: number, more: number, frame: number): WorstSize {
  return {
    bytes: frame + count * (bytes + more),
    places: inOrder(places.map((place) => ({ ...place, bytes: place.bytes * count }))),
    opaque,
  }
}

function objectSize(node: SchemaNode, path: string, around: Around): WorstSize {
  const rules = node['x-kubernetes-validations'] ?? []
  const budgets = rules.flatMap((rule) => budgetOf(rule) ?? [])
  const budgeted = new Set([
    ...around.budgeted,
    ...budgets.flatMap(({ lists, texts }) => lists.map((list) => `${path}.${list}[].${texts}[]`)),
  ])
  const fields = new Map(
    Object.entries(node.properties ?? {}).map(([name, child]) => {
      return [name, field(name, sizeOf(child, `${path}.${name}`, { budgeted }))] as const
    }),
  )
  for (const rule of rules) keepLargest(fields, exclusiveFields(rule))
  const together = budgets.map(({ lists, texts, characters }): WorstSize => {
    const place = `${path}.${lists.join('|')}[].${texts}[]`
    return leaf(place, characters * BYTES_PER_CHARACTER)
  })
  const all = [...fields.values(), ...together]
  const isOpen = node['x-kubernetes-preserve-unknown-fields'] === true
  return {
    bytes: 2 + all.reduce((sum, { bytes }) => sum + bytes, 0),
    places: inOrder(all.flatMap(({ places }) => places)),
    opaque: [...(isOpen ? [path] : []), ...all.flatMap(({ opaque }) => opaque)],
  }
}

/** `"name":value,` */
function field(name: string, value: WorstSize): WorstSize {
  return { ...value, bytes: name.length + 4 + value.bytes }
}

/** Removes all fields of a group but the largest. */
function keepLargest(fields: Map<string, WorstSize>, group: readonly string[]): void {
  const bytesOf = (name: string): number => fields.get(name)?.bytes ?? 0
  const [, ...others] = group.filter((name) => fields.has(name)).sort((left, right) => bytesOf(right) - bytesOf(left))
  for (const name of others) fields.delete(name)
}

function leaf(path: string, bytes: number): WorstSize {
  return { bytes, places: [{ path, bytes }], opaque: [] }
}

function inOrder(places: readonly Place[]): readonly Place[] {
  return [...places].sort((left, right) => right.bytes - left.bytes)
}
