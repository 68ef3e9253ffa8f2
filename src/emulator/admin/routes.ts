import type { FastifyInstance, FastifyRequest } from 'fastify'
import { invalid, RequestError } from '../errors.ts'
import { anything, integer, nonEmptyString, object, string } from '../fields/readers.ts'
import { bearerToken } from '../http/authenticate.ts'
import { bodyOf } from '../http/body.ts'
import { parameter, route } from '../http/route.ts'
import { type JsonObject, textOf } from '../json.ts'
import { sameSecret } from '../tokens.ts'
import type { Admin } from './admin.ts'
import { readFaultSpec } from './fault-spec.ts'
import { isLoopback } from './loopback.ts'
import { readSeedSpec } from './seed.ts'

/** A snapshot holds everything, so it may be larger than a request to the API. */
const ADMIN_BODY_LIMIT = 512 * 1024 * 1024
const LONGEST_WAIT_MS = 600_000
/** How many deliveries one answer holds at most. */
const MOST_DELIVERIES = 1000

export interface AdminSurfaceOptions {
  readonly admin: Admin
  readonly token: string
  /** Whether callers from other machines are answered. */
  readonly remote: boolean
}

/** The admin surface over HTTP; see `Admin` for what each operation means. */
export function adminPlugin(options: AdminSurfaceOptions): (app: FastifyInstance) => Promise<void> {
  const { admin, token, remote } = options
  return async (app) => {
    app.addHook('onRoute', (registered) => {
      registered.bodyLimit = ADMIN_BODY_LIMIT
    })
    app.addHook('onRequest', async (request) => {
      if (!remote && !isLoopback(request.raw.socket.remoteAddress)) {
        throw new RequestError('unknownRoute', 'there is no such path')
      }
      const given = bearerToken(request.headers)
      if (given === undefined || !sameSecret(given, token)) {
        throw new RequestError('unauthenticated', 'the admin surface needs its own bearer token')
      }
    })
    app.setNotFoundHandler((request) => {
      throw new RequestError('unknownRoute', `there is no path ${request.method} ${request.url}`)
    })
    observationRoutes(app, admin)
    faultRoutes(app, admin)
    worldRoutes(app, admin)
  }
}

function observationRoutes(app: FastifyInstance, admin: Admin): void {
  route(app, '/journal', {
    GET: (request) => ({ entries: admin.journal(numberInQuery(request, 'since', 0)) }),
    DELETE: (_request, reply) => {
      admin.clearJournal()
      return reply.code(204).send()
    },
  })
  route(app, '/deliveries', {
    GET: (request) => ({
      deliveries: admin.deliveries({
        ...textsInQuery(request, ['destination', 'type']),
        since: numberInQuery(request, 'since', 0),
        limit: Math.min(MOST_DELIVERIES, numberInQuery(request, 'limit', 100)),
      }),
    }),
    DELETE: (_request, reply) => {
      admin.clearDeliveries()
      return reply.code(204).send()
    },
  })
  route(app, '/snapshot', { GET: () => admin.snapshot() })
  route(app, '/restore', {
    POST: (request, reply) => {
      admin.restore(bodyOf(request))
      return reply.code(204).send()
    },
  })
  route(app, '/reset', {
    POST: (_request, reply) => {
      admin.reset()
      return reply.code(204).send()
    },
  })
  route(app, '/seed', { POST: (request, reply) => reply.code(201).send(admin.seed(readSeedSpec(bodyOf(request)))) })
}

function faultRoutes(app: FastifyInstance, admin: Admin): void {
  route(app, '/faults', {
    GET: () => ({ faults: admin.faults() }),
    POST: (request, reply) => reply.code(201).send(admin.addFault(readFaultSpec(bodyOf(request)))),
    DELETE: (_request, reply) => {
      admin.clearFaults()
      return reply.code(204).send()
    },
  })
  route(app, '/faults/:id', {
    GET: (request) => admin.fault(parameter(request, 'id')),
    DELETE: (request, reply) => {
      admin.deleteFault(parameter(request, 'id'))
      return reply.code(204).send()
    },
  })
  route(app, '/faults/:id/release', {
    POST: (request, reply) => {
      admin.releaseFault(parameter(request, 'id'))
      return reply.code(204).send()
    },
  })
  route(app, '/faults/:id/wait', {
    GET: (request) => {
      const hits = numberInQuery(request, 'hits', 1)
      const timeoutMs = Math.min(LONGEST_WAIT_MS, numberInQuery(request, 'timeoutMs', 30_000))
      return admin.waitForFault(parameter(request, 'id'), hits, timeoutMs)
    },
  })
}

const clockForm = object({
  advanceSeconds: { read: integer(-100 * 366 * 86_400, 100 * 366 * 86_400), absent: null },
  set: { read: nonEmptyString, absent: null },
  reset: { read: anything, absent: null },
})
const recordForm = object({ name: { read: nonEmptyString }, type: { read: nonEmptyString }, value: { read: string } })

const tokenForm = object({ token: { read: nonEmptyString } })

function worldRoutes(app: FastifyInstance, admin: Admin): void {
  const time = (): JsonObject => ({ now: new Date(admin.now()).toISOString() })
  route(app, '/clock', {
    GET: time,
    POST: (request) => {
      moveClock(admin, clockForm(bodyOf(request), 'clock'))
      return time()
    },
  })
  route(app, '/credentials/verify', {
    POST: (request) => admin.verifyCredential(textOf(tokenForm(bodyOf(request), 'body'), 'token')),
  })
  route(app, '/dns', {
    GET: () => ({ records: admin.dns() }),
    PUT: (request, reply) => {
      const record = recordForm(bodyOf(request), 'record')
      admin.putDns({ name: textOf(record, 'name'), type: textOf(record, 'type'), value: textOf(record, 'value') })
      return reply.code(204).send()
    },
    DELETE: (request, reply) => {
      admin.deleteDns(textsInQuery(request, ['name', 'type', 'value']))
      return reply.code(204).send()
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

function numberInQuery(request: FastifyRequest, name: string, fallback: number): number {
  const text = new URLSearchParams(request.url.split('?')[1] ?? '').get(name)
  if (text === null) return fallback
  if (!/^\d{1,12}$/.test(text)) throw invalid(name, 'must be a whole number')
  return Number(text)
}

function textsInQuery<T extends string>(request: FastifyRequest, names: readonly T[]): Partial<Record<T, string>> {
  const query = new URLSearchParams(request.url.split('?')[1] ?? '')
  const result: Partial<Record<T, string>> = {}
  for (const name of names) {
    const value = query.get(name)
    if (value !== null) result[name] = value
  }
  return result
}
