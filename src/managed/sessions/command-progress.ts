import { isNotedAhead } from '../../util/noted-time.ts'
import type { Action, ActionState, CommandStatus, CommandStep, Target } from '../descriptor/command.ts'

/** The next step of a command. */
export type Next =
  | { readonly type: 'send'; readonly id: string; readonly step: CommandStep }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'finished' }

/** Added to the pause that the API asks for, so that neither rounding nor a slightly faster clock shortens it. */
const MARGIN_MS = 500

/** Longest time that a request can take, with its retries. */
const LONGEST_REQUEST_MS = 120_000

/** No step waits longer than this for another. */
const LONGEST_PAUSE_MS = 60_000

/** Actions of that name that other commands took on the target of that id. */
export type OtherActions = (id: string, action: string) => readonly Action[]

const noOthers: OtherActions = () => []

/**
 * The first request that may be sent now: every target's first step before any target's second. A request that was sent
 * is never sent again.
 */
export function nextOf(
  targets: readonly Target[],
  steps: readonly CommandStep[],
  now: number,
  others: OtherActions = noOthers,
): Next {
  let waitMs = Number.POSITIVE_INFINITY
  for (const [index, step] of steps.entries()) {
    for (const target of targets) {
      const { id, actions } = target
      if (actions[index]?.state !== 'Pending') continue
      const before = actions[index - 1]
      if (before !== undefined && before.state !== 'Done') continue
      const ms = spacingMs(target, step, now, others)
      if (ms === 0) return { type: 'send', id, step }
      waitMs = Math.min(waitMs, ms)
    }
  }
  return Number.isFinite(waitMs) ? { type: 'wait', ms: waitMs } : { type: 'finished' }
}

/**
 * How long a step must still wait after an earlier action on the same target, by this or another command. If the wall
 * clock was set back, the wait is at most the whole pause.
 */
export function spacingMs(
  { id, actions }: Pick<Target, 'id' | 'actions'>,
  { spacing }: CommandStep,
  now: number,
  others: OtherActions = noOthers,
): number {
  if (spacing === undefined) return 0
  const whole = spacing.ms + MARGIN_MS
  const own = actions.filter(({ action }) => action === spacing.after)
  const left = [...own, ...others(id, spacing.after)].map((each) => doneBy(each, now) + whole - now)
  return Math.min(Math.max(0, ...left), whole)
}

/**
 * Latest time at which an action that may have reached its target was over; a time recorded by a wrong clock is
 * ignored.
 */
function doneBy({ state, sentAt, endedAt }: Action, now: number): number {
  const isOpen = state === 'Sent'
  if (!isOpen && state !== 'Done' && state !== 'Unknown') return Number.NEGATIVE_INFINITY
  const noted = Date.parse((isOpen ? sentAt : endedAt) ?? time(now))
  if (isNotedAhead(noted, now)) return Number.NEGATIVE_INFINITY
  return isOpen ? noted + LONGEST_REQUEST_MS : noted
}

/** Whether no pause after the action can last any longer, however long it is. */
export function isOver(action: Action, now: number): boolean {
  return doneBy(action, now) + LONGEST_PAUSE_MS < now
}

/** How long the record of an action is needed after its end, in milliseconds, because others have to wait for it. */
export function recordMs({ awaitedMs }: CommandStep): number {
  return awaitedMs === undefined ? 0 : awaitedMs + MARGIN_MS
}

/** The result of an action. */
export interface Result {
  readonly state: ActionState
  readonly code?: string | undefined
  readonly message?: string | undefined
}

/** The targets with one action changed; actions after a failed one are skipped. */
export function withResult(
  targets: readonly Target[],
  { id, action }: { readonly id: string; readonly action: string },
  change: (action: Action) => Action,
): readonly Target[] {
  return targets.map((target) => {
    if (target.id !== id) return target
    const changed = target.actions.map((each) => (each.action === action ? change(each) : each))
    return { ...target, actions: skipped(changed) }
  })
}

/** About to be sent: this must be stored first. */
export function sent(action: Action, now: number): Action {
  return { action: action.action, state: 'Sent', sentAt: time(now) }
}

/** The result is known. A request that certainly reached nothing is pending again, as if it had never been sent. */
export function ended(action: Action, { state, code, message }: Result, now: number): Action {
  if (state === 'Pending') return { action: action.action, state }
  return {
    ...action,
    state,
    endedAt: time(now),
    ...(code === undefined ? {} : { code: code.slice(0, 64) }),
    ...(message === undefined ? {} : { message: message.slice(0, 1024) }),
  }
}

const LOST = 'no response was received: the request may have been executed, and is never sent again'

/**
 * Requests that were about to be sent when a process ended, or whose answer could not be stored, stay Unknown forever;
 * `answered` returns the answers that this process still has in memory.
 */
export function withoutSent(
  targets: readonly Target[],
  answered: (id: string, action: string) => Result | undefined,
  now: number,
): readonly Target[] {
  let after = targets
  for (const { id, actions } of targets) {
    for (const { action, state } of actions) {
      if (state !== 'Sent') continue
      const result = answered(id, action) ?? { state: 'Unknown', message: LOST }
      after = withResult(after, { id, action }, (each) => ended(each, result, now))
    }
  }
  return after
}

/**
 * Replaces end times recorded by a clock that ran ahead by the current time: a pause that counts from such a time would
 * start over again and again.
 */
export function withTimesCorrected(targets: readonly Target[], now: number): readonly Target[] {
  const isAhead = ({ endedAt }: Action): boolean => endedAt !== undefined && isNotedAhead(Date.parse(endedAt), now)
  return targets.map((target) => {
    if (!target.actions.some(isAhead)) return target
    return {
      ...target,
      actions: target.actions.map((each) => (isAhead(each) ? { ...each, endedAt: time(now) } : each)),
    }
  })
}

const FAILED: ReadonlySet<ActionState> = new Set(['Refused', 'Gone', 'Unknown', 'Skipped'])

function skipped(actions: readonly Action[]): Action[] {
  let failed = false
  return actions.map((each) => {
    if (failed && each.state === 'Pending') return { action: each.action, state: 'Skipped' }
    failed ||= FAILED.has(each.state)
    return each
  })
}

/** Number of targets whose actions are all Done. */
export function countDone(targets: readonly Target[]): number {
  return targets.filter(({ actions }) => actions.every(({ state }) => state === 'Done')).length
}

/** A short summary of the results: `2 of 5 done; Refused: 2, Gone: 1`. */
export function summary(targets: readonly Target[]): string {
  const counts = new Map<ActionState, number>()
  for (const { actions } of targets) {
    const wrong = actions.find(({ state }) => FAILED.has(state))
    if (wrong !== undefined) counts.set(wrong.state, (counts.get(wrong.state) ?? 0) + 1)
  }
  const others = [...counts].sort(([left], [right]) => (left < right ? -1 : 1))
  const done = `${countDone(targets)} of ${targets.length} done`
  return others.length === 0 ? done : `${done}; ${others.map(([state, count]) => `${state}: ${count}`).join(', ')}`
}

/** Whether the command is over. */
export function isFinished({ finishedAt }: CommandStatus): boolean {
  return finishedAt !== undefined
}

/** Includes milliseconds, since waits are computed from it. */
export function time(now: number): string {
  return new Date(now).toISOString()
}
