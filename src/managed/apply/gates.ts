import { refuseSilencing } from '../delete/key-in-use.ts'
import { refuseContest } from '../identity/contest.ts'
import { readLive } from '../identity/read-object.ts'
import { isTakenChild, refuseTaken } from '../identity/taken-over.ts'
import { writeNotApplied } from '../plan/announce.ts'
import { refuseLockout, refuseUnsaidRestriction } from '../plan/lockout-guard.ts'
import type { Observed, Operation } from '../plan/plan.ts'
import type { Wanted } from '../plan/wanted.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { ApplyMemory } from './apply-memory.ts'

/** A plan about to be executed, and what it was made from. */
export interface Intent {
  readonly wanted: Wanted
  readonly observed: Observed
  /** At least one. */
  readonly operations: readonly Operation[]
  /** What the plan would undo, as `contestAbout` returns it. */
  readonly contested: string
  /** This run created the object. */
  readonly isNew: boolean
}

/** Throws if the plan must not be executed: the error says why, and when to try again. */
type Gate = (run: Reconciliation, intent: Intent) => void | Promise<void>

/** Checked in this order before the first write of a plan. */
const gates: readonly Gate[] = [
  /** The API ignored the same write in the same state. */
  ({ memory }, { contested, operations }) => {
    if (memory.of(ApplyMemory).ignored === contested) throw writeNotApplied(operations)
  },
  /** Another client keeps undoing the same writes. */
  (run, { contested, operations }) => refuseContest(run, contested, operations),
  /** The write would make the API refuse a key that an account uses. */
  (run, { operations }) => refuseSilencing(run, operations),
  /** The write could keep Culvert out of the API. Nothing refers yet to an object that this run created. */
  (run, { isNew, observed, wanted }) => {
    return isNew || run.descriptor.children === undefined ? undefined : refuseLockout(run, wanted, observed)
  },
  /** The write would begin a restriction of the API that the spec does not acknowledge. */
  (run, { observed, operations }) => refuseUnsaidRestriction(run, operations, observed.remote),
  /** The children show that the object was taken over. */
  (run, { observed }) => refuseTakenChildren(run, observed),
]

export async function passGates(run: Reconciliation, intent: Intent): Promise<void> {
  for (const gate of gates) await gate(run, intent)
}

/**
 * Children are listed separately from their object: one that carries another resource's marker may be the first sign
 * that both were taken over.
 */
async function refuseTakenChildren(run: Reconciliation, { remote, children }: Observed): Promise<void> {
  if (!children.some((child) => isTakenChild(run, child))) return
  const now = await readLive(run, run.collection, remote.id)
  if (now !== undefined) refuseTaken(run, now)
}
