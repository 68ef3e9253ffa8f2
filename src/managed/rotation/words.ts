import type { CommonStatus } from '../descriptor/common.ts'
import type { ManagedDescriptor, Rotation } from '../descriptor/descriptor.ts'
import { reasons } from '../descriptor/reasons.ts'

/** The words for the two kinds of rotation, in conditions, Events and status fields. */
export const WORDS = {
  rotation: {
    condition: 'Rotated',
    next: 'nextRotationAt',
    event: 'Rotating',
    failing: reasons.RotationFailing,
    scheduled: reasons.RotationScheduled,
    what: 'a new token',
    old: 'the token in the Secret remains valid',
  },
  renewal: {
    condition: 'Renewed',
    next: 'renewsAt',
    event: 'Renewing',
    failing: reasons.RenewalFailing,
    scheduled: reasons.RenewalScheduled,
    what: 'a new certificate',
    old: 'the current one remains valid until it expires',
  },
} as const satisfies Record<Rotation<never>['type'], object>

/** Whether a status reports a failed rotation; undefined if it reports nothing about rotation. */
export function isRotationFailing(
  { rotation }: Pick<ManagedDescriptor, 'rotation'>,
  { conditions = [] }: Pick<CommonStatus, 'conditions'>,
): boolean | undefined {
  if (rotation === undefined) return undefined
  const { condition } = WORDS[rotation.type]
  const found = conditions.find(({ type }) => type === condition)
  return found === undefined ? undefined : found.status === 'False'
}
