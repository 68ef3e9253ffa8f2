import fc from 'fast-check'
import type { World } from '../builders/contract/world.ts'
import { list, lowerCased } from '../builders/declared/forms.ts'
import type { Ref } from '../builders/declared/types.ts'
import type { Body, ManagedKindTestData, Variant } from './kind-test-data.ts'
import { ref } from './shared/account.ts'
import { asBody, asList } from './shared/drifts.ts'
import { patch, story } from './shared/edits.ts'
import { bare, described, need, shownDescribed } from './shared/objects.ts'
import { crossingRefusal, grantRefusals, managedRefusals, refuse, refuseChange } from './shared/refusals.ts'
import { BY_HAND, metadataRefusals, pick, same, textEdits, withTexts } from './shared/texts.ts'

/** For a spec of a type other than the accepted one. */
const of = (type: string, fields: Body): Body => ({ type, tunnelGroup: undefined, ...fields })
const share = (name: string, weight: number) => ({ name, weight })
const shares = (...backendRefs: readonly Body[]) => ({ weighted: { backendRefs } })
const order = (...names: readonly string[]) => ({ failover: { backendRefs: names.map((name) => ({ name })) } })

async function twoChildren(world: World, variant: Variant) {
  const make = () => world.api.create('backends/http_response', { description: variant })
  return [await make(), await make()] as const
}

/** Names by which headers may be called. */
const tokens = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/)
export const backendPlace = ref(['blue', 'green'], ['bkdtg_red'])

export const backend: ManagedKindTestData = {
  kind: 'Backend',
  accepted: { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } },
  refusals: [
    ...managedRefusals,
    ...metadataRefusals,
    ...grantRefusals,
    crossingRefusal((ofAnother) => of('Weighted', shares({ ...ofAnother, weight: 1 }))),
    refuseChange('with another type', of('HTTPResponse', { httpResponse: {} }), 'type is immutable'),
    // kubectl apply would keep a second copy in an annotation, whose size limit is this.
    refuseChange(
      'with a body of many bytes',
      { httpResponse: { body: 'ä'.repeat(200_000) } },
      'body must have at most 262144 bytes',
      of('HTTPResponse', { httpResponse: { body: '' } }),
    ),
    refuse(
      'with a header of a long name',
      of('HTTPResponse', { httpResponse: { headers: { ['a'.repeat(256)]: 'x' } } }),
      'names in headers must have at most 255 characters',
    ),
    refuse(
      'with a header of many bytes',
      of('HTTPResponse', { httpResponse: { headers: { a: 'ä'.repeat(4000) } } }),
      'headers must have at most 4096 bytes',
    ),
    refuse('with the member of another type', { httpResponse: {} }, 'set the member for the type'),
    refuse('without the member of its type', { tunnelGroup: undefined }, 'set the member for the type'),
    refuse(
      'with a weighted child twice',
      of('Weighted', shares(share('a', 1), share('a', 2))),
      'backendRefs contains a backend twice: merge them into one entry',
    ),
    refuse(
      'with a failover child twice',
      of('Failover', order('a', 'a')),
      'backendRefs contains a backend twice: keep the first',
    ),
    refuse(
      'with a child by name and by id',
      of('Failover', { failover: { backendRefs: [{ name: 'a', id: 'b' }] } }),
      'set exactly one of name, id',
    ),
    refuse(
      'with a long name of a label',
      { tunnelGroup: { labels: { ['a'.repeat(256)]: 'b' } } },
      'names in labels must have at most 255 characters',
    ),
  ],
  specs: {
    minimal: {
      spec: (name) => need.tunnels(name).spec,
      object: () => ({ ...bare, labels: {}, tunnels: [] }),
    },
    full: {
      spec: (name) => ({
        ...described(name),
        type: 'HTTPResponse',
        httpResponse: { body: 'closed', headers: { 'X-Reason': 'night' }, statusCode: 503 },
      }),
      object: ({ name }) => ({
        ...shownDescribed(name),
        body: 'closed',
        headers: { 'x-reason': 'night' },
        status_code: 503,
      }),
    },
    labels: {
      spec: () => ({ type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }),
      object: () => ({ ...bare, labels: { app: 'shop' }, tunnels: [] }),
    },
    weighted: {
      spec: (name) => ({ type: 'Weighted', ...shares(share(`${name}-blue`, 9000), share(`${name}-green`, 0)) }),
      needs: (name) => [need.tunnels(`${name}-blue`), need.tunnels(`${name}-green`)],
      object: ({ id, name }) => ({
        ...bare,
        backends: { [id('Backend', `${name}-blue`)]: 9000, [id('Backend', `${name}-green`)]: 0 },
      }),
    },
    failover: {
      spec: (name) => ({ type: 'Failover', ...order(`${name}-first`, `${name}-second`) }),
      needs: (name) => [need.tunnels(`${name}-first`), need.tunnels(`${name}-second`)],
      object: ({ id, name }) => ({
        ...bare,
        backends: [id('Backend', `${name}-first`), id('Backend', `${name}-second`)],
      }),
    },
  },
  edits: [
    story('group', { type: 'TunnelGroup', tunnelGroup: {} }, [
      ...textEdits,
      patch('labels', { tunnelGroup: { labels: { app: 'shop' } } }, { labels: { app: 'shop' } }),
      patch('labels', { tunnelGroup: { labels: { App: 'shop', tier: 'a' } } }, { labels: { App: 'shop', tier: 'a' } }),
      patch('labels', { tunnelGroup: {} }, { labels: {} }),
    ]),
    story('answer', { type: 'HTTPResponse', httpResponse: {} }, [
      ...textEdits,
      patch('body', { httpResponse: { body: 'closed' } }, { body: 'closed' }),
      patch('body', { httpResponse: { body: 'open' } }, { body: 'open' }),
      patch('body', { httpResponse: {} }, { body: '' }),
      patch('headers', { httpResponse: { headers: { 'X-A': '1' } } }, { headers: { 'x-a': '1' } }),
      patch('headers', { httpResponse: { headers: { 'X-A': '2', b: '3' } } }, { headers: { 'x-a': '2', b: '3' } }),
      patch('headers', { httpResponse: {} }, { headers: {} }),
      patch('status_code', { httpResponse: { statusCode: 503 } }, { status_code: 503 }),
      patch('status_code', { httpResponse: { statusCode: 404 } }, { status_code: 404 }),
      patch('status_code', { httpResponse: {} }, { status_code: 200 }),
    ]),
    story('shares', { type: 'Weighted', ...shares(share('blue', 1)) }, [
      ...textEdits,
      patch('backends', shares(share('blue', 7)), (id) => ({ backends: { [id('Backend', 'blue')]: 7 } })),
      patch('backends', shares(share('green', 0), share('blue', 7)), (id) => ({
        backends: { [id('Backend', 'blue')]: 7, [id('Backend', 'green')]: 0 },
      })),
      patch('backends', shares(share('green', 1)), (id) => ({ backends: { [id('Backend', 'green')]: 1 } })),
      patch('backends', shares({ id: 'bkdtg_specs1', weight: 1 }), { backends: { bkdtg_specs1: 1 } }),
    ]),
    story('order', { type: 'Failover', ...order('blue') }, [
      ...textEdits,
      ...[['blue', 'green'], ['green', 'blue'], ['green']].map((names) =>
        patch('backends', order(...names), (id) => ({ backends: names.map((name) => id('Backend', name)) })),
      ),
    ]),
  ],
  collections: {
    'backends/tunnel_group': withTexts({
      samples: { labels: pick({ App: 'first', 'a.b/c': '' }, { other: 'ä' }) },
      drifts: { labels: [() => ({ labels: {} }), () => ({ labels: { app: 'other', x: 'y' } })] },
      stranger: (number) => ({ labels: { stranger: String(number) } }),
    }),
    'backends/http_response': withTexts({
      samples: {
        body: pick('hello', ''),
        headers: pick({ 'content-type': 'text/plain' }, { 'x-second': 'Kept As Sent' }),
        status_code: pick(404, 503),
      },
      drifts: {
        body: [() => ({ body: BY_HAND })],
        headers: [() => ({ headers: {} }), () => ({ headers: { 'X-Reason': BY_HAND, 'X-More': '1' } })],
        status_code: [() => ({ status_code: 418 })],
      },
    }),
    'backends/weighted': withTexts({
      samples: {
        backends: async (world, variant) => {
          const [one, two] = await twoChildren(world, variant)
          return same({ [one.id]: 0, [two.id]: 10_000 })
        },
      },
      drifts: {
        backends: [
          ({ backends }) => ({ backends: Object.fromEntries(Object.keys(asBody(backends)).map((id) => [id, 17])) }),
        ],
      },
    }),
    'backends/failover': withTexts({
      samples: {
        backends: async (world, variant) => {
          const [one, two] = await twoChildren(world, variant)
          return same([two.id, one.id])
        },
      },
      drifts: {
        backends: [
          ({ backends }) => ({ backends: asList(backends).toReversed() }),
          ({ backends }) => ({ backends: asList(backends).slice(1) }),
        ],
      },
    }),
  },
  places: {
    'spec.weighted.backendRefs[]': fc
      .tuple(backendPlace, fc.integer({ min: 0, max: 10_000 }))
      .map(([found, weight]) => ({ ...found, weight })),
    'spec.failover.backendRefs[]': backendPlace,
    // The operator refuses two names that differ only in case.
    'spec.httpResponse.headers': fc
      .uniqueArray(fc.tuple(tokens, fc.stringMatching(/^[^\r\n\0]{0,12}$/)), {
        maxLength: 3,
        selector: ([name]) => name.toLowerCase(),
      })
      .map((entries) => Object.fromEntries(entries)),
  },
  /** A backend has the fields of its type. */
  declares: (spec, { object }, { id }) => {
    const own = (name: string): Body => (spec[name] ?? {}) as Body
    switch (spec.type) {
      case 'TunnelGroup':
        return [['labels', own('tunnelGroup').labels ?? {}, object.labels ?? {}]]
      case 'HTTPResponse': {
        const { body = '', headers = {}, statusCode = 200 } = own('httpResponse')
        return [
          ['body', body, object.body],
          ['headers', lowerCased(headers), lowerCased(object.headers)],
          ['status_code', statusCode, object.status_code],
        ]
      }
      case 'Weighted': {
        const refs = list(own('weighted').backendRefs) as readonly (Ref & { weight: number })[]
        const wanted = Object.fromEntries(refs.map((each) => [id('Backend', each), each.weight]))
        return [['backends', wanted, object.backends]]
      }
      default: {
        const refs = list(own('failover').backendRefs) as readonly Ref[]
        return [['backends', refs.map((each) => id('Backend', each)), object.backends]]
      }
    }
  },
  referents: [
    ...['blue', 'green'].map((name) => ({
      collection: 'backends/tunnel_group',
      object: { id: `bkdtg_${name}` },
      resource: { name, spec: { type: 'TunnelGroup', tunnelGroup: {} } },
    })),
    { collection: 'backends/tunnel_group', object: { id: 'bkdtg_red' } },
  ],
}
