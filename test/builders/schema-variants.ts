import fc, { type Arbitrary } from 'fast-check'
import type { SchemaNode } from '../../src/schema/schema-node.ts'

const word = fc.constantFrom('A', 'B', 'C', 'D')
const size = fc.integer({ min: 1, max: 50 })

/** Schemas of every sort that occurs in our CRDs, objects at the root. */
export const schemas: Arbitrary<SchemaNode> = fc.letrec<{ object: SchemaNode; any: SchemaNode }>((tie) => ({
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('any'), { minKeys: 1 }).chain((properties) =>
    fc.record({
      type: fc.constant('object'),
      properties: fc.constant(properties),
      required: fc.subarray(Object.keys(properties)),
    }),
  ),
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ type: fc.constant('boolean') }),
    fc.record(
      { type: fc.constant('string'), minLength: fc.nat(3), maxLength: size, pattern: fc.constantFrom('^a+$', '^b+$') },
      { requiredKeys: ['type'] },
    ),
    fc.record({ type: fc.constant('string'), enum: fc.uniqueArray(word, { minLength: 2 }) }),
    fc.record(
      { type: fc.constant('integer'), format: fc.constantFrom('int32', 'int64'), minimum: fc.nat(9), maximum: size },
      { requiredKeys: ['type', 'format'] },
    ),
    fc.record({ type: fc.constant('object'), additionalProperties: tie('any'), maxProperties: size }),
    fc.record({
      type: fc.constant('array'),
      items: tie('any'),
      minItems: fc.nat(2),
      maxItems: size,
      'x-kubernetes-list-type': fc.constant('atomic'),
    }),
    tie('object'),
  ),
})).object

/** Every schema that accepts more than `node` by one change, at any depth. */
export function loosened(node: SchemaNode): readonly SchemaNode[] {
  return variants(node, looser)
}

/** Every schema that accepts less than `node` by one change, or removes something that users have, at any depth. */
export function tightened(node: SchemaNode): readonly SchemaNode[] {
  return variants(node, tighter)
}

type Change = (node: SchemaNode) => readonly SchemaNode[]

function variants(node: SchemaNode, change: Change): readonly SchemaNode[] {
  const { properties = {}, items, additionalProperties } = node
  const inFields = Object.entries(properties).flatMap(([name, field]) =>
    variants(field, change).map((variant) => ({ ...node, properties: { ...properties, [name]: variant } })),
  )
  return [
    ...change(node),
    ...inFields,
    ...(items ? variants(items, change).map((variant) => ({ ...node, items: variant })) : []),
    ...(additionalProperties
      ? variants(additionalProperties, change).map((variant) => ({ ...node, additionalProperties: variant }))
      : []),
  ]
}

const uppers = ['maxLength', 'maxItems', 'maxProperties', 'maximum'] as const
const lowers = ['minLength', 'minItems', 'minimum'] as const

function looser(node: SchemaNode): readonly SchemaNode[] {
  const { pattern: _, enum: words, ...rest } = node
  const newField = `new${Object.keys(node.properties ?? {}).length}`
  return [
    { ...node, description: `${node.description ?? ''}.` },
    { ...node, nullable: true },
    ...uppers.flatMap((bound) => (node[bound] === undefined ? [] : [{ ...node, [bound]: node[bound] + 1 }])),
    ...lowers.flatMap((bound) => (node[bound] === undefined ? [] : [{ ...node, [bound]: node[bound] - 1 }])),
    ...(node.properties ? [{ ...node, properties: { ...node.properties, [newField]: { type: 'string' } } }] : []),
    ...(node.required ?? []).map((field) => ({
      ...node,
      required: node.required?.filter((name) => name !== field) ?? [],
    })),
    ...(node.pattern === undefined ? [] : [rest]),
    ...(words ? [{ ...rest, enum: [...words, 'New'] }, rest] : []),
    ...(node.format === 'int32' ? [{ ...node, format: 'int64' }] : []),
  ]
}

function tighter(node: SchemaNode): readonly SchemaNode[] {
  const { properties = {}, required = [] } = node
  const scalar = node.properties === undefined && node.items === undefined && node.additionalProperties === undefined
  return [
    { ...node, type: node.type === 'string' ? 'integer' : 'string' },
    { ...node, default: 'new' },
    ...(scalar
      ? [
          { ...node, enum: (node.enum ?? ['A']).slice(0, 1) },
          { ...node, pattern: '^never$' },
        ]
      : []),
    ...uppers.flatMap((bound) => (node[bound] === undefined ? [] : [{ ...node, [bound]: node[bound] - 1 }])),
    ...lowers.flatMap((bound) => (node[bound] === undefined ? [] : [{ ...node, [bound]: node[bound] + 1 }])),
    ...Object.keys(properties).map((name) => ({ ...node, properties: without(properties, name) })),
    ...Object.entries(properties).map(([name, field]) => {
      return { ...node, properties: { ...without(properties, name), [`${name}Renamed`]: field } }
    }),
    ...Object.keys(properties)
      .filter((name) => !required.includes(name))
      .map((name) => ({ ...node, required: [...required, name] })),
    ...(node.items ? [{ ...node, 'x-kubernetes-list-type': 'set' }] : []),
    ...(node.format === 'int64' ? [{ ...node, format: 'int32' }] : []),
    ...(node.properties
      ? [{ ...node, 'x-kubernetes-validations': [{ rule: 'size(self) > 0', message: 'the object is empty: fill it' }] }]
      : []),
  ]
}

function without(properties: Readonly<Record<string, SchemaNode>>, name: string) {
  return Object.fromEntries(Object.entries(properties).filter(([each]) => each !== name))
}
