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
