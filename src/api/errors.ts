/**
 * Why a call to the management API failed, by HTTP class. The codes in its error bodies are not documented, so nothing
 * depends on them.
 */
export type ApiErrorCode =
  | 'Unauthorized' // 401
  | 'Forbidden' // 403
  | 'NotFound' // 404
  | 'Conflict' // 409
  | 'Invalid' // any other 4xx
  | 'RateLimited' // 429
  | 'ServerError' // 5xx
  | 'Timeout' // our own time-out, or 408
  | 'Network' // refused, reset, DNS, TLS
  | 'InvalidResponse' // not JSON, too large, or not the documented shape
  | 'Redirect' // 3xx: redirects are off
  | 'HostNotAllowed' // a URL outside the administrator's allow-list, or a foreign next_page_uri
  | 'NotLeader' // refused before it was sent: this process does not lead, or no longer leads
  | 'Suspended' // refused before it was sent: calls to the account are stopped
  | 'Aborted' // the caller aborted the call
  | 'Unlistable' // refused before it was sent, or a refused list: the collection cannot be listed

export interface ApiErrorOptions {
  readonly status?: number | undefined
  /** `error_code` of the body, for people only. */
  readonly errorCode?: string | undefined
  readonly operationId?: string | undefined
  readonly retryAfterMs?: number | undefined
  /**
   * True when the server certainly did not carry the request out: it was never sent, or was answered by a 4xx (not 408)
   * with an error in JSON. The outcome of a write that failed otherwise is unknown.
   */
  readonly definite: boolean
  readonly cause?: unknown
}

/**
 * A failed call to the management API. The message stays the same when the failure repeats (no times, no operation ids)
 * and holds no secret.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ApiErrorCode
  readonly status: number | undefined
  readonly errorCode: string | undefined
  readonly operationId: string | undefined
  readonly retryAfterMs: number | undefined
  readonly definite: boolean

  constructor(code: ApiErrorCode, message: string, options: ApiErrorOptions) {
    super(message, { cause: options.cause })
    this.code = code
    this.status = options.status
    this.errorCode = options.errorCode
    this.operationId = options.operationId
    this.retryAfterMs = options.retryAfterMs
    this.definite = options.definite
  }
}

/**
 * Whether the server refused a request for what it asks: an invalid value, a name that is taken, an object in use. The
 * contract shows no status codes (`management-api.md § Errors`), so 400, 409 and 422 do not tell these apart. Not
 * included: 401 and 403, which are about the key, and 404.
 */
export function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.code === 'Invalid' || error.code === 'Conflict')
}

/** Whether the server certainly did not carry a request out. After any other failure its outcome is unknown. */
export function isDefinite(error: unknown): error is ApiError {
  return error instanceof ApiError && error.definite
}

/** Whether an answer with this status means that the object is absent. The contract does not say which status does. */
export function saysAbsent(status: number): boolean {
  return status === 404 || status === 410
}

/** The error for an answer that does not match the contract. The request may have been carried out. */
export function invalid(call: string, what: string): ApiError {
  return new ApiError('InvalidResponse', `${call}: ${what}`, { definite: false })
}
