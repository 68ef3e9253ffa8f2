import { type Field, type Fields, unsettable } from '../fields/field.ts'
import { type JsonSchema, list, members, nullable, shared, TEXT, TIMESTAMP } from '../fields/json-schema.ts'
import type { Resource } from '../objects/resource.ts'

/** A body that creates an object; null counts as absent, except for mandatory fields. */
export function createSchema(fields: Fields): JsonSchema {
  const sent = Object.entries(fields).filter(([, field]) => field.within !== 'update')
  return members(
    Object.fromEntries(sent.map(([name, field]) => [name, createdBy(field)])),
    sent.filter(([, field]) => field.absent !== 'mandatory').map(([name]) => name),
  )
}

function createdBy({ read, absent }: Field): JsonSchema {
  return absent === 'mandatory' ? read.schema : { ...unsettable(read), default: absent.value }
}

/** A body that updates an object; every field may be left out. */
export function updateSchema(fields: Fields): JsonSchema {
  const sent = Object.entries(fields).filter(([, field]) => field.within !== 'create')
  const properties = Object.fromEntries(sent.map(([name, field]) => [name, updatedBy(field)]))
  return members({ id: TEXT, ...properties }, ['id', ...Object.keys(properties)])
}

function updatedBy({ read, absent, whenNull }: Field): JsonSchema {
  return absent !== 'mandatory' && whenNull === 'clear' ? unsettable(read) : read.schema
}

/** Names of the shared schemas of a collection: `IpPolicy`, `IpPolicyCreate`, `IpPolicyUpdate`, `IpPolicyList`. */
export function schemaNames(resource: Resource): Record<'object' | 'create' | 'update' | 'list', string> {
  const words = (resource.singular ?? resource.eventName ?? resource.path).split(/[^a-z0-9]/)
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return { object: name, create: `${name}Create`, update: `${name}Update`, list: `${name}List` }
}

/** The answer to a list request, the objects under `key`. */
export function envelopeSchema(key: string, item: JsonSchema): JsonSchema {
  return members({ [key]: list(item), uri: TEXT, next_page_uri: nullable(TEXT) })
}

/** The schemas of a collection by the names that operations refer to. */
export function collectionSchemas(resource: Resource): Record<string, JsonSchema> {
  const names = schemaNames(resource)
  return {
    [names.object]: members({
      id: TEXT,
      uri: TEXT,
      [resource.createdAs ?? 'created_at']: TIMESTAMP,
      ...resource.shows,
    }),
    [names.list]: envelopeSchema(resource.listKey, shared(names.object)),
    ...(resource.readOnly === true
      ? {}
      : { [names.create]: createSchema(resource.fields), [names.update]: updateSchema(resource.fields) }),
  }
}
