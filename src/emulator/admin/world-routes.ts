import type { FastifyInstance } from 'fastify'
import { type JsonSchema, list, members, TEXT, TEXTS, WHOLE_NUMBER } from '../fields/json-schema.ts'
import { anything, integer, nonEmptyString, object, string } from '../fields/readers.ts'
import { bodyOf, route, textsInQuery } from '../http/route.ts'
import { NO_CONTENT, ok } from '../openapi/operation.ts'
import { type JsonObject, textOf } from '../values/json.ts'
import { invalid } from '../values/request-error.ts'
import type { Admin } from './admin.ts'
import { readSeedSpec, SEED_SCHEMA } from './seed.ts'

const clockForm = object({
  advanceSeconds: { read: integer(-100 * 366 * 86_400, 100 * 366 * 86_400), absent: null },
  set: { read: nonEmptyString, absent: null },
  reset: { read: anything, absent: null },
})
const recordForm = object({ name: { read: nonEmptyString }, type: { read: nonEmptyString }, value: { read: string } })
const tokenForm = object({ token: { read: nonEmptyString } })

const CLOCK = members({ now: TEXT })
const DNS_RECORD = members({ name: TEXT, type: TEXT, value: TEXT })

/** What surrounds the API: time, public DNS, and tokens of agents. */
export function worldRoutes(app: FastifyInstance, admin: Admin): void {
  const time = (): JsonObject => ({ now: new Date(admin.now()).toISOString() })
  route(app, '/clock', {
    GET: { summary: 'Get the emulated time', success: ok(CLOCK), handler: time },
    POST: {
      summary: 'Change the emulated time',
      body: clockForm.schema,
      success: ok(CLOCK),
      handler: (request) => {
        moveClock(admin, clockForm(bodyOf(request), 'clock'))
        return time()
      },
    },
  })
  route(app, '/credentials/verify', {
    POST: {
      summary: 'Get the tunnel credential of a token',
      body: tokenForm.schema,
      success: ok(members({ id: TEXT, account: TEXT })),
      refusals: [404],
      handler: (request) => admin.verifyCredential(textOf(tokenForm(bodyOf(request), 'body'), 'token')),
    },
  })
  route(app, '/dns', {
    GET: {
      summary: 'Get the DNS table',
      success: ok(members({ records: list(DNS_RECORD) })),
      handler: () => ({ records: admin.dns() }),
    },
    PUT: {
      summary: 'Publish a DNS record',
      body: recordForm.schema,
      success: NO_CONTENT,
      handler: (request, reply) => {
        const record = recordForm(bodyOf(request), 'record')
        admin.putDns({ name: textOf(record, 'name'), type: textOf(record, 'type'), value: textOf(record, 'value') })
        return reply.code(204).send()
      },
    },
    DELETE: {
      summary: 'Remove the DNS records that match every given parameter',
      query: { name: TEXT, type: TEXT, value: TEXT },
      success: NO_CONTENT,
      handler: (request, reply) => {
        admin.deleteDns(textsInQuery(request, ['name', 'type', 'value']))
        return reply.code(204).send()
      },
    },
  })
}

/** `{advanceSeconds}`, `{set}` (RFC 3339) or `{reset: true}`. */
function moveClock(admin: Admin, { advanceSeconds, set, reset }: JsonObject): void {
  const given = [advanceSeconds, set, reset].filter((value) => value !== null)
  if (given.length !== 1) throw invalid('clock', 'must hold exactly one of advanceSeconds, set, reset')
  if (typeof advanceSeconds === 'number') {
    admin.advanceClock(advanceSeconds)
  } else if (typeof set === 'string') {
    const milliseconds = Date.parse(set)
    if (Number.isNaN(milliseconds)) throw invalid('clock.set', 'is not an RFC 3339 timestamp')
    admin.setClock(milliseconds)
  } else {
    admin.resetClock()
  }
}

const SEEDED = members({
  accounts: list(members({ account: TEXT, userId: TEXT, keyId: TEXT, apiKey: TEXT })),
  apiKeys: list(members({ id: TEXT, token: TEXT })),
  objects: { type: 'object', additionalProperties: TEXTS },
  bulk: list(members({ collection: TEXT, count: WHOLE_NUMBER })),
})

const SNAPSHOT: JsonSchema = {
  type: 'object',
  properties: {
    accounts: { type: 'object' },
    tokens: { type: 'array' },
    dns: { type: 'array' },
    meta: { type: 'object' },
  },
  required: ['accounts', 'tokens', 'dns', 'meta'],
}

/** Everything stored, at once. */
export function stateRoutes(app: FastifyInstance, admin: Admin): void {
  route(app, '/snapshot', {
    GET: { summary: 'Get everything stored, raw', success: ok(SNAPSHOT), handler: () => admin.snapshot() },
  })
  route(app, '/restore', {
    POST: {
      summary: 'Restore a snapshot',
      body: SNAPSHOT,
      success: NO_CONTENT,
      handler: (request, reply) => {
        admin.restore(bodyOf(request))
        return reply.code(204).send()
      },
    },
  })
  route(app, '/reset', {
    POST: {
      summary: 'Reset everything to the state after a first start',
      success: NO_CONTENT,
      handler: (_request, reply) => {
        admin.reset()
        return reply.code(204).send()
      },
    },
  })
  route(app, '/seed', {
    POST: {
      summary: 'Add objects, keys and accounts',
      body: SEED_SCHEMA,
      success: { status: 201, body: SEEDED },
      handler: (request, reply) => reply.code(201).send(admin.seed(readSeedSpec(bodyOf(request)))),
    },
  })
}
