import type { FastifyInstance } from 'fastify'
import { type JsonSchema, list, members, nullable, TEXT, TEXTS, WHOLE_NUMBER } from '../fields/json-schema.ts'
import { numberInQuery, route, textsInQuery } from '../http/route.ts'
import { NO_CONTENT, ok } from '../openapi/operation.ts'
import type { Admin } from './admin.ts'

/** The most deliveries in one answer. */
const MOST_DELIVERIES = 1000

const ENTRY = members({
  seq: WHOLE_NUMBER,
  method: TEXT,
  path: TEXT,
  query: TEXT,
  time: TEXT,
  keyId: nullable(TEXT),
  account: nullable(TEXT),
  body: {},
  status: nullable(WHOLE_NUMBER),
  responseId: nullable(TEXT),
  answeredSeq: nullable(WHOLE_NUMBER),
  fault: nullable(TEXT),
  operationId: TEXT,
})

const DELIVERY = members({
  seq: WHOLE_NUMBER,
  account: TEXT,
  destination: TEXT,
  subscription: TEXT,
  type: TEXT,
  attempt: WHOLE_NUMBER,
  outcome: TEXT,
  time: TEXT,
  event: members({ event_id: TEXT, event_type: TEXT, event_timestamp: TEXT, object: { type: 'object' } }),
})

/** What happened: requests to the API, and events that were delivered. */
export function recordRoutes(app: FastifyInstance, admin: Admin): void {
  route(app, '/journal', {
    GET: {
      summary: 'List requests to the API in order of arrival',
      query: { since: WHOLE_NUMBER },
      success: ok(members({ entries: list(ENTRY) })),
      handler: (request) => ({ entries: admin.journal(numberInQuery(request, 'since', 0)) }),
    },
    DELETE: {
      summary: 'Delete the recorded requests',
      success: NO_CONTENT,
      handler: (_request, reply) => {
        admin.clearJournal()
        return reply.code(204).send()
      },
    },
  })
  route(app, '/deliveries', {
    GET: {
      summary: 'List delivered events, oldest first',
      query: { since: WHOLE_NUMBER, limit: WHOLE_NUMBER, destination: TEXT, type: TEXT },
      success: ok(members({ deliveries: list(DELIVERY) })),
      handler: (request) => ({
        deliveries: admin.deliveries({
          ...textsInQuery(request, ['destination', 'type']),
          since: numberInQuery(request, 'since', 0),
          limit: Math.min(MOST_DELIVERIES, numberInQuery(request, 'limit', 100)),
        }),
      }),
    },
    DELETE: {
      summary: 'Delete the recorded deliveries',
      success: NO_CONTENT,
      handler: (_request, reply) => {
        admin.clearDeliveries()
        return reply.code(204).send()
      },
    },
  })
}

/** The most lines in one answer. */
const MOST = 1000

const PROTOCOL: JsonSchema = { type: 'string', enum: ['tcp', 'tls'] }

const LISTENER = members({
  hostport: TEXT,
  protocol: PROTOCOL,
  edge: nullable(TEXT),
  address: TEXT,
  port: WHOLE_NUMBER,
  error: nullable(TEXT),
})

const CONNECTION = members({
  seq: WHOLE_NUMBER,
  time: TEXT,
  protocol: PROTOCOL,
  hostport: nullable(TEXT),
  edge: nullable(TEXT),
  account: nullable(TEXT),
  source: TEXT,
  sourcePort: WHOLE_NUMBER,
  verdict: nullable({ type: 'string', enum: ['served', 'unserved', 'refused', 'failed'] }),
  rule: nullable(TEXT),
  reason: TEXT,
  warnings: TEXTS,
  notes: TEXTS,
  backend: nullable(TEXT),
  tunnel: nullable(TEXT),
  bytesIn: WHOLE_NUMBER,
  bytesOut: WHOLE_NUMBER,
  end: nullable(TEXT),
})

/** The data plane: where edges listen, and what came to them. */
export function trafficRoutes(app: FastifyInstance, admin: Admin): void {
  route(app, '/listeners', {
    GET: {
      summary: 'List where edges can be reached',
      success: ok(members({ listeners: list(LISTENER) })),
      handler: () => ({ listeners: admin.listeners() }),
    },
  })
  route(app, '/traffic', {
    GET: {
      summary: 'List connections to edges in order of arrival',
      query: { since: WHOLE_NUMBER, limit: WHOLE_NUMBER },
      success: ok(members({ connections: list(CONNECTION) })),
      handler: (request) => ({
        connections: admin.traffic(
          numberInQuery(request, 'since', 0),
          Math.min(MOST, numberInQuery(request, 'limit', 100)),
        ),
      }),
    },
    DELETE: {
      summary: 'Delete the recorded connections',
      success: NO_CONTENT,
      handler: (_request, reply) => {
        admin.clearTraffic()
        return reply.code(204).send()
      },
    },
  })
  route(app, '/authority', {
    GET: {
      summary: 'Get the root of the certificates that TLS edges present, in PEM',
      success: ok(members({ pem: TEXT })),
      refusals: [404],
      handler: async () => ({ pem: await admin.authority() }),
    },
  })
}
