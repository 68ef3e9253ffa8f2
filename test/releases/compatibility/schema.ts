import { isDeepStrictEqual } from 'node:util'
import { isExperimental } from '../../../src/schema/definition.ts'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import { type Incompatibility, incompatibility } from './incompatibility.ts'
import { tightenedLimits } from './limits.ts'
import { newRules } from './new-rules.ts'

/**
 * Server-side apply's merge behaviour, and what the apiserver preserves or defaults: any other value changes the
 * meaning.
 */
const exact = [
  'type',
  'default',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
] as const

/** Keywords whose changes are checked individually here, in `limits.ts` or in `new-rules.ts`. */
const judged = new Set<string>([
  ...exact,
  'description',
  'properties',
  'required',
  'items',
  'additionalProperties',
  'enum',
  'format',
  'pattern',
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
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
])

/**
 * What a later schema breaks for users of an earlier one. New optional fields and looser limits break nothing, nor does
 * any change of what was experimental.
 */
export function schemaIncompatibilities(
  earlier: SchemaNode,
  later: SchemaNode,
  path: string,
): readonly Incompatibility[] {
  if (isExperimental(earlier.description)) return []
  return [
    ...stability(later, path),
    ...meaning(earlier, later, path),
    ...tightenedLimits(earlier, later, path),
    ...newRules(earlier, later, path),
    ...required(earlier, later, path),
    ...unknownFields(earlier, later, path),
    ...children(earlier, later, path),
  ]
}

function stability({ description }: SchemaNode, path: string): readonly Incompatibility[] {
  return isExperimental(description) ? incompatibility(path, 'changed', 'became experimental') : []
}

function meaning(earlier: SchemaNode, later: SchemaNode, path: string): readonly Incompatibility[] {
  const unknown = [...Object.keys(earlier), ...Object.keys(later)].filter((keyword) => !judged.has(keyword))
  return [...exact, ...new Set(unknown)].flatMap((keyword) => {
    const [before, after] = [Reflect.get(earlier, keyword), Reflect.get(later, keyword)]
    const what = `${keyword} went from ${shown(before)} to ${shown(after)}`
    return isDeepStrictEqual(before, after) ? [] : incompatibility(path, 'changed', what)
  })
}

function shown(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value)
}

function required(earlier: SchemaNode, later: SchemaNode, path: string): readonly Incompatibility[] {
  const added = (later.required ?? []).filter((field) => !earlier.required?.includes(field))
  return added.flatMap((field) => incompatibility(`${path}.${field}`, 'changed', 'became required'))
}

/** Fields that the apiserver preserved unchanged are pruned, or must be valid, once there is a schema for them. */
function unknownFields(earlier: SchemaNode, later: SchemaNode, path: string): readonly Incompatibility[] {
  const keyword = 'x-kubernetes-preserve-unknown-fields'
  if (earlier[keyword] !== true) return []
  const described = Object.keys(later.properties ?? {}).filter((field) => earlier.properties?.[field] === undefined)
  return [
    ...(later[keyword] === true ? [] : incompatibility(path, 'removed', 'unknown fields are no longer kept')),
    ...described.flatMap((field) => incompatibility(`${path}.${field}`, 'changed', 'could be anything before')),
  ]
}

function children(earlier: SchemaNode, later: SchemaNode, path: string): readonly Incompatibility[] {
  const fields = Object.entries(earlier.properties ?? {}).flatMap(([name, field]) => {
    return child(field, later.properties?.[name], `${path}.${name}`)
  })
  return [
    ...fields,
    ...child(earlier.items, later.items, `${path}[]`),
    ...child(earlier.additionalProperties, later.additionalProperties, `${path}.*`),
  ]
}

function child(earlier: SchemaNode | undefined, later: SchemaNode | undefined, path: string) {
  if (earlier === undefined || isExperimental(earlier.description)) return []
  return later === undefined
    ? incompatibility(path, 'removed', 'is gone')
    : schemaIncompatibilities(earlier, later, path)
}
