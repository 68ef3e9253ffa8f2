import { generationOf } from '../cr.ts'
import type { Fields } from '../descriptor/descriptor.ts'
import { describeAll } from '../plan/announce.ts'
import type { Wanted } from '../plan/desired.ts'
import type { Observed, Operation } from '../plan/plan.ts'
import { TerminalError } from '../reconcile/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { requestOf } from '../reconcile/requests.ts'
import { reasons } from '../status/reasons.ts'

/** So often in a row an object is put right that somebody else changes back. */
const MOST_TURNS = 5
/** A change that comes later than this after the last write is a new one. One more write is made each time. Milliseconds. */
const QUIET_MS = 3_600_000

/** Writes of one wish that did not last. Lost with the process: another begins to count anew. */
export interface Contest {
  /** What is wished for, and what the other party has put in its place: see `contestAbout`. */
  readonly about: string
  /** Writes that put right what had been right before. */
  readonly turns: number
  /** Monotonic time of the last one. */
  readonly at: number
}

/**
 * What a plan is about to undo: the wish, by spec, inputs, references and request, and what stands in its place. Another party with a wish of its own
 * writes the same each time; what differs from the last time is drift like any other.
 */
export function contestAbout(
  { cr, descriptor }: Reconciliation,
  { inputs, references }: Wanted,
  operations: readonly Operation[],
  { remote }: Observed,
): string {
  const request = requestOf(cr, 'reconcile')
  const { description, metadata } = remote
  const found: Fields = { ...descriptor.observe(remote), description, metadata }
  const undone = operations.map((operation) => {
    if (operation.type === 'replace') return operation.fields
    if ('target' in operation) return [operation.type, operation.about]
    return operation.fields.map((field) => [field, found[field]])
  })
  return JSON.stringify([generationOf(cr), inputs.fingerprint, references.applied, request, undone])
}

/**
 * Two parties that each put an object right after the other, such as two installations that adopted it with different specs, would do so
 * for ever.
 * @param about as `contestAbout` has it
 * @throws TerminalError once the same wish was carried out too often in a row.
 */
export function refuseContest(
  { context, memory }: Reconciliation,
  about: string,
  operations: readonly Operation[],
): void {
  const { contest } = memory
  if (contest === undefined || contest.about !== about || contest.turns < MOST_TURNS) return
  if (context.clock.monotonic() - contest.at > QUIET_MS) return
  throw new TerminalError(
    reasons.TakenOver,
    `${describeAll(operations)}: something else keeps changing this back, such as a second installation that has the same object. ` +
      'Let one of the two go; until then it is written once an hour, when the spec changes, and on culvert.dev/reconcile-requested-at',
  )
}

/** The object is as wished for, by writes of this run. */
export function noteTurn({ context, memory }: Reconciliation, about: string): void {
  const { contest } = memory
  const at = context.clock.monotonic()
  if (contest === undefined || contest.about !== about) memory.contest = { about, turns: 0, at }
  else if (at - contest.at <= QUIET_MS) memory.contest = { about, turns: contest.turns + 1, at }
  // Still in dispute when it was last looked at: one write is enough to see whether it is over.
  else memory.contest = { about, turns: contest.turns < MOST_TURNS ? 1 : MOST_TURNS, at }
}
