import type { SchemaNode } from '../../../src/schema/schema-node.ts'

/** A value of a spec that breaks one bound of its schema, and nothing else there. */
export interface BrokenBound {
  /** The path in the apiserver's error: `spec.hostports[0].port`. */
  readonly path: string
  readonly bound: Bound
  readonly spec: Readonly<Record<string, unknown>>
}

export type Bound = (typeof BOUNDS)[number]

const BOUNDS = [
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'maxProperties',
  'required',
] as const

/** The message for a person when the bound is broken: each names the bound. */
export const complaints: Readonly<Record<Bound, RegExp>> = {
  enum: /Unsupported value: .*supported values: "/,
  pattern: / must be /,
  minLength: /should be at least \d+ chars? long/,
  maxLength: /Too long: may not be more than \d+ bytes|should be at most \d+ chars? long/,
  minimum: /should be greater than or equal to/,
  maximum: /should be less than or equal to/,
  minItems: /should have at least \d+ items?/,
  maxItems: /Too many: \d+: must have at most \d+ items?/,
  maxProperties: /Too many: \d+: must have at most \d+ items?|should have at most \d+ properties/,
  required: /Required value/,
}

/**
 * One row for every bound in the schema of a spec. Fields next to the broken one are set if they are required: the
 * apiserver evaluates rules, such as those that stand for patterns, only where everything else fits.
 */
export function brokenBounds(spec: SchemaNode): readonly BrokenBound[] {
  return within(spec, 'spec', (value) => value as Readonly<Record<string, unknown>>)
}

type Embed = (value: unknown) => Readonly<Record<string, unknown>>

function within(node: SchemaNode, path: string, embed: Embed): readonly BrokenBound[] {
  const own = BOUNDS.flatMap((bound) =>
    broken(node, bound).map(({ value, below = '' }) => ({ path: path + below, bound, spec: embed(value) })),
  )
  const fields = Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
    return within(child, `${path}.${name}`, (value) => embed({ ...requiredOf(node), [name]: value }))
  })
  const items = node.items === undefined ? [] : within(node.items, `${path}[0]`, (value) => embed([value]))
  const values =
    node.additionalProperties === undefined
      ? []
      : within(node.additionalProperties, `${path}.key`, (value) => embed({ key: value }))
  return [...own, ...fields, ...items, ...values]
}

/** The required fields of an object, with values that keep all bounds but patterns. */
function requiredOf({ properties = {}, required = [] }: SchemaNode): Readonly<Record<string, unknown>> {
  return Object.fromEntries(required.map((name) => [name, fitting(properties[name] ?? {})]))
}

function fitting(node: SchemaNode): unknown {
  if (node.enum !== undefined) return node.enum[0]
  switch (node.type) {
    case 'object':
      return requiredOf(node)
    case 'array':
      return Array.from({ length: node.minItems ?? 0 }, () => fitting(node.items ?? {}))
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return node.minimum ?? 1
    default:
      return 'a'.repeat(node.minLength ?? 1)
  }
}

interface Broken {
  readonly value: unknown
  /** From the node to the path in the apiserver's error, if it differs. */
  readonly below?: string
}

function broken(node: SchemaNode, bound: Bound): readonly Broken[] {
  const limit = node[bound as Exclude<Bound, 'enum' | 'pattern' | 'required'>] as number | undefined
  switch (bound) {
    case 'enum':
      return node.enum === undefined ? [] : [{ value: 'none of these' }]
    case 'pattern':
      return node.pattern === undefined ? [] : [{ value: mismatch(node.pattern) }]
    case 'minLength':
      return limit === undefined || limit === 0 ? [] : [{ value: 'a'.repeat(limit - 1) }]
    case 'maxLength':
      return limit === undefined ? [] : [{ value: 'a'.repeat(limit + 1) }]
    case 'minimum':
      return limit === undefined ? [] : [{ value: limit - 1 }]
    case 'maximum':
      return limit === undefined ? [] : [{ value: limit + 1 }]
    case 'minItems':
      return limit === undefined || limit === 0 ? [] : [{ value: [] }]
    case 'maxItems':
      return limit === undefined ? [] : [{ value: Array.from({ length: limit + 1 }, (_, index) => item(node, index)) }]
    case 'maxProperties':
      return limit === undefined
        ? []
        : [{ value: Object.fromEntries(Array.from({ length: limit + 1 }, (_, n) => [`k${n}`, ''])) }]
    case 'required':
      return (node.required ?? []).map((name) => ({ value: {}, below: `.${name}` }))
  }
}

function mismatch(pattern: string): string {
  const found = ['none of these ~', '~', ' ', '\n'].find((text) => !new RegExp(pattern).test(text))
  if (found === undefined) throw new Error(`no text is known that does not match ${pattern}`)
  return found
}

function item({ items }: SchemaNode, index: number): unknown {
  return items?.type === 'string' ? `item-${index}` : {}
}
