import type { CollectionFact } from './facts.ts'
import { collection, id, identity, list, map, ref, shown, string, texts, value } from './rows.ts'

const source = 'management-api.md § Edges and backends'

/** Every kind of backend; any of them may be a child of a weighted or failover one. */
export const backendPaths = [
  'backends/tunnel_group',
  'backends/http_response',
  'backends/weighted',
  'backends/failover',
] as const

/** The four kinds of backend. Their texts have no stated limit: only the body's limit applies. */
export const backendCollections: readonly CollectionFact[] = [
  collection({
    path: 'backends/tunnel_group',
    source,
    listKey: 'backends',
    idPrefix: 'bkdtg_',
    eventName: 'tunnel_group_backend',
    fields: [
      ...identity(),
      ...texts({}),
      value('labels', map(string), { absent: {} }),
      shown('tunnels', list(ref('tunnels')), []),
    ],
  }),
  collection({
    path: 'backends/http_response',
    source,
    listKey: 'backends',
    idPrefix: 'bkdhr_',
    eventName: 'http_response_backend',
    fields: [
      ...identity(),
      ...texts({}),
      value('body', string, { absent: null }),
      value('headers', map(string), { absent: null }),
      value('status_code', { kind: 'integer', bits: 32, min: 200, max: 999 }, { absent: 200 }),
    ],
  }),
  collection({
    path: 'backends/weighted',
    source,
    listKey: 'backends',
    idPrefix: 'bkdwd_',
    eventName: 'weighted_backend',
    fields: [
      ...identity(),
      ...texts({}),
      // Keys are child ids; the values are their weights.
      value('backends', map({ kind: 'integer', bits: 64, min: 0, max: 10_000 }), { absent: {} }),
    ],
  }),
  collection({
    path: 'backends/failover',
    source,
    listKey: 'backends',
    idPrefix: 'bkdfo_',
    eventName: 'failover_backend',
    fields: [...identity(), ...texts({}), value('backends', list(id(...backendPaths)), { absent: [] })],
  }),
]
