import type { CollectionFact } from './facts.ts'
import { chars, collection, id, identity, list, object, oneOf, ref, sentAs, shown, texts, value } from './rows.ts'

const source = 'management-api.md § Events'

/** Destinations of account events, and subscriptions that select events. */
export const eventCollections: readonly CollectionFact[] = [
  collection({
    path: 'event_destinations',
    source,
    listKey: 'event_destinations',
    idPrefix: 'ed_',
    eventName: 'event_destination',
    fields: [
      ...identity(),
      ...texts(),
      // Accepted in any case, returned in lower case.
      value('format', oneOf('json'), { create: 'mandatory' }),
      value('target', object('EventTarget'), { create: 'mandatory' }),
    ],
  }),
  collection({
    path: 'event_subscriptions',
    source,
    listKey: 'event_subscriptions',
    idPrefix: 'esb_',
    eventName: 'event_subscription',
    fields: [
      ...identity(),
      ...texts({ description: chars(255), metadata: chars(4096) }).map((row) => ({ ...row, source })),
      value('sources', list(object('EventSourceMutate')), {
        absent: [],
        returnedShape: list(object('EventSource')),
      }),
      sentAs('destination_ids', list(id('event_destinations')), 'destinations'),
      shown('destinations', list(ref('event_destinations')), []),
    ],
    subResources: [
      {
        path: 'sources',
        field: 'sources',
        listKey: 'sources',
        methods: ['GET', 'POST'],
        source: 'api-decisions.md § Behaviour',
      },
      { path: 'sources/{type}', field: 'sources', methods: ['GET', 'DELETE'], source: 'api-decisions.md § Behaviour' },
    ],
  }),
]
