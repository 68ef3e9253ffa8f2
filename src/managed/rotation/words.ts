import type { Rotation } from '../descriptor/descriptor.ts'
import { reasons } from '../status/reasons.ts'

/** What the two kinds of rotation are called where people read of them. */
export const WORDS = {
  rotation: {
    condition: 'Rotated',
    next: 'nextRotationAt',
    event: 'Rotating',
    failing: reasons.RotationFailing,
    scheduled: reasons.RotationScheduled,
    what: 'a new token',
    old: 'the token in the Secret goes on working',
  },
  renewal: {
    condition: 'Renewed',
    next: 'renewsAt',
    event: 'Renewing',
    failing: reasons.RenewalFailing,
    scheduled: reasons.RenewalScheduled,
    what: 'a new certificate',
    old: 'the present one is good until it expires',
  },
} as const satisfies Record<Rotation<never>['type'], object>
