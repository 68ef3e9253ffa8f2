import type { FastifyInstance } from 'fastify'
import { type JsonSchema, list, members, TEXT, TEXTS, WHOLE_NUMBER } from '../fields/json-schema.ts'
import { bodyOf } from '../http/body.ts'
import { route } from '../http/route.ts'
import { NO_CONTENT, ok } from '../openapi/operation.ts'
import type { Admin } from './admin.ts'
import { readSeedSpec, SEED_SCHEMA } from './seed.ts'

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
