import { isDeepStrictEqual } from 'node:util'
import type { SchemaNode } from '../../../scripts/schema/schema-node.ts'
import { isExperimental } from '../../../src/schema/experimental.ts'
import { type Incompatibility, incompatibility } from './incompatibility.ts'
import { tightenedLimits } from './limits.ts'
import { newRules } from './new-rules.ts'

/** How server-side apply merges, and what the apiserver keeps or fills in: any other value means something else. */
const exact = [
  'type',
  'default',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
] as const

/** Keywords whose changes are judged one by one here, in `limits.ts` or in `new-rules.ts`. */
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
 * What a later schema takes from those who rely on an earlier one. New optional fields and looser values take nothing, and nothing
 * is taken with what was experimental.
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

/** What the apiserver kept as it was is pruned, or has to be valid, once there is a schema for it. */
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
