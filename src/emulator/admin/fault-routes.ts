import type { FastifyInstance } from 'fastify'
import { FAULT_SCHEMA, readFaultSpec } from '../faults/fault-spec.ts'
import { list, members, TEXT, WHOLE_NUMBER } from '../fields/json-schema.ts'
import { bodyOf, numberInQuery, parameter, route } from '../http/route.ts'
import { NO_CONTENT, ok } from '../openapi/operation.ts'
import type { Admin } from './admin.ts'

const LONGEST_WAIT_MS = 600_000

const FAULT = members({ id: TEXT, spec: { type: 'object' }, matches: WHOLE_NUMBER, hits: WHOLE_NUMBER })

/** Faults that act on requests and certificates. */
export function faultRoutes(app: FastifyInstance, admin: Admin): void {
  route(app, '/faults', {
    GET: {
      summary: 'List the active faults',
      success: ok(members({ faults: list(FAULT) })),
      handler: () => ({ faults: admin.faults() }),
    },
    POST: {
      summary: 'Set a fault',
      body: FAULT_SCHEMA,
      success: { status: 201, body: FAULT },
      handler: (request, reply) => reply.code(201).send(admin.addFault(readFaultSpec(bodyOf(request)))),
    },
    DELETE: {
      summary: 'Delete all faults',
      success: NO_CONTENT,
      handler: (_request, reply) => {
        admin.clearFaults()
        return reply.code(204).send()
      },
    },
  })
  route(app, '/faults/:id', {
    GET: { summary: 'Get a fault', success: ok(FAULT), handler: (request) => admin.fault(parameter(request, 'id')) },
    DELETE: {
      summary: 'Delete a fault',
      success: NO_CONTENT,
      handler: (request, reply) => {
        admin.deleteFault(parameter(request, 'id'))
        return reply.code(204).send()
      },
    },
  })
  route(app, '/faults/:id/release', {
    POST: {
      summary: 'Release requests that the fault holds',
      success: NO_CONTENT,
      handler: (request, reply) => {
        admin.releaseFault(parameter(request, 'id'))
        return reply.code(204).send()
      },
    },
  })
  route(app, '/faults/:id/wait', {
    GET: {
      summary: 'Wait until the fault has acted that often, or for the timeout, and return it',
      query: { hits: WHOLE_NUMBER, timeoutMs: WHOLE_NUMBER },
      success: ok(FAULT),
      handler: (request) => {
        const hits = numberInQuery(request, 'hits', 1)
        const timeoutMs = Math.min(LONGEST_WAIT_MS, numberInQuery(request, 'timeoutMs', 30_000))
        return admin.waitForFault(parameter(request, 'id'), hits, timeoutMs)
      },
    },
  })
}
