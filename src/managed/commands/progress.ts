import { isNotedAhead } from '../../util/noted-time.ts'
import type { Action, ActionState, CommandStatus, CommandStep, Target } from '../descriptor/command.ts'

/** What a command does next. */
export type Next =
  | { readonly type: 'send'; readonly id: string; readonly step: CommandStep }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'finished' }

/** Beside what the API asks for, so that neither rounding nor a slightly faster clock shortens it. */
const MARGIN_MS = 500

/** No request lasts longer, with its repetitions. */
const LONGEST_REQUEST_MS = 120_000

/** Actions of that name by other commands on the target of that id. */
export type OtherActions = (id: string, action: string) => readonly Action[]

const noOthers: OtherActions = () => []

/**
 * The first request that may be sent now: every target's first step before any target's second. Nothing that was sent
 * is sent again.
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
 * How long a step still has to wait for what was done to the same target before, here or by others. A wall clock that
 * was set back makes nobody wait for longer than the whole time.
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
 * When an action that may have reached its target was over at the latest; a time that a wrong clock has noted says
 * nothing.
 */
function doneBy({ state, sentAt, endedAt }: Action, now: number): number {
  const isOpen = state === 'Sent'
  if (!isOpen && state !== 'Done' && state !== 'Unknown') return Number.NEGATIVE_INFINITY
  const noted = Date.parse((isOpen ? sentAt : endedAt) ?? time(now))
  if (isNotedAhead(noted, now)) return Number.NEGATIVE_INFINITY
  return isOpen ? noted + LONGEST_REQUEST_MS : noted
}

/** What became of an action. */
export interface Result {
  readonly state: ActionState
  readonly code?: string | undefined
  readonly message?: string | undefined
}

/** The targets with one action changed; what follows an action that came to nothing is skipped. */
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

/** About to be sent: this has to be stored first. */
export function sent(action: Action, now: number): Action {
  return { action: action.action, state: 'Sent', sentAt: time(now) }
}

/** Its end is known. What surely did not reach anybody waits again, as if it had never been meant to be sent. */
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

const LOST = 'no answer is known: it may have been carried out or not, and is not sent again'

/**
 * What was about to be sent when a process ended, or an answer could not be stored, is unknown for ever; `answered`
 * knows the answers that this process still has in memory.
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
 * With the ends that a clock that was ahead has noted as of now: a pause that counts from one would begin again and
 * again.
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

/** How many targets had all done to them. */
export function countDone(targets: readonly Target[]): number {
  return targets.filter(({ actions }) => actions.every(({ state }) => state === 'Done')).length
}

/** A few words on what became of the targets: `2 of 5 done; Refused: 2, Gone: 1`. */
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

/** Whether the command has run its course. */
export function isFinished({ finishedAt }: CommandStatus): boolean {
  return finishedAt !== undefined
}

/** With milliseconds: a wait is counted from it. */
export function time(now: number): string {
  return new Date(now).toISOString()
}
