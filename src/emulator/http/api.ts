import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Clock, sleep } from '../../util/clock.ts'
import type { ActiveFault, Faults } from '../faults/faults.ts'
import { applyDue } from '../objects/operations.ts'
import type { Caller, Services } from '../objects/write-context.ts'
import { IpRestrictions } from '../restrictions/ip-restrictions.ts'
import { RequestError } from '../values/request-error.ts'
import { admit, admitSource, Callers, checkVersion, type SourceOptions } from './authenticate.ts'
import { collectionRoutes } from './collection-routes.ts'
import { type Journal, type JournalEntry, withoutSecrets } from './journal.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { recordedBody } from './route.ts'
import { answerError, type FailureLog } from './server.ts'
import { actAfter, actBefore, actUnread } from './wire-faults.ts'

export interface ApiOptions {
  readonly services: Services
  readonly journal: Journal
  readonly faults: Faults
  /** The machine's clock: latency, pauses of faults, journal times. */
  readonly clock: Clock
  /** Lower-case names of the headers that may carry the version. */
  readonly versionHeaders: readonly string[]
  /** Delay of each request before it is processed, in milliseconds. */
  readonly latencyMs: number
  readonly rateLimiter: RateLimiter | undefined
  /** Whether the last address of X-Forwarded-For counts as the source of a request. */
  readonly trustForwardedFor: boolean
  readonly logFailure: FailureLog
  /** Aborted when the emulator stops, so that no delayed request is processed afterwards. */
  readonly stopping: AbortSignal
}

/** What the hooks below use. */
interface Parts extends ApiOptions, SourceOptions {
  readonly callers: Callers
}

/**
 * The API: every request is recorded, meets its fault, is authenticated, checked against the IP restrictions,
 * rate-limited and checked for the version, in this order, before its body is read. A fastify plugin, so that the admin
 * surface has none of this.
 */
export function apiPlugin(options: ApiOptions): (app: FastifyInstance) => Promise<void> {
  const parts: Parts = {
    ...options,
    callers: new Callers(options.services.store),
    restrictions: new IpRestrictions(options.services.store, 'api', options.services.choices),
  }
  return async (app) => {
    app.decorateRequest('exchange', undefined)
    app.addHook('onRequest', async (request, reply) => {
      const proceed = await receive(request, reply, parts)
      return proceed ? undefined : reply
    })
    app.addHook('preHandler', async (request, reply) => {
      const proceed = await beginProcessing(request, reply, parts)
      return proceed ? undefined : reply
    })
    app.addHook('onSend', (request, reply, payload, done) => {
      send(request, reply, payload, options).then(
        (proceed) => {
          if (proceed) done(null, payload)
        },
        (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
      )
    })
    const { services, clock, logFailure } = options
    const answered = { choices: services.choices, logFailure, now: () => clock.now() }
    app.setErrorHandler((error, request, reply) => {
      answerError(error, request, reply, answered)
    })
    app.setNotFoundHandler((request) => {
      throw new RequestError('unknownRoute', `there is no path ${request.method} ${pathOf(request)}`)
    })
    for (const resource of services.resources.all) {
      if (resource.served) collectionRoutes(app, resource, services)
    }
  }
}

/** Runs before the body is read. False when the request was answered or its connection cut. */
async function receive(request: FastifyRequest, reply: FastifyReply, options: Parts): Promise<boolean> {
  const { callers, journal, faults, clock } = options
  const operationId = request.id
  reply.header('operation-id', operationId)
  const identity = callers.identify(request.headers)
  const fault = faults.meet(request.method, pathOf(request))
  const entry: JournalEntry = {
    seq: journal.next(),
    method: request.method,
    path: pathOf(request),
    query: request.url.slice(pathOf(request).length),
    time: new Date(clock.now()).toISOString(),
    keyId: identity?.keyId ?? null,
    account: identity?.account ?? null,
    body: null,
    status: null,
    responseId: null,
    answeredSeq: null,
    fault: fault?.id ?? null,
    operationId,
  }
  journal.add(entry)
  const exchange: Exchange = { entry, fault, caller: undefined }
  request.exchange = exchange
  if (fault !== undefined && !(await actUnread(fault, request, reply))) return false
  if (options.latencyMs > 0) await sleep(clock, options.latencyMs, options.stopping)

  const caller = admit(identity)
  admitSource(request, reply, caller, options)
  options.rateLimiter?.take(caller.keyId)
  checkVersion(request.headers, options.versionHeaders)
  exchange.caller = caller
  return true
}

/** Runs once the body is read. False when the connection was cut. */
async function beginProcessing(request: FastifyRequest, reply: FastifyReply, options: Parts): Promise<boolean> {
  const { exchange } = request
  if (exchange === undefined) return true
  exchange.entry.body = withoutSecrets(recordedBody(request))
  if (exchange.fault !== undefined && !(await actBefore(exchange.fault, request, reply, options))) return false
  // Checked again: the key may have been deleted, or a restriction created, while the request was delayed.
  exchange.caller = admit(options.callers.identify(request.headers))
  admitSource(request, reply, exchange.caller, options)
  applyDue(options.services)
  return true
}

/** Runs when the answer is decided. False when the connection needs no further answer. */
async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  options: ApiOptions,
): Promise<boolean> {
  const { exchange } = request
  if (exchange === undefined) return true
  const { entry, fault } = exchange
  const text = typeof payload === 'string' ? payload : ''
  entry.status = reply.statusCode
  entry.responseId = idIn(text)
  if (fault !== undefined && !(await actAfter(fault, request, reply, { text, ...options }))) return false
  entry.answeredSeq = options.journal.next()
  return true
}

function idIn(text: string): string | null {
  return /^\{"id":"([^"]+)"/.exec(text)?.[1] ?? null
}

function pathOf(request: FastifyRequest): string {
  const end = request.url.indexOf('?')
  return end < 0 ? request.url : request.url.slice(0, end)
}

/** What is known about one request to the API while it is being answered. */
export interface Exchange {
  readonly entry: JournalEntry
  /** The fault that this request meets, if any. */
  readonly fault: ActiveFault | undefined
  /** Set once the key is known to be valid. */
  caller: Caller | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange | undefined
  }
}
