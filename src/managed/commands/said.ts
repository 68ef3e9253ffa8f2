import { type Reason, reasons } from '../reasons.ts'
import { MAX_TARGETS } from '../types/command.ts'
import type { KindCondition } from '../types/descriptor.ts'

/** How a command stands: over and all done, over and not all done, or not over. */
export type Said = readonly [complete: 'True' | 'False' | 'Unknown', reason: Reason, message: string]

/** `Complete` for people; `Reconciling` and `Stalled` for tools that wait by kstatus. */
export function conditionsOf([complete, reason, message]: Said): readonly KindCondition[] {
  const condition: KindCondition = { type: 'Complete', status: complete, reason, message }
  if (complete === 'True') return [condition]
  return [condition, { type: complete === 'False' ? 'Stalled' : 'Reconciling', status: 'True', reason, message }]
}

/** Why nothing is sent at all. */
export function nobody(count: number, mirroring: boolean, account: string): Said {
  if (count > MAX_TARGETS) {
    return [
      'False',
      reasons.TooManyTargets,
      `spec.target means ${count} sessions, and ${MAX_TARGETS} at most go into one command: narrow the selector`,
    ]
  }
  const remedy = mirroring
    ? 'see `kubectl get tunnelsessions`'
    : `${account} has no mirrorSessions: enable it, or name an id`
  return ['False', reasons.NoTarget, `spec.target means no session that ${account} shows here: ${remedy}`]
}
