import type { FastifyInstance, FastifyRequest } from 'fastify'
import { View } from '../objects/view.ts'
import { type Caller, type Services, WriteContext } from '../objects/write-context.ts'
import type { Operations } from '../openapi/operation.ts'
import { isJsonObject, type Json, type JsonObject } from '../values/json.ts'
import { invalid, RequestError } from '../values/request-error.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Registers a path; methods that it does not support are answered with 405 and Allow instead of 404. */
export function route(app: FastifyInstance, url: string, operations: Operations): void {
  const allow = Object.keys(operations)
  for (const [method, operation] of Object.entries(operations)) {
    app.route({ method, url, handler: operation.handler, config: { operation } })
  }
  app.route({
    method: METHODS.filter((method) => !allow.includes(method)),
    url,
    handler: (request) => {
      throw new RequestError(
        'methodNotAllowed',
        `${request.method} is not allowed here, only ${allow.join(', ')}`,
        {},
        { allow: allow.join(', ') },
      )
    },
  })
}

/** A named parameter of the path; the route pattern guarantees that it exists. */
export function parameter(request: FastifyRequest, name: string): string {
  const { params } = request
  const value = typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined
  if (typeof value !== 'string') throw new Error(`the route has no parameter ${name}`)
  return value
}

export function idOf(request: FastifyRequest): string {
  return parameter(request, 'id')
}

export function contextOf(request: FastifyRequest, services: Services): WriteContext {
  return new WriteContext(services, callerOf(request), viewOf(request, services))
}

function callerOf(request: FastifyRequest): Caller {
  const caller = request.exchange?.caller
  if (caller === undefined) throw new Error('the request was routed without being authenticated')
  return caller
}

/** Addresses use the host that the client used. */
export function viewOf(request: FastifyRequest, services: Services): View {
  return new View(`${request.protocol}://${request.host}`, services, callerOf(request).account)
}

/** A whole number in the query; `fallback` if it is absent. */
export function numberInQuery(request: FastifyRequest, name: string, fallback: number): number {
  const text = new URLSearchParams(request.url.split('?')[1] ?? '').get(name)
  if (text === null) return fallback
  if (!/^\d{1,12}$/.test(text)) throw invalid(name, 'must be a whole number')
  return Number(text)
}

/** The named texts that are in the query. */
export function textsInQuery<T extends string>(
  request: FastifyRequest,
  names: readonly T[],
): Partial<Record<T, string>> {
  const query = new URLSearchParams(request.url.split('?')[1] ?? '')
  const result: Partial<Record<T, string>> = {}
  for (const name of names) {
    const value = query.get(name)
    if (value !== null) result[name] = value
  }
  return result
}

/** Largest request body, in bytes (`api-decisions.md § Requests`). */
export const BODY_LIMIT = 1024 * 1024

/** JSON is the only body type. An empty body is accepted here, since clients also send the header on GET and DELETE. */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    if (body.length === 0) {
      done(null, undefined)
      return
    }
    try {
      done(null, parse(body))
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)), undefined)
    }
  })
}

function parse(body: string | Buffer): unknown {
  try {
    const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body)
    return JSON.parse(text)
  } catch (error) {
    throw new RequestError('malformedJson', 'the request body is not valid JSON in UTF-8', {}, {}, { cause: error })
  }
}

/** The body as an object; 400 if there is none or it is other JSON. */
export function bodyOf(request: FastifyRequest): JsonObject {
  const { body } = request
  if (body === undefined) throw new RequestError('malformedJson', 'a JSON object is required as the request body')
  if (!isJsonObject(body)) throw new RequestError('notAnObject', 'the request body must be a JSON object')
  return body
}

/** Larger bodies are not kept in the journal, which holds many. In bytes. */
const RECORDED_LIMIT = 64 * 1024

/** The body for the journal: an object, null if there was none, or its size if it is too large to keep. */
export function recordedBody(request: FastifyRequest): Json {
  const { body } = request
  if (!isJsonObject(body)) return null
  const size = Number(request.headers['content-length'] ?? JSON.stringify(body).length)
  return size <= RECORDED_LIMIT ? body : `[${size} bytes]`
}
