import { describeAll } from './announce.ts'
import { generationOf } from './cr.ts'
import type { Wanted } from './desired.ts'
import { TerminalError } from './errors.ts'
import { RECONCILE_REQUESTED_AT } from './names.ts'
import type { Operation } from './plan.ts'
import { reasons } from './reasons.ts'
import type { Reconciliation } from './reconciliation.ts'

/** So often in a row an object is put right that somebody else changes back. */
const MOST_TURNS = 5
/** A change that comes later than this after the last write is a new one. One more write is made each time. Milliseconds. */
const QUIET_MS = 6 * 3_600_000

/** Writes of one wish that did not last. Lost with the process: another begins to count anew. */
export interface Contest {
  /** What is wished for, by spec, inputs, references and request. */
  readonly about: string
  /** Writes that put right what had been right before. */
  readonly turns: number
  /** Monotonic time of the last one. */
  readonly at: number
}

/**
 * Two who each put an object right after the other, such as two installations that adopted it with different specs, would do so for ever.
 * @throws TerminalError once the same wish was carried out too often in a row.
 */
export function refuseContest(run: Reconciliation, wanted: Wanted, operations: readonly Operation[]): void {
  const { contest } = run.memory
  if (contest === undefined || contest.about !== aboutOf(run, wanted) || contest.turns < MOST_TURNS) return
  if (run.context.clock.monotonic() - contest.at > QUIET_MS) return
  throw new TerminalError(
    reasons.TakenOver,
    `${describeAll(operations)}: somebody else changes this back each time, as a second installation does that has the same object. ` +
      'Let one of the two go; until then nothing is written but once in six hours, after a change of the spec, and on culvert.dev/reconcile-requested-at',
  )
}

/** The object is as wished for, by writes of this run. */
export function noteTurn(run: Reconciliation, wanted: Wanted): void {
  const { contest } = run.memory
  const [about, at] = [aboutOf(run, wanted), run.context.clock.monotonic()]
  if (contest === undefined || contest.about !== about) run.memory.contest = { about, turns: 0, at }
  else if (at - contest.at <= QUIET_MS) run.memory.contest = { about, turns: contest.turns + 1, at }
  // Still in dispute when it was last looked at: one write is enough to see whether it is over.
  else run.memory.contest = { about, turns: contest.turns < MOST_TURNS ? 1 : MOST_TURNS, at }
}

function aboutOf({ cr }: Reconciliation, { inputs, references }: Wanted): string {
  const request = cr.metadata.annotations?.[RECONCILE_REQUESTED_AT]
  return JSON.stringify([generationOf(cr), inputs.fingerprint, references.applied, request])
}
