import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isJsonObject, type Json, type JsonObject } from '../values/json.ts'
import { RequestError } from '../values/request-error.ts'

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
