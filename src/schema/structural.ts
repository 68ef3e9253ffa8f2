import type { TSchema } from 'typebox'
import { isObject } from '../util/json.ts'
import { assertPortablePattern, PatternError } from './pattern.ts'
import { type RawSchema, SchemaError, type SchemaNode, toRaw } from './schema-node.ts'

/**
 * Keywords that are kept as they are; every other one is rewritten below or refused. In the order in which a CRD shows
 * them.
 */
const plainKeywords = [
  'description',
  'type',
  'format',
  'enum',
  'default',
  'pattern',
  'mustBe',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minimum',
  'maximum',
  'multipleOf',
  'nullable',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
  'required',
]
const keywordOrder = [...plainKeywords, 'properties', 'items', 'additionalProperties']

const types = new Set(['string', 'integer', 'number', 'boolean', 'object', 'array'])

/** typebox's key pattern of a record that accepts any string as key. */
const anyKey = '^.*$'

/**
 * The schema in the form that apiextensions.k8s.io/v1 calls structural. Rewrites what typebox emits in another form
 * (enums without type, unions of literals, records, unions with null, closed objects).
 *
 * @param path name of the schema in error messages: `spec`.
 * @throws SchemaError on a keyword or combination that the apiserver refuses, with its path.
 */
export function toStructural(schema: TSchema, path: string): SchemaNode {
  return structuralNode(toRaw(schema), path)
}

function structuralNode(raw: RawSchema, path: string): SchemaNode {
  const node = withType(withoutUnion(withoutRecord(raw, path), path), path)
  const result: Record<string, unknown> = {}
  const order = new Set([...keywordOrder.filter((keyword) => keyword in node), ...Object.keys(node)])
  for (const keyword of order) {
    const kept = structuralKeyword(keyword, node[keyword], path)
    if (kept !== undefined) {
      result[keyword] = kept
    }
  }
  checkShape(result, path)
  return result
}

function structuralKeyword(keyword: string, value: unknown, path: string): unknown {
  switch (keyword) {
    case 'properties':
      return mapValues(value, (name, child) => structuralNode(child, `${path}.${name}`), path)
    case 'items':
      return structuralNode(expectRaw(value, `${path}[]`), `${path}[]`)
    case 'additionalProperties':
      if (value === false) {
        // Unknown fields are pruned, or refused by strict field validation; a schema cannot close an object.
        return undefined
      }
      return structuralNode(expectRaw(value, `${path}{}`), `${path}{}`)
    case 'uniqueItems':
      throw new SchemaError(path, 'uniqueItems is refused: use listType "set" or "map"')
    case 'pattern':
      return portable(value, path)
    default:
      if (!plainKeywords.includes(keyword)) {
        throw new SchemaError(path, `the keyword "${keyword}" is not part of a structural schema`)
      }
      return value
  }
}

/** typebox's `patternProperties` of a record become `additionalProperties`. */
function withoutRecord(raw: RawSchema, path: string): RawSchema {
  const { patternProperties, ...rest } = raw
  if (patternProperties === undefined) {
    return raw
  }
  const entries = Object.entries(expectRaw(patternProperties, path))
  const values = entries[0]?.[0] === anyKey ? entries[0][1] : undefined
  if (entries.length !== 1 || values === undefined) {
    throw new SchemaError(path, 'patternProperties with a pattern of keys is refused: use stringMap and a rule')
  }
  return { ...rest, additionalProperties: values }
}

/** Unions with null become nullable, unions of literals an enum. Any other union is refused. */
function withoutUnion(raw: RawSchema, path: string): RawSchema {
  const { anyOf, ...rest } = raw
  if (anyOf === undefined) {
    return withoutConst(raw)
  }
  const members = (anyOf as readonly unknown[]).map((member) => withoutConst(expectRaw(member, path)))
  const given = members.filter((member) => member.type !== 'null')
  const nullable = given.length < members.length ? { nullable: true } : {}
  const [only] = given
  if (given.length === 1 && only) {
    return { ...only, ...rest, ...nullable }
  }
  if (given.every((member) => Array.isArray(member.enum))) {
    return { enum: given.flatMap((member) => member.enum as unknown[]), ...rest, ...nullable }
  }
  throw new SchemaError(path, 'a union of schemas is refused: use optional members and a rule such as exactlyOne')
}

function withoutConst(raw: RawSchema): RawSchema {
  const { const: value, ...rest } = raw
  return value === undefined ? raw : { ...rest, enum: [value] }
}

function withType(raw: RawSchema, path: string): RawSchema {
  if (raw.type !== undefined || !Array.isArray(raw.enum)) {
    return raw
  }
  const [type, ...others] = new Set(raw.enum.map((value) => typeof value))
  if (type === undefined || others.length > 0 || !types.has(type)) {
    throw new SchemaError(path, 'the values of an enum must be of one type, and at least one')
  }
  return { type, ...raw }
}

function checkShape(node: SchemaNode, path: string): void {
  if (node.type === undefined || !types.has(node.type)) {
    throw new SchemaError(path, `the type ${JSON.stringify(node.type)} is not one of ${[...types].join(', ')}`)
  }
  if (!node.description?.trim()) {
    throw new SchemaError(path, 'has no description')
  }
  if (node.properties && node.additionalProperties) {
    throw new SchemaError(path, 'has both fields and additionalProperties: an object is a struct or a map')
  }
  if (node.nullable && node.enum) {
    throw new SchemaError(path, 'a nullable choice is refused: make it optional')
  }
  checkList(node, path)
  if (node['x-kubernetes-map-type'] === 'atomic' || node['x-kubernetes-list-type'] === 'atomic') {
    checkNoDefaultsWithin(node, path)
  }
}

/**
 * The apiserver adds defaults to what it stores. An atomic value then differs from the manifest it came from, and
 * server-side apply reports a conflict for the same manifest from a second manager.
 */
function checkNoDefaultsWithin(node: SchemaNode, path: string): void {
  const children: readonly (readonly [path: string, child: SchemaNode | undefined])[] = [
    ...Object.entries(node.properties ?? {}).map(([name, child]) => [`${path}.${name}`, child] as const),
    [`${path}[]`, node.items],
    [`${path}{}`, node.additionalProperties],
  ]
  for (const [place, child] of children) {
    if (child === undefined) continue
    if (child.default !== undefined) {
      throw new SchemaError(place, 'a default inside of an atomic value is refused: let the code fill it in')
    }
    checkNoDefaultsWithin(child, place)
  }
}

function checkList(node: SchemaNode, path: string): void {
  if (node.type !== 'array') {
    return
  }
  const { items, 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys = [] } = node
  if (!items) {
    throw new SchemaError(path, 'a list needs the schema of its items')
  }
  const scalar = items.type !== 'object' && items.type !== 'array'
  if (listType === 'set' && !scalar) {
    throw new SchemaError(path, 'a list of type "set" holds scalars: use "map" or "atomic"')
  }
  if (listType !== 'atomic' && listType !== undefined && items.nullable) {
    throw new SchemaError(path, `items of a list of type "${listType}" cannot be nullable`)
  }
  if ((listType === 'map') !== keys.length > 0) {
    throw new SchemaError(path, 'mapKeys go with listType "map", and with no other')
  }
  for (const key of keys) {
    checkMapKey(items, key, path)
  }
}

function checkMapKey(items: SchemaNode, key: string, path: string): void {
  const field = items.properties?.[key]
  if (!field || field.type === 'object' || field.type === 'array') {
    throw new SchemaError(path, `the map key "${key}" is not a scalar field of the items`)
  }
  if (!items.required?.includes(key) && field.default === undefined) {
    throw new SchemaError(path, `the map key "${key}" must be required or have a default`)
  }
}

function portable(pattern: unknown, path: string): unknown {
  try {
    assertPortablePattern(String(pattern))
  } catch (error) {
    throw error instanceof PatternError ? new SchemaError(path, error.message, { cause: error }) : error
  }
  return pattern
}

function mapValues(value: unknown, map: (name: string, child: RawSchema) => SchemaNode, path: string) {
  const entries = Object.entries(expectRaw(value, path))
  return Object.fromEntries(entries.map(([name, child]) => [name, map(name, expectRaw(child, `${path}.${name}`))]))
}

function expectRaw(value: unknown, path: string): RawSchema {
  if (!isObject(value)) {
    throw new SchemaError(path, `${JSON.stringify(value)} is not a schema`)
  }
  return value
}
