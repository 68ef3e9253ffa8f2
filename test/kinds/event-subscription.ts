import fc from 'fast-check'
import { expect } from 'vitest'
import { refTo as refToResource } from '../builders/contract/api-client.ts'
import { idOf, idsOf, list, sorted, typeOf } from '../builders/declared/forms.ts'
import type { ManagedKindTestData } from './kind-test-data.ts'
import { ref } from './shared/account.ts'
import { asBody, asList } from './shared/drifts.ts'
import { patch, quiet, sets, story } from './shared/edits.ts'
import { bare, described, need, refTo, shownDescribed } from './shared/objects.ts'
import { crossingRefusal, managedRefusals, refuse } from './shared/refusals.ts'
import { metadataRefusals, textEdits, withTexts } from './shared/texts.ts'

const sources = (...types: readonly string[]) => ({ sources: types.map((type) => ({ type })) })
const shownSources = (...types: readonly string[]) =>
  types.map((type) => ({ type, uri: expect.stringMatching(new RegExp(`/sources/${type.replaceAll('.', '\\.')}$`)) }))

export const eventSubscription: ManagedKindTestData = {
  kind: 'EventSubscription',
  accepted: { ...sources('ip_policy_created.v0'), destinationRefs: [{ name: 'log' }] },
  refusals: [
    ...managedRefusals,
    ...metadataRefusals,
    crossingRefusal((ofAnother) => ({ destinationRefs: [ofAnother] })),
    refuse('with a destination by no name', { destinationRefs: [{}] }, 'set exactly one of name, id'),
  ],
  specs: {
    minimal: {
      spec: (name) => ({ ...sources('ip_policy_created.v0'), destinationRefs: [{ name: `${name}-a` }] }),
      needs: (name) => [need.destination(`${name}-a`)],
      object: ({ id, name }) => ({
        ...bare,
        sources: shownSources('ip_policy_created.v0'),
        destinations: [refTo(id('EventDestination', `${name}-a`))],
      }),
    },
    full: {
      spec: (name) => ({
        ...described(name),
        ...sources('ip_policy_created.v0', 'tls_edge_updated.v0'),
        destinationRefs: [{ name: `${name}-a` }, { name: `${name}-b` }],
      }),
      needs: (name) => [need.destination(`${name}-a`), need.destination(`${name}-b`)],
      object: ({ id, name }) => ({
        ...shownDescribed(name),
        sources: shownSources('ip_policy_created.v0', 'tls_edge_updated.v0'),
        destinations: [refTo(id('EventDestination', `${name}-a`)), refTo(id('EventDestination', `${name}-b`))],
      }),
    },
  },
  edits: [
    story('subscription', { ...sources('ip_policy_created.v0'), destinationRefs: [{ name: 'log' }] }, [
      ...textEdits,
      patch('sources', sources('a.v1', 'b.v2'), { sources: sets(shownSources('a.v1', 'b.v2')) }),
      ...quiet(sources('b.v2', 'a.v1')),
      patch('destination_ids', { destinationRefs: [{ name: 'archive' }] }, (id) => ({
        destinations: [refTo(id('EventDestination', 'archive'))],
      })),
    ]),
  ],
  collections: {
    event_subscriptions: withTexts({
      samples: {
        sources: (_world, variant) => {
          const type = variant === 'first' ? 'ip_policy_created.v0' : 'tcp_edge_deleted.v0'
          return { sent: [{ type }], returned: shownSources(type) }
        },
        destination_ids: async (world) => {
          const destination = await world.api.create('event_destinations', {
            format: 'json',
            target: { monitor: { api_key: 'k' } },
          })
          return { sent: [destination.id], returned: [refToResource(destination)] }
        },
      },
      drifts: {
        sources: [() => ({ sources: [] }), () => ({ sources: [{ type: 'ip_policy_deleted.v0' }] })],
        destination_ids: [({ destinations }) => ({ destination_ids: [asBody(asList(destinations)[0]).id] })],
      },
      stranger: async (_number, of) => ({ sources: [], destination_ids: [await of('event_destinations')] }),
    }),
  },
  places: {
    'spec.sources[].type': fc.stringMatching(/^[a-z][a-z_.~-]{0,9}\.v[0-9]{1,3}$/),
    'spec.destinationRefs[]': ref(['log', 'archive'], ['ed_watch']),
  },
  declares: ({ sources: wanted, destinationRefs }, { object }, resolved) => [
    ['sources', sorted(list(wanted).map(typeOf)), sorted(list(object.sources).map(typeOf))],
    ['destinations', idsOf('EventDestination', destinationRefs, resolved), sorted(list(object.destinations).map(idOf))],
  ],
}
