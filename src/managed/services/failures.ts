import { KubeError } from '../../kube/kube-error.ts'
import { done, type Outcome } from '../../runtime/outcome.ts'
import { LASTING_MS, saidOf } from '../composed/failed.ts'
import { reasons } from '../descriptor/reasons.ts'
import { WaitError } from '../run/control-flow-errors.ts'
import type { ServiceSaid } from './service-status.ts'

/** Why a port is not served, and how the condition says it. */
export interface Failure {
  readonly error: unknown
  readonly said: Exclude<ServiceSaid, { readonly type: 'kept' }>
}

/**
 * What the API server refuses, such as an Edge that a policy of the administrator forbids, needs a person.
 *
 * @throws the error itself if it is not worth a write: nothing is said of the Service then
 */
export function failureOf(error: unknown): Failure {
  const said = saidOf(error)
  if (said === undefined) throw error
  const isRefused = error instanceof KubeError && (error.code === 'Invalid' || error.code === 'Forbidden')
  return { error, said: isRefused ? { ...said, type: 'stalled' } : said }
}

/** What is waited for wakes the Service; the times are only fallbacks. */
export function outcomeOf(failures: readonly Failure[]): Outcome {
  if (failures.length === 0) return done
  const errors = failures.map(({ error }) => error)
  const unexpected = errors.find((error) => error instanceof KubeError)
  if (unexpected !== undefined) return { type: 'backoff', error: unexpected }
  const ms = Math.min(...errors.map((error) => (error instanceof WaitError ? error.retryMs : LASTING_MS)))
  return { type: 'after', ms, reason: reasons.Progressing, priority: 'drift' }
}
