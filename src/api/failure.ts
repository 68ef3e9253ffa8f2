import { isObject } from '../util/json.ts'
import { printable } from '../util/printable.ts'
import { ConnectFailed } from './dispatcher.ts'
import { ApiError, type ApiErrorCode } from './errors.ts'
import type { RequestBody } from './types.ts'

const MAX_MESSAGE = 512
const MAX_CODE = 64

/** What an error message may say about a call (method and collection), and what must not appear in it. */
export interface CallContext {
  /** `POST ip_policies` */
  readonly label: string
  readonly secrets: readonly string[]
}

/** The part of an answer from which an error is made. */
export interface FailedAnswer {
  readonly status: number
  /** The parsed body; undefined when it is not JSON. */
  readonly body: unknown
  /** The body if it is plain text and not JSON: for people, since an intermediary may have answered. */
  readonly sentence?: string | undefined
  readonly operationId: string | undefined
  readonly retryAfterMs: number | undefined
}

/**
 * The error for an answer outside 2xx. `definite` means that the request was refused and not carried out: a 4xx other
 * than 408 whose body is a JSON error of any shape. An HTML page or an empty body may come from a proxy that did
 * forward the request.
 */
export function answerError(call: CallContext, answer: FailedAnswer): ApiError {
  const { status } = answer
  const error = apiErrorBody(answer.body)
  const told = error?.message ?? answer.sentence
  const operationId = answer.operationId ?? operationIdFor(call, error?.operationId)
  const secrets = operationId === undefined ? call.secrets : [...call.secrets, operationId]
  const said = told === undefined ? '' : cut(redact(printable(told).trim(), secrets), MAX_MESSAGE)
  return new ApiError(codeOf(status), `${call.label}: ${said === '' ? describe(status) : said}`, {
    status,
    errorCode: error?.code === undefined ? undefined : cut(redact(printable(error.code), call.secrets), MAX_CODE),
    operationId,
    retryAfterMs: answer.retryAfterMs,
    definite: status >= 400 && status < 500 && status !== 408 && error !== undefined,
  })
}

/** An operation id, made safe for logs and traces: a server that echoes what it was sent could put the key there. */
export function operationIdFor(call: CallContext, sent: string | undefined): string | undefined {
  return sent === undefined ? undefined : cut(redact(printable(sent), call.secrets), MAX_CODE)
}

/** The error for a request that got no answer, or a broken one. */
export function networkError(call: CallContext, cause: unknown): ApiError {
  return new ApiError('Network', `${call.label}: ${networkWords(cause)}`, {
    definite: nothingSent(cause),
    cause,
  })
}

function networkWords(cause: unknown): string {
  // Has no code of its own, and undici words it differently from case to case.
  if (chain(cause).some(({ name }) => name === 'HTTPParserError')) return 'what the server sent is not HTTP'
  const code = rootCode(cause)
  if (/CERT|ISSUER|ALTNAME/.test(code))
    return `the server's certificate is not trusted (${code}): check caBundle and the host name`
  return NETWORK_WORDS[code] ?? `the connection failed (${code})`
}

interface ApiErrorBody {
  readonly message: string | undefined
  readonly code: string | undefined
  readonly operationId: string | undefined
}

/**
 * Members in which JSON error bodies carry the message for people, and their code. The contract shows no error body.
 */
const MESSAGES = [
  'msg',
  'message',
  'detail',
  'error_description',
  'title',
  'error',
  'errors',
  'reason',
  'description',
] as const
const ERROR_CODES = ['error_code', 'code', 'type', 'error'] as const
/** How deep, and how far into a list, a message is searched for. */
const SEARCHED = 4

/** Reads an error body of any shape in which something is said; undefined when nothing is. */
function apiErrorBody(body: unknown): ApiErrorBody | undefined {
  if (Array.isArray(body)) {
    const message = textIn(body, SEARCHED)
    return message === undefined ? undefined : { message, code: undefined, operationId: undefined }
  }
  if (!isObject(body)) return undefined
  const { error, details, status_code: status } = body
  const inner = isObject(error) ? error : body
  const message = textIn(inner, SEARCHED)
  const code = codeAmong(inner)
  if (message === undefined && code === undefined && typeof status !== 'number') return undefined
  const operationId = isObject(details) ? details.operation_id : undefined
  return {
    message,
    code: code === message ? undefined : code,
    operationId: typeof operationId === 'string' ? operationId : undefined,
  }
}

/** The first message in a text, in the entries of a list, or in the known members of an object. */
function textIn(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  if (depth === 0) return undefined
  const inside = Array.isArray(value) ? value.slice(0, SEARCHED) : isObject(value) ? membersOf(value) : []
  for (const each of inside) {
    const text = textIn(each, depth - 1)
    if (text !== undefined) return text
  }
  return undefined
}

function membersOf(body: Readonly<Record<string, unknown>>): readonly unknown[] {
  return MESSAGES.map((name) => (Object.hasOwn(body, name) ? body[name] : undefined))
}

function codeAmong(body: Readonly<Record<string, unknown>>): string | undefined {
  const codes = ERROR_CODES.map((name) => body[name])
  const found = codes.find((value) => typeof value === 'number' || (typeof value === 'string' && value !== ''))
  return found === undefined ? undefined : String(found)
}

function codeOf(status: number): ApiErrorCode {
  if (status < 400) return 'Redirect'
  if (status >= 500) return 'ServerError'
  return CODES[status] ?? 'Invalid'
}

const CODES: Readonly<Record<number, ApiErrorCode>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  410: 'NotFound',
  408: 'Timeout',
  409: 'Conflict',
  429: 'RateLimited',
}

function describe(status: number): string {
  if (status < 400) return `the API answered with a redirect (${status}), and redirects are not followed`
  return `the API answered ${status} without an error message`
}

/** Stable messages: undici's own contain addresses and ports that change from one failure to the next. */
const NETWORK_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name could not be looked up',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection could not be established in time',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
}

/** The innermost code, since wrappers carry codes of their own. */
function rootCode(error: unknown): string {
  const codes = chain(error).flatMap((link) => (typeof link.code === 'string' ? [link.code] : []))
  return codes.at(-1) ?? 'unknown'
}

/**
 * True only when no byte of the request can have been sent: the connection (or the proxy's tunnel) was never
 * established. A system error of `connect` or `getaddrinfo` cannot come from a connection that was in use.
 */
function nothingSent(error: unknown): boolean {
  return chain(error).some(
    (link) =>
      link instanceof ConnectFailed ||
      link.syscall === 'connect' ||
      link.syscall === 'getaddrinfo' ||
      link.code === 'UND_ERR_PRX_CONN' ||
      link.code === 'UND_ERR_PRX_TLS',
  )
}

interface Link extends Error {
  readonly code?: unknown
  readonly syscall?: unknown
}

/** The error and its causes, outermost first. */
function chain(error: unknown): readonly Link[] {
  const links: Link[] = []
  let link = error
  // Bounded, since a chain of causes may contain a cycle.
  while (link instanceof Error && links.length < 8) {
    links.push(link as Link)
    link = link.cause
  }
  return links
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}

/** The API does not treat the id of an access key as secret, but like the key it comes from a Secret. */
const SECRET_FIELD = /secret|token|api_?key|access_?key|password|authorization|cookie/i

/** Every string in `body` under a field whose name suggests a secret, at any depth. */
export function secretsIn(body: RequestBody): string[] {
  const found: string[] = []
  const visit = (value: unknown, secret: boolean): void => {
    if (typeof value === 'string') {
      if (secret && value !== '') found.push(value)
      return
    }
    if (value === null || typeof value !== 'object') return
    for (const [key, member] of Object.entries(value)) {
      visit(member, secret || (!Array.isArray(value) && SECRET_FIELD.test(key)))
    }
  }
  visit(body, false)
  return found
}

/**
 * `text` with each of `secrets` replaced, longest first, so that no part of a secret that contains another one remains.
 */
export function redact(text: string, secrets: readonly string[]): string {
  const longestFirst = secrets.filter((secret) => secret !== '').sort((a, b) => b.length - a.length)
  return longestFirst.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}

/** The longest `Retry-After` that is honoured. A server that asks for more gets the next request after this time. */
export const MAX_RETRY_AFTER_MS = 10 * 60_000

/**
 * Milliseconds that a `Retry-After` header asks to wait: whole seconds or an HTTP date (RFC 9110 § 10.2.3), at most ten
 * minutes. Undefined when absent or unreadable; 0 for a date in the past.
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim()
  if (text === undefined || text === '') return undefined
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_AFTER_MS)
  // Date.parse alone would also read "-5" or "1.5" as a date.
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), MAX_RETRY_AFTER_MS)
}
