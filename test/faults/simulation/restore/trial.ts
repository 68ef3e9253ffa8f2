import type { Case } from '../../support/case-list.ts'
import type { Laboratory } from '../world.ts'

/** A case of what comes back, and how it is tried: what was wrong, or undefined where there is no such moment. */
export interface Trial {
  readonly what: Case
  readonly run: (laboratory: Laboratory) => Promise<readonly string[] | undefined>
}
