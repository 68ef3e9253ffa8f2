import { invalid } from '../errors.ts'
import { DESCRIBED_WITHOUT_LIMITS, SHOWN_TEXTS } from '../fields/common.ts'
import { optional, type Reader, reader } from '../fields/field.ts'
import { nullable, TEXT, TEXT_MAP } from '../fields/json-schema.ts'
import { integer, mapOf, string } from '../fields/readers.ts'
import { isJsonObject, type Json, type JsonObject, textOf } from '../json.ts'
import type { Resource } from './resource.ts'

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Header names are returned lower-cased (`api-decisions.md § Values`); names that differ only in case are the same. */
const headers: Reader<JsonObject> = reader(TEXT_MAP, (value, at) => {
  const result: JsonObject = {}
  for (const [name, content] of Object.entries(mapOf(string)(value, at))) {
    const lower = name.toLowerCase()
    if (!HEADER_NAME.test(name)) throw invalid(`${at}.${name}`, 'is not a header name')
    if (Object.hasOwn(result, lower)) throw invalid(`${at}.${name}`, 'is named twice')
    if (/[\r\n\0]/.test(content)) throw invalid(`${at}.${name}`, 'a header value must not contain line breaks')
    result[lower] = content
  }
  return result
})

/** The headers with a `content-type`. */
function typed(given: Json | undefined): JsonObject {
  return { 'content-type': 'text/plain', ...(isJsonObject(given) ? given : {}) }
}

/** Backends that answer every request with fixed content. */
export const httpResponseBackends: Resource = {
  path: 'backends/http_response',
  listKey: 'backends',
  idPrefix: 'bkdhr',
  eventName: 'http_response_backend',
  served: true,
  fields: {
    ...DESCRIBED_WITHOUT_LIMITS,
    body: optional(string, null),
    headers: optional(headers, null),
    status_code: optional(integer(200, 999), 200),
  },
  shows: { ...SHOWN_TEXTS, body: nullable(TEXT), headers: nullable(TEXT_MAP), status_code: integer(200, 999).schema },
  render: (backend, { choices }) => ({
    description: textOf(backend, 'description'),
    metadata: textOf(backend, 'metadata'),
    body: backend.body ?? null,
    headers: choices['content-type'] === 'added' ? typed(backend.headers) : (backend.headers ?? null),
    status_code: backend.status_code ?? 200,
  }),
}
