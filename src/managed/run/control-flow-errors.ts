import type { Reason } from '../descriptor/reasons.ts'

/**
 * Nothing Culvert does will help until someone changes something. Retried slowly, so that a lifted quota heals by
 * itself. The message says what is wrong with which value, and the remedy.
 */
export class TerminalError extends Error {
  override readonly name = 'TerminalError'
  readonly code: Reason

  constructor(code: Reason, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** Something else has to happen first. The event that ends the wait wakes the CR; `retryMs` is the fallback. */
export class WaitError extends Error {
  override readonly name = 'WaitError'
  readonly code: Reason
  readonly retryMs: number
  /**
   * The wait is over in a moment and not worth a status write: the account is being listed after a start, an absence is
   * being confirmed, or the target of a reference is as new as the CR.
   */
  readonly silent: boolean

  constructor(code: Reason, message: string, retryMs: number, silent = false) {
    super(message)
    this.code = code
    this.retryMs = retryMs
    this.silent = silent
  }

  /** The same wait, reported in the conditions. */
  visible(): WaitError {
    return new WaitError(this.code, this.message, this.retryMs)
  }
}

/** Another client wrote the CR first: read it again and start over. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError'
  readonly code = 'Conflict'

  constructor(cause: unknown) {
    super('the resource changed while it was being reconciled', { cause })
  }
}
