import type { KubeObject } from '../../kube/types.ts'
import { generationOf, hasFinalizer, isDeleting, isPaused, withoutFinalizer } from '../../managed/cr.ts'
import type { Condition } from '../../managed/descriptor/common.ts'
import { reasons } from '../../managed/descriptor/reasons.ts'
import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import { isCommon } from '../../managed/run/conditions.ts'

/** Any of Culvert's resources, as commands read it. */
export interface StatedResource extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly observedGeneration?: number
    readonly lastHandledReconcileAt?: string
    readonly lastHandledRotateAt?: string
    readonly [field: string]: unknown
  }
}

/**
 * How far a resource is, as kstatus sees it, with two states more. `current`: nothing is in progress, and nothing is
 * wrong that waits for a person. `unseen`: no operator has reported on it yet.
 */
export type Phase = 'current' | 'inProgress' | 'stalled' | 'paused' | 'deleting' | 'unseen'

/** The state of a resource in one line. */
export interface ResourceState {
  readonly phase: Phase
  /** Reason of the condition that decides, or of nothing a condition says: `Paused`, `NotSeen`, `SpecChanged`,
   * `ForeignFinalizers`. */
  readonly reason: string
  readonly message: string
  /** Since when the deciding condition has its status; of a deletion, when it was asked for. */
  readonly since: string | undefined
}

/** The state of a resource by its conditions. */
export function stateOf(resource: StatedResource): ResourceState {
  const { conditions = [], observedGeneration } = resource.status ?? {}
  const { creationTimestamp, deletionTimestamp } = resource.metadata
  const of = (type: string): Condition | undefined => conditions.find((condition) => condition.type === type)
  const stated = (phase: Phase, condition: Condition, since = condition.lastTransitionTime): ResourceState => {
    return { phase, reason: condition.reason, message: condition.message, since }
  }
  const synced = of('Synced')
  if (isPaused(resource)) {
    const since = synced?.reason === PAUSED ? synced.lastTransitionTime : undefined
    return { phase: 'paused', reason: PAUSED, message: 'the annotation culvert.dev/paused is set', since }
  }
  const stalled = of('Stalled')
  const reconciling = of('Reconciling')
  if (isDeleting(resource)) {
    const others = withoutFinalizer(resource)
    if (others.length > 0 && !hasFinalizer(resource)) {
      const message = `Culvert is done with it, but other finalizers remain: ${others.join(', ')}`
      return { phase: 'deleting', reason: FOREIGN_FINALIZERS, message, since: deletionTimestamp }
    }
    const reported = [reconciling, stalled, of('Ready')].find((condition) => condition?.status !== undefined)
    const isShown = reported !== undefined && reported.status === (reported.type === 'Ready' ? 'False' : 'True')
    if (isShown) return stated('deleting', reported, deletionTimestamp)
    return { phase: 'deleting', reason: 'Deleting', message: 'the deletion is in progress', since: deletionTimestamp }
  }
  if (conditions.length === 0) {
    const message = 'no operator has reported on it yet'
    return { phase: 'unseen', reason: NOT_SEEN, message, since: creationTimestamp }
  }
  if (observedGeneration !== undefined && observedGeneration < generationOf(resource)) {
    const message = 'its latest spec has not been acted on yet'
    return { phase: 'inProgress', reason: SPEC_CHANGED, message, since: undefined }
  }
  if (stalled?.status === 'True') return stated('stalled', stalled)
  if (reconciling?.status === 'True') {
    // For tools that read kstatus it is in progress; for a person it ends only when someone acts.
    const phase = reconciling.reason === reasons.AwaitingApproval ? 'stalled' : 'inProgress'
    return stated(phase, reconciling, sinceWhen(of('Ready'), synced, reconciling))
  }
  const isFalse = ({ type, status }: Condition): boolean => status === 'False' && DECIDING.has(type)
  const [deciding] = [...conditions.filter(isFalse), ...conditions]
  if (deciding === undefined) throw new Error('there are conditions')
  return stated('current', deciding)
}

/** A deletion that waits for others alone. */
export const FOREIGN_FINALIZERS = 'ForeignFinalizers'
const PAUSED = 'Paused'
const NOT_SEEN = 'NotSeen'
const SPEC_CHANGED = 'SpecChanged'
/** Conditions that say that something is wrong when they are false, although nothing is in progress. */
const DECIDING: ReadonlySet<string> = new Set(['Ready', 'Synced'])

/** When a wait began: with the first condition that became false, since Reconciling may be newer. */
function sinceWhen(ready: Condition | undefined, synced: Condition | undefined, reconciling: Condition): string {
  const failed = [ready, synced].find((condition) => condition?.status === 'False')
  return failed?.lastTransitionTime ?? reconciling.lastTransitionTime
}

/**
 * Conditions of the kind that are false, such as that of a group without tunnels: what is wrong although the resource
 * may be Ready.
 */
export function sidesOf({ status }: StatedResource): readonly Condition[] {
  return status?.conditions?.filter((each) => !isCommon(each.type) && each.status === 'False') ?? []
}

/** Whether nothing more happens by itself. */
export function isAtRest({ phase }: ResourceState): boolean {
  return phase === 'current' || phase === 'stalled' || phase === 'paused'
}

/** Where clients reach what a resource serves, as `host:port`. */
export function addressesOf(kinds: KindsRegistry, resource: StatedResource): readonly string[] {
  const { addressPath = '' } = kinds.descriptor(resource.kind).definition
  const steps = addressPath.split('.').filter((step) => step !== '')
  if (steps.length === 0) return []
  const value = steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], resource)
  return [value].flat().filter((each) => typeof each === 'string')
}
