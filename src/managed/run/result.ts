import { ApiError } from '../../api/errors.ts'
import { KubeError } from '../../kube/kube-error.ts'
import { done, type Outcome } from '../../runtime/outcome.ts'
import type { ConditionText } from '../descriptor/readiness.ts'
import { type Reason, reasons } from '../descriptor/reasons.ts'
import type { ConditionState } from './conditions.ts'
import { ConflictError, TerminalError, WaitError } from './control-flow-errors.ts'

/** How a reconcile ended: what the status should say, and when to reconcile again. */
export interface RunResult {
  /** Undefined: the status is left unchanged. */
  readonly state: ConditionState | undefined
  /** Conditions of the kind; undefined keeps the existing ones. */
  readonly conditions?: readonly ConditionText[] | undefined
  readonly outcome: Outcome
}

/** Nothing to report and nothing to do. */
export const silent: RunResult = { state: undefined, outcome: done }

/** Slow retry, so that a lifted quota heals by itself; the controller adds jitter. */
const SLOWLY_MS = 600_000

/** The result of a reconcile that failed with `error`. `existing`: the remote object is known. */
export function resultOf(error: unknown, existing: boolean, deleting: boolean): RunResult {
  if (error instanceof WaitError) {
    const outcome: Outcome = { type: 'after', ms: error.retryMs, reason: error.code, priority: 'poll' }
    if (error.silent) return { state: undefined, outcome }
    return { state: waiting(error.code, error.message, existing, deleting), outcome }
  }
  if (error instanceof TerminalError) {
    // A resource whose object is gone is not Ready, whatever its previous status says.
    return stalled(error.code, error.message, existing && error.code !== reasons.RemoteMissing, error)
  }
  if (error instanceof ConflictError) return { state: undefined, outcome: { type: 'backoff', error } }
  if (error instanceof KubeError) return kubeResult(error, existing)
  if (error instanceof ApiError) return apiResult(error, existing)
  return failing(reasons.OperatorError, "an error inside Culvert: see the operator's log", existing, error)
}

function waiting(reason: Reason, message: string, existing: boolean, deleting: boolean): ConditionState {
  return deleting ? { type: 'deleting', reason, message } : { type: 'progressing', reason, message, existing }
}

function stalled(reason: Reason, message: string, existing: boolean, error: unknown): RunResult {
  return {
    state: { type: 'stalled', reason, message, existing },
    outcome: { type: 'terminal', error, retryMs: SLOWLY_MS },
  }
}

/** The API's own message says what is wrong; the remedy follows it. */
function refused(reason: Reason, remedy: string, existing: boolean, error: ApiError): RunResult {
  return stalled(reason, `${error.message}: ${remedy}; it is tried again every ten minutes`, existing, error)
}

function failing(reason: Reason, message: string, existing: boolean, error: unknown): RunResult {
  return { state: { type: 'failing', reason, message, existing }, outcome: { type: 'backoff', error } }
}

/** The reason of a condition for a failed call to Kubernetes. */
export function kubeReason({ isRefusedWrite }: KubeError): Reason {
  return isRefusedWrite ? reasons.WriteRefused : reasons.KubernetesError
}

function kubeResult(error: KubeError, existing: boolean): RunResult {
  switch (error.code) {
    case 'Conflict':
    case 'NotLeader':
    case 'Aborted':
      return { state: undefined, outcome: { type: 'backoff', error } }
    // `NotFound` is no exception: a proxy may have answered it. If the CR is really gone, the next run finds none.
    default: {
      const { isRefusedWrite: lasts, message } = error
      // Whoever mends the webhook or the policy wakes nobody.
      const outcome: Outcome = { type: 'backoff', error }
      return {
        state: { type: lasts ? 'stalled' : 'failing', reason: kubeReason(error), message, existing },
        outcome,
      }
    }
  }
}

function apiResult(error: ApiError, existing: boolean): RunResult {
  switch (error.code) {
    case 'Invalid':
      return refused(reasons.Rejected, 'correct the spec, or what is missing in the account', existing, error)
    case 'Forbidden':
      return refused(reasons.Rejected, 'give the API key the permission', existing, error)
    case 'Conflict':
      return refused(reasons.Conflict, 'resolve the conflict at the API, or name something else', existing, error)
    case 'HostNotAllowed':
    case 'Redirect':
      return stalled(reasons.ApiError, error.message, existing, error)
    case 'NotLeader':
    case 'Aborted':
      return { state: undefined, outcome: { type: 'backoff', error } }
    case 'Unauthorized':
    case 'Suspended':
      return failing(reasons.AccountNotReady, error.message, existing, error)
    case 'Unlistable':
      return failing(reasons.CollectionNotListable, error.message, existing, error)
    case 'RateLimited': {
      const message = `${error.message}: too many requests for this account; it is tried again after a pause`
      return failing(reasons.ApiError, message, existing, error)
    }
    // An update of an object that was deleted meanwhile: the next reconcile creates it again.
    case 'NotFound':
    case 'ServerError':
    case 'Timeout':
    case 'Network':
    case 'InvalidResponse':
      return failing(reasons.ApiError, error.message, existing, error)
  }
}
