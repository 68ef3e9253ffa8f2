import { Type } from 'typebox'
import { collections } from '../api/collections.ts'
import type { RemoteObject } from '../api/types.ts'
import { commonSpec, commonSpecRules, commonStatus, type Fields, reference } from '../managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import { list, object, text } from '../schema/define.ts'
import { defineKind, type SpecOf } from '../schema/definition.ts'
import { managedColumns, textColumn, wideColumn } from './building-blocks/columns.ts'
import { available, inCollection, managedKind, plain, plainFields } from './building-blocks/plain-kind.ts'
import {
  compareTexts,
  given,
  listOf,
  objectOf,
  refIds,
  sorted,
  textOf,
  textsOf,
  URI_LENGTH,
  wholeText,
} from './building-blocks/remote.ts'

const SOURCES = 256
const DESTINATIONS = 64
/** Maximum length of an event type in a status, in characters. */
const TYPE_LENGTH = 255

const eventType = (description: string) =>
  text({
    description,
    minLength: 1,
    maxLength: 255,
    mustBe: 'the name and version of an event type, such as ip_policy_created.v0',
    pattern: '^[!-~]+\\.v[0-9]+$',
  })

const definition = defineKind({
  ...managedKind,
  kind: 'EventSubscription',
  plural: 'eventsubscriptions',
  singular: 'eventsubscription',
  pluralSharedWith: "Crossplane's AWS provider",
  shortNames: ['evsub'],
  scope: 'Namespaced',
  description: 'Sends events of the account, of certain types, to EventDestinations.',
  spec: object(
    {
      ...commonSpec('characters'),
      sources: list(
        object(
          { type: eventType('Type of event, `<name>.v<number>`, such as `ip_policy_created.v0`.') },
          { description: 'A source of events.' },
        ),
        {
          description: `Types of events to send, each once, at most ${SOURCES}; order does not matter.`,
          maxItems: SOURCES,
          listType: 'map',
          mapKeys: ['type'],
        },
      ),
      destinationRefs: list(reference('EventDestination'), {
        description: `Destinations that the events are sent to, at most ${DESTINATIONS}; order does not matter.`,
        maxItems: DESTINATIONS,
      }),
    },
    { description: 'Desired state of the subscription.', rules: commonSpecRules },
  ),
  status: object(
    {
      ...commonStatus,
      sources: Type.Optional(
        list(
          object(
            {
              type: text({ description: 'Type of event.', maxLength: TYPE_LENGTH }),
              uri: Type.Optional(text({ description: 'Address of the source at the API.', maxLength: URI_LENGTH })),
            },
            { description: 'A source at the API.' },
          ),
          { description: 'The sources that the subscription has at the API.', maxItems: 2 * SOURCES },
        ),
      ),
    },
    { description: 'Observed state of the subscription.' },
  ),
  printerColumns: managedColumns(
    textColumn('Source', '.spec.sources[0].type', 'The first type of events that are sent; Sources has all.'),
    wideColumn('Sources', '.spec.sources', 'Types of events that are sent.'),
  ),
})

export type EventSubscriptionSpec = SpecOf<typeof definition>

/** Subscriptions of destinations to types of events (`management-api.md § Events`). Both lists are sets. */
export const eventSubscription: ManagedDescriptor<EventSubscriptionSpec> = {
  ...plain,
  role: 'managed',
  reach: 'account',
  definition,
  identity: inCollection(collections.eventSubscriptions),
  references: {
    kinds: [{ kind: 'EventDestination', idsIn: ({ destinations }) => refIds(destinations) }],
    of: ({ destinationRefs }) =>
      destinationRefs.map((ref, index) => ({ path: `spec.destinationRefs[${index}]`, kind: 'EventDestination', ref })),
  },
  fields: {
    ...plainFields,
    setBy: () => ['sources', 'destination_ids'],
    desire: (desired) => {
      const { sources, destinationRefs } = desired.spec
      return {
        sources: sources.map(({ type }) => ({ type })),
        destination_ids: [...new Set(destinationRefs.map((ref) => desired.id('EventDestination', ref)))],
      }
    },
    observe: ({ sources, destinations }) => comparable({ sources, destination_ids: refIds(destinations) }),
    comparable,
  },
  manifest: {
    namedAfter: ({ description, sources }) => [
      textOf(description),
      ...listOf(sources).map((each) => textOf(objectOf(each)?.type)),
    ],
    specOf: ({ sources, destinations }, { ref }) => ({
      sources: listOf(sources).map((source) => ({ type: textOf(objectOf(source)?.type) })),
      destinationRefs: refIds(destinations).map((id) => ref('EventDestination', id)),
    }),
  },
  status: {
    shown: (remote) => {
      const held = sourcesOf(remote)
      return held.length === 0 ? {} : { sources: held.slice(0, 2 * SOURCES) }
    },
    readiness: () => available('the subscription is in place'),
  },
}

function comparable({ sources, destination_ids, ...rest }: Fields): Fields {
  const types = listOf(sources).flatMap((source) => textOf(objectOf(source)?.type) ?? [])
  return {
    ...rest,
    sources: sorted(types).map((type) => ({ type })),
    destination_ids: sorted(textsOf(destination_ids)),
  }
}

function sourcesOf({ sources }: RemoteObject): readonly Fields[] {
  return listOf(sources)
    .flatMap((source) => {
      const { type, uri } = objectOf(source) ?? {}
      const whole = wholeText(type, TYPE_LENGTH)
      return whole === undefined ? [] : [{ type: whole, uri: wholeText(uri, URI_LENGTH) }]
    })
    .sort((a, b) => compareTexts(a.type, b.type))
    .map(given)
}
