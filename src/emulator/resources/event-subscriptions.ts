import { ids, refuseEmpty, SHOWN_TEXTS } from '../fields/conventions.ts'
import { type Fields, mandatory, optional, type Reader, reader } from '../fields/field.ts'
import { list, members, REFS, TEXT } from '../fields/json-schema.ts'
import { characters, listOf, object, string } from '../fields/readers.ts'
import type { Resource } from '../objects/resource.ts'
import type { View } from '../objects/view.ts'
import type { StoredObject } from '../store/database.ts'
import { isJsonObject, type Json, type JsonObject, textOf, textsOf } from '../values/json.ts'
import { invalid } from '../values/request-error.ts'

/**
 * `<name>.v<number>` (`management-api.md § Events`); types that nothing fires are accepted. The name has no character
 * that would end it in an address.
 */
const eventType: Reader<string> = reader({ type: 'string', pattern: '^[A-Za-z0-9_.~-]+\\.v[0-9]+$' }, (value, at) => {
  const type = string(value, at)
  if (!/^[\w.~-]+\.v\d+$/.test(type)) throw invalid(at, `${JSON.stringify(type)} is not of the form <name>.v<number>`)
  return type
})

const SOURCE_FIELDS: Fields = { type: mandatory(eventType) }
const SHOWN_SOURCE = members({ type: eventType.schema, uri: TEXT })
/** A source may be sent as it is shown: its address is ignored. */
const sourceList = listOf(object({ type: { read: eventType }, uri: { read: string, absent: '' } }))

const readSources: Reader<JsonObject[]> = reader(sourceList.schema, (value, at) => {
  const types = sourceList(value, at).map((source) => source.type ?? '')
  types.forEach((type, index) => {
    if (types.indexOf(type) !== index) throw invalid(`${at}[${index}].type`, `${String(type)} is named twice`)
  })
  return types.map((type) => ({ type }))
})

/**
 * Subscriptions route events of the listed types to the listed destinations. Limits count characters here, not bytes.
 */
export const eventSubscriptions: Resource = {
  path: 'event_subscriptions',
  listKey: 'event_subscriptions',
  idPrefix: 'esb',
  eventName: 'event_subscription',
  served: true,
  fields: {
    description: optional(characters(255), ''),
    metadata: optional(characters(4096), ''),
    sources: optional(readSources, []),
    destination_ids: optional(ids, []),
  },
  refuse: (body, choices) => {
    if (choices['event-types'] === 'snake-case') refuseOthers(body.sources)
    if (choices['empty-members'] === 'refused') refuseEmpty(body, ['sources', 'destination_ids'])
  },
  prepare: ({ given }, context) => {
    textsOf(given.destination_ids).forEach((id, index) => {
      context.resolve(['event_destinations'], id, `destination_ids[${index}]`)
    })
  },
  links: (subscription) => textsOf(subscription.destination_ids).map((target) => ({ target, onDelete: 'restrict' })),
  routes: (subscription) =>
    objectsOf(subscription.sources).flatMap((source) =>
      textsOf(subscription.destination_ids).map((destination) => ({ type: textOf(source, 'type'), destination })),
    ),
  shows: { ...SHOWN_TEXTS, sources: list(SHOWN_SOURCE), destinations: REFS },
  render: (subscription, view) => ({
    description: textOf(subscription, 'description'),
    metadata: textOf(subscription, 'metadata'),
    sources: objectsOf(subscription.sources).map((source) => renderSource(source, subscription, view)),
    destinations: view.refs(subscription.destination_ids),
  }),
  memberLists: [
    {
      name: 'sources',
      field: 'sources',
      key: 'type',
      fields: SOURCE_FIELDS,
      shows: SHOWN_SOURCE,
      render: renderSource,
    },
  ],
}

function refuseOthers(sources: Json | undefined): void {
  for (const [index, source] of objectsOf(sources).entries()) {
    if (/^[a-z0-9_]+\.v\d+$/.test(textOf(source, 'type'))) continue
    throw invalid(`sources[${index}].type`, 'must be of lower-case letters, digits and _, then .v and a number')
  }
}

function renderSource(source: JsonObject, subscription: StoredObject, view: View): JsonObject {
  const type = textOf(source, 'type')
  return { type, uri: `${view.uri('event_subscriptions', subscription.id)}/sources/${type}` }
}

function objectsOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
