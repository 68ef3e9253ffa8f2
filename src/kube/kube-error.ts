import { isObject } from '../util/json.ts'

/**
 * Why a call to the Kubernetes API failed. The outcome of a write is unknown for `Timeout`, `Network` and
 * `Unavailable`.
 */
export type KubeErrorCode =
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Invalid'
  | 'TooManyRequests'
  | 'Unavailable'
  | 'Timeout'
  | 'Network'
  | 'NotLeader' // refused before it was sent: this process does not lead, or no longer leads
  | 'Aborted' // aborted by the caller's signal, or the client is closed
  | 'Unexpected'

export interface KubeErrorOptions {
  readonly status?: number | undefined
  /** Machine-readable `reason` of the Status object, if there is one. */
  readonly reason?: string | undefined
  readonly retryAfterMs?: number | undefined
  /** Whether the admission policy for the operator refused the write. Default: false. */
  readonly isRefusedWrite?: boolean
  readonly cause?: unknown
}

/**
 * A failed call to the Kubernetes API. The message holds the method, path and the server's message, but no headers and
 * no request bodies.
 */
export class KubeError extends Error {
  override readonly name = 'KubeError'
  readonly code: KubeErrorCode
  readonly status: number | undefined
  readonly reason: string | undefined
  readonly retryAfterMs: number | undefined
  readonly isRefusedWrite: boolean

  constructor(code: KubeErrorCode, message: string, options: KubeErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.status = options.status
    this.reason = options.reason
    this.retryAfterMs = options.retryAfterMs
    this.isRefusedWrite = options.isRefusedWrite ?? false
  }
}

/** Whether the same request may succeed later, although nothing that it names has changed. */
export function isPassing(failure: KubeError): boolean {
  switch (failure.code) {
    case 'TooManyRequests':
    case 'Unavailable':
    case 'Timeout':
    case 'Network':
      return true
    case 'Unauthorized':
    case 'Forbidden':
    case 'NotFound':
    case 'AlreadyExists':
    case 'Conflict':
    case 'Gone':
    case 'Invalid':
    case 'NotLeader':
    case 'Aborted':
    case 'Unexpected':
      return false
  }
}

/** Longest parts of a server's message that are kept. A refused patch is quoted in full before the reason. */
const MAX_MESSAGE = { head: 512, tail: 512 }

/** The parts of a Status object that are read. */
interface Status {
  readonly message?: unknown
  readonly reason?: unknown
  readonly code?: unknown
  readonly details?: { readonly retryAfterSeconds?: unknown; readonly causes?: unknown } | null
}

export interface Response {
  readonly status: number
  readonly retryAfter?: string | undefined
  /** The raw body; read only for the Status object in it. */
  readonly body: string
}

/**
 * The error for a response outside 2xx. `call` gives the method and path; `now` is wall time, for a date in
 * Retry-After.
 */
export function errorFromResponse(call: string, response: Response, now: number): KubeError {
  const status = parseStatus(response.body)
  return errorFromStatus(call, status, response.status, retryAfterMs(response.retryAfter, now))
}

/** The error for a Status object that a watch delivered as a frame. */
export function errorFromFrame(call: string, object: unknown): KubeError {
  const status = isObject(object) ? (object as Status) : {}
  return errorFromStatus(call, status, typeof status.code === 'number' ? status.code : 0, undefined)
}

function errorFromStatus(call: string, status: Status, httpStatus: number, retryAfter: number | undefined): KubeError {
  const reason = typeof status.reason === 'string' ? status.reason : undefined
  const words = typeof status.message === 'string' ? shortened(status.message) : `HTTP ${httpStatus}`
  const seconds = status.details?.retryAfterSeconds
  return new KubeError(codeOf(httpStatus, reason, status), `${call}: ${words}`, {
    status: httpStatus === 0 ? undefined : httpStatus,
    reason,
    retryAfterMs: retryAfter ?? (typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined),
  })
}

function shortened(message: string): string {
  const { head, tail } = MAX_MESSAGE
  return message.length <= head + tail ? message : `${message.slice(0, head)}…${message.slice(-tail)}`
}

function codeOf(httpStatus: number, reason: string | undefined, status: Status): KubeErrorCode {
  switch (httpStatus) {
    case 401:
      return 'Unauthorized'
    case 403:
      return 'Forbidden'
    case 404:
      return 'NotFound'
    case 408:
    case 504:
      return 'Timeout'
    case 409:
      return reason === 'AlreadyExists' ? 'AlreadyExists' : 'Conflict'
    case 410:
      return 'Gone'
    case 429:
      return 'TooManyRequests'
  }
  if (httpStatus === 422 && isUidPrecondition(status)) return 'Conflict'
  if (httpStatus >= 400 && httpStatus < 500) return 'Invalid'
  if (httpStatus >= 500) return 'Unavailable'
  return reason === 'Expired' || reason === 'Gone' ? 'Gone' : 'Unexpected'
}

/** A patch with the uid of a deleted object of the same name is refused as a change of an immutable field. */
function isUidPrecondition(status: Status): boolean {
  const causes = status.details?.causes
  return Array.isArray(causes) && causes.some((cause: unknown) => isObject(cause) && cause.field === 'metadata.uid')
}

/** The error for a request without a complete answer. It keeps the cause but not its text. */
export function errorFromCause(call: string, cause: unknown): KubeError {
  if (cause instanceof KubeError) return cause
  const code = systemCode(cause)
  const timedOut = code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT'
  return new KubeError(timedOut ? 'Timeout' : 'Network', `${call}: ${code ?? 'connection failed'}`, { cause })
}

function systemCode(cause: unknown): string | undefined {
  return isObject(cause) && typeof cause.code === 'string' ? cause.code : undefined
}

/** Milliseconds of a Retry-After header: seconds or an HTTP date; undefined when absent or unreadable. */
function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

function parseStatus(body: string): Status {
  try {
    const parsed: unknown = JSON.parse(body)
    return isObject(parsed) && parsed.kind === 'Status' ? (parsed as Status) : {}
  } catch {
    // A proxy's HTML page: it holds no message of the API server.
    return {}
  }
}
