import type { ApiError } from '../../api/errors.ts'
import type { UnlistableError } from '../../api/list-refusals.ts'
import { type Reason, reasons } from '../descriptor/reasons.ts'
import type { Blocked } from '../run/session.ts'
import type { Orphan } from './resync.ts'

/** The result of one check of an account. */
export type Finding = ReadyFinding | AccountProblem

/** The account is ours, and can be used. */
export interface ReadyFinding {
  readonly type: 'ready'
  readonly orphans: readonly Orphan[]
  /** Why each closed collection is that is in use. */
  readonly closed: readonly UnlistableError[]
  readonly fingerprint: string
  /** Why use of the account was blocked when its identity was checked. */
  readonly judged: Blocked | undefined
}

/** The API asked for a pause: what is known of the account stays valid. */
export interface Held {
  readonly type: 'held'
  /** Undefined: over in a moment. */
  readonly message: string | undefined
  readonly retryMs: number
}

export interface AccountProblem {
  readonly type: 'problem'
  readonly reason: Reason
  readonly message: string
  /** Lasts until a person changes something. */
  readonly stalled: boolean
  readonly retryMs: number
}

const LONGEST_RETRY_MS = 60_000
const FIRST_RETRY_MS = 5_000

export function problem(reason: Reason, message: string, stalled: boolean, retryMs = LONGEST_RETRY_MS): AccountProblem {
  return { type: 'problem', reason, message, stalled, retryMs }
}

/** A list that was not made because the API asked for a pause, or was aborted because the account has changed. */
export function heldBy(error: ApiError): Held | undefined {
  if (error.code === 'Aborted') return { type: 'held', message: undefined, retryMs: 1 }
  if (error.code !== 'RateLimited') return undefined
  return {
    type: 'held',
    message: `${error.message}: Culvert retries after the pause`,
    retryMs: (error.retryAfterMs ?? LONGEST_RETRY_MS) + 1,
  }
}

/**
 * Interprets a failed list as a problem of the account.
 * @param restriction name of an enforced restriction of calls to the API, if one is known
 */
export function listProblem(error: ApiError, retryMs: number, restriction?: string): AccountProblem {
  const reason = reasonOf(error)
  const message = `${error.message}: ${remedyFor(error, restriction)}`
  return problem(reason, message, reason === reasons.Unauthorized, retryMs)
}

function reasonOf({ code }: ApiError): Reason {
  if (code === 'Unauthorized' || code === 'Forbidden') return reasons.Unauthorized
  return code === 'Invalid' ? reasons.RequestsRefused : reasons.Unreachable
}

function remedyFor({ code }: ApiError, restriction: string | undefined): string {
  if (code === 'Unauthorized') return 'put a valid API key into the Secret'
  if (code === 'Invalid') return 'check spec.versionHeader and spec.baseURL; Culvert retries'
  if (code !== 'Forbidden') return 'check spec.baseURL and the network; Culvert retries'
  if (restriction === undefined) {
    return "give the key its permissions, activate the bot user that owns it, or have the IP restriction of type api admit Culvert's address"
  }
  return (
    `${restriction} is enforced for the API and probably blocks Culvert's address. Admit that address or stop enforcing the restriction, ` +
    "in the service's dashboard or from an admitted address; an edit of the spec is tried immediately, but fails while Culvert is blocked"
  )
}

/** How long to wait after that many failed checks in a row, in milliseconds, without jitter. */
export function checkRetryMs(failures: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS)
}
