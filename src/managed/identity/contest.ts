import { digestOf } from '../../util/json.ts'
import { generationOf } from '../cr.ts'
import type { Fields } from '../descriptor/common.ts'
import { reasons } from '../descriptor/reasons.ts'
import { describeAll } from '../plan/announce.ts'
import type { Observed, Operation } from '../plan/plan.ts'
import type { Wanted } from '../plan/wanted.ts'
import { TerminalError } from '../run/control-flow-errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { requestOf } from '../run/requests.ts'
import { IdentityMemory } from './identity-memory.ts'

/** How often in a row an object is corrected while another client changes it back. */
const MOST_TURNS = 5
/**
 * A change made longer than this after the last write starts a new count. After each such pause, one more write is
 * made. Milliseconds.
 */
const QUIET_MS = 3_600_000

/**
 * Identifies what a plan is about to undo: the desired state (spec, inputs, references and request) and the values
 * found instead. A client with a desired state of its own writes the same values each time; different values are
 * ordinary drift.
 */
export function contestAbout(
  { cr, descriptor }: Reconciliation,
  { inputs, references }: Wanted,
  operations: readonly Operation[],
  { remote }: Observed,
): string {
  const request = requestOf(cr, 'reconcile')
  const { description, metadata } = remote
  const found: Fields = { ...descriptor.fields.observe(remote), description, metadata }
  const undone = operations.map((operation) => {
    if (operation.type === 'replace') return operation.fields
    if ('target' in operation) return [operation.type, operation.about]
    return operation.fields.map((field) => [field, found[field]])
  })
  return digestOf([generationOf(cr), inputs.fingerprint, references.applied, request, undone])
}

/**
 * Stops two clients from undoing each other's writes forever, such as two installations that adopted the same object
 * with different specs.
 * @param about as `contestAbout` returns it
 * @throws TerminalError once the same desired state was written too often in a row.
 */
export function refuseContest(
  { context, memory }: Reconciliation,
  about: string,
  operations: readonly Operation[],
): void {
  const { contest } = memory.of(IdentityMemory)
  if (contest === undefined || contest.about !== about || contest.turns < MOST_TURNS) return
  if (context.clock.monotonic() - contest.at > QUIET_MS) return
  throw new TerminalError(
    reasons.TakenOver,
    `${describeAll(operations)}: another client keeps reverting this, such as a second installation that manages the same object. ` +
      'Have one of them release the object; until then it is written once an hour, when the spec changes, and on culvert.dev/reconcile-requested-at',
  )
}

/**
 * Counts the writes of a run whose result is stored in the status. While it cannot be stored, the next run sends fields
 * that the API never shows once more, and no one contests them.
 */
export function recordTurn({ context, memory, restored: about }: Reconciliation): void {
  if (about === undefined) return
  const { contest } = memory.of(IdentityMemory)
  const at = context.clock.monotonic()
  if (contest === undefined || contest.about !== about) memory.of(IdentityMemory).contest = { about, turns: 0, at }
  else if (at - contest.at <= QUIET_MS) memory.of(IdentityMemory).contest = { about, turns: contest.turns + 1, at }
  // Still contested at the last write: one more write is enough to see whether that is over.
  else memory.of(IdentityMemory).contest = { about, turns: contest.turns < MOST_TURNS ? 1 : MOST_TURNS, at }
}
