import { ApiError } from '../../api/errors.ts'
import { MAX_TARGETS } from '../descriptor/command.ts'
import type { KindCondition } from '../descriptor/readiness.ts'
import { type Reason, reasons } from '../descriptor/reasons.ts'
import type { Result } from './command-progress.ts'

/** Over with everything done, over with something not done, or still running. */
export type Phase = 'Complete' | 'Failed' | 'Running'

/** Phase, reason and message from which a command's conditions are made. */
export type CommandState = readonly [phase: Phase, reason: Reason, message: string]

/**
 * `Complete` and `Failed` have the meaning of those of a Job, for `kubectl wait`: one of them is True as soon as the
 * command is over, and neither before. `Reconciling` and `Stalled` are for tools that wait by kstatus, which knows
 * `Complete` and `Failed` for Jobs only.
 */
export function conditionsOf([phase, reason, message]: CommandState): readonly KindCondition[] {
  const is = (type: string, holds: boolean): KindCondition => {
    return { type, status: holds ? 'True' : 'False', reason, message }
  }
  const ends = [is('Complete', phase === 'Complete'), is('Failed', phase === 'Failed')]
  return phase === 'Complete' ? ends : [...ends, is(phase === 'Failed' ? 'Stalled' : 'Reconciling', true)]
}

/** Why nothing is sent at all. */
export function nobody(count: number, mirroring: boolean, account: string): CommandState {
  if (count > MAX_TARGETS) {
    return [
      'Failed',
      reasons.TooManyTargets,
      `spec.target selects ${count} sessions, but a command can have at most ${MAX_TARGETS}: narrow the selector`,
    ]
  }
  const remedy = mirroring
    ? 'see `kubectl get tunnelsessions`'
    : `enable spec.mirrorSessions of ${account}, or select a session by id`
  return ['Failed', reasons.NoTarget, `spec.target selects no session that ${account} shows here: ${remedy}`]
}

/** The result of an action whose request failed. @throws any error that is not a failed call. */
export function resultOf(error: unknown): Result {
  if (!(error instanceof ApiError)) throw error
  if (!error.definite) return { state: 'Unknown', message: error.message }
  switch (error.code) {
    case 'NotFound':
      return { state: 'Gone', message: error.message }
    // The request certainly did not reach the agent, and may succeed later: it was never sent, or rejected at the API's
    // entrance.
    case 'Network':
    case 'Timeout':
    case 'NotLeader':
    case 'Suspended':
    case 'Unlistable':
    case 'Aborted':
    case 'RateLimited':
    case 'Unauthorized':
      return { state: 'Pending' }
    case 'Forbidden':
    case 'Conflict':
    case 'Invalid':
    case 'ServerError':
    case 'InvalidResponse':
    case 'Redirect':
    case 'HostNotAllowed':
      // Error codes are not documented: they are passed on, and nothing depends on them.
      return { state: 'Refused', code: error.errorCode, message: error.message }
  }
}
