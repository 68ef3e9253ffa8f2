import { isNotedAhead } from '../../util/noted-time.ts'
import { cut, printable } from '../../util/printable.ts'
import { secondsTime } from '../../util/time.ts'
import type { Condition } from '../descriptor/common.ts'
import type { ConditionText, KindCondition } from '../descriptor/readiness.ts'
import type { Reason } from '../descriptor/reasons.ts'
import { reasons } from '../descriptor/reasons.ts'

/** The result of a reconcile, from which the conditions are written. */
export type ConditionState =
  /** Equal to its spec and Ready. */
  | { readonly type: 'ready'; readonly message: string; readonly retained?: boolean }
  /** Equal to its spec; something at the service is in progress or wrong. */
  | {
      readonly type: 'synced'
      readonly reason: Reason
      readonly message: string
      readonly stalled: boolean
      /** The object was adopted and stays when its resource is deleted. */
      readonly retained?: boolean
    }
  /** Not yet equal to its spec; work is in progress, or waits for something that the message names. */
  | { readonly type: 'progressing'; readonly reason: Reason; readonly message: string; readonly existing: boolean }
  /** A call failed in a way that may be temporary. */
  | { readonly type: 'failing'; readonly reason: Reason; readonly message: string; readonly existing: boolean }
  /** Lasts until a person changes something. */
  | { readonly type: 'stalled'; readonly reason: Reason; readonly message: string; readonly existing: boolean }
  /** Only observed, and not equal to its spec; `ready` says whether it is Ready. */
  | { readonly type: 'observed'; readonly ready: KindCondition; readonly message: string }
  /** Equal to its spec, but the object has parts that the spec does not declare. */
  | { readonly type: 'undeclared'; readonly ready: string; readonly message: string }
  /** An account that works, but for a part of it. */
  | { readonly type: 'limited'; readonly ready: string; readonly reason: Reason; readonly message: string }
  /** Paused by its annotation. */
  | { readonly type: 'paused' }
  /** Being deleted. */
  | { readonly type: 'deleting'; readonly reason: Reason; readonly message: string }

/**
 * The conditions for a condition state. `Reconciling` and `Stalled` are present only while they are true, as kstatus
 * expects. A resource that was Ready stays Ready while Culvert cannot check it: only `Synced` reports that.
 */
export function conditionsFor(
  state: ConditionState,
  previous: readonly Condition[],
  extra: readonly ConditionText[] | undefined,
): readonly ConditionText[] {
  const ready = previous.find((condition) => condition.type === 'Ready')
  const kept = extra ?? previous.filter(({ type }) => !isCommon(type))
  return [...commonConditions(state, ready), ...kept]
}

const COMMON: ReadonlySet<string> = new Set(['Ready', 'Synced', 'Reconciling', 'Stalled'])

/** Whether the condition type is common to all kinds; the others are a kind's own. */
export function isCommon(type: string): boolean {
  return COMMON.has(type)
}

function commonConditions(state: ConditionState, ready: Condition | undefined): ConditionText[] {
  switch (state.type) {
    case 'ready':
      return [is('Ready', reasons.Available, state.message), inSync(state)]
    case 'synced': {
      const { reason, message, stalled } = state
      return [isNot('Ready', reason, message), inSync(state), is(stalled ? 'Stalled' : 'Reconciling', reason, message)]
    }
    case 'progressing':
    case 'failing':
    case 'stalled': {
      const { reason, message, existing } = state
      const stillReady = existing && ready?.status === 'True'
      return [
        stillReady ? ready : isNot('Ready', reason, message),
        isNot('Synced', reason, message),
        is(state.type === 'stalled' ? 'Stalled' : 'Reconciling', reason, message),
      ]
    }
    case 'observed':
      return [state.ready, isNot('Synced', reasons.Observed, state.message)]
    case 'undeclared':
      return [is('Ready', reasons.Available, state.ready), isNot('Synced', reasons.Undeclared, state.message)]
    case 'limited':
      return [is('Ready', reasons.Available, state.ready), isNot('Synced', state.reason, state.message)]
    case 'paused':
      return [...(ready === undefined ? [] : [ready]), isNot('Synced', reasons.Paused, PAUSED_MESSAGE)]
    case 'deleting': {
      const { reason, message } = state
      return [isNot('Ready', reason, message), isNot('Synced', reason, message), is('Reconciling', reason, message)]
    }
  }
}

const PAUSED_MESSAGE = 'the annotation culvert.dev/paused is set: remove it to resume'
const IN_SYNC = 'the remote object matches the spec'
const IN_SYNC_RETAINED = `${IN_SYNC}; it was adopted, and is kept when this resource is deleted`

function inSync({ retained = false }: { readonly retained?: boolean }): KindCondition {
  return is('Synced', reasons.InSync, retained ? IN_SYNC_RETAINED : IN_SYNC)
}

function is(type: string, reason: Reason, message: string): KindCondition {
  return { type, status: 'True', reason, message }
}

function isNot(type: string, reason: Reason, message: string): KindCondition {
  return { type, status: 'False', reason, message }
}

/**
 * `next` with times: `lastTransitionTime` changes only when `status` does, and `observedGeneration` only when the
 * condition differs or was made for an older spec, so that equal states are equal texts.
 */
export function stampConditions(
  next: readonly ConditionText[],
  previous: readonly Condition[],
  generation: number,
  now: number,
): readonly Condition[] {
  return next.map((condition) => {
    const before = previous.find(({ type }) => type === condition.type)
    // A condition that was carried over unchanged still describes the generation it was made for.
    if (before === condition) return before
    const { type, status, reason } = condition
    const message = cut(printable(condition.message), LONGEST_MESSAGE)
    return {
      type,
      status,
      reason,
      message,
      lastTransitionTime: transitionTime(before, status, now),
      observedGeneration: generation,
    }
  })
}

/** Kept, unless a clock that ran ahead has written it. */
function transitionTime(before: Condition | undefined, status: Condition['status'], now: number): string {
  const isKept = before?.status === status && !isNotedAhead(Date.parse(before.lastTransitionTime), now)
  return isKept ? before.lastTransitionTime : secondsTime(now)
}

/** Well below the limit of the CRD: a condition that the apiserver refuses would report nothing. */
const LONGEST_MESSAGE = 4096
