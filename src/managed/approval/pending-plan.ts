import { cut } from '../../util/cut.ts'
import { digestOf } from '../../util/digest.ts'
import { jsonText, nameText } from '../../util/printable.ts'
import { type PendingPlan, SHOWN } from '../descriptor/pending-plan.ts'
import type { FieldChange } from '../plan/field-changes.ts'
import type { PlannedRequest } from './planned-requests.ts'

/** What a hash covers besides the requests: a plan that looks the same at another time is another plan. */
export interface PlanOrigin {
  /** Digest of what would be approved, as `digestOf` returns it. */
  readonly of: string
  /** Hash of the plan that was approved before. */
  readonly after: string | undefined
}

/**
 * Identifies a plan: equal hashes mean the same requests, for the same spec, after the same former plan. It begins with
 * a part of `of`.
 */
export function hashOfPlan(requests: readonly PlannedRequest[], { of, after }: PlanOrigin): string {
  return `${prefixOf(of)}${digestOf([requests, of, after])}`
}

/** Whether a plan with this hash is for the same spec, or deletion. */
export function isPlanFor(hash: string, of: string): boolean {
  return hash.startsWith(prefixOf(of))
}

function prefixOf(of: string): string {
  return `${of.slice(0, 8)}-`
}

/** The plan as the status shows it, cut to what a status can hold. */
export function shownPlan(requests: readonly PlannedRequest[], hash: string, since: string): PendingPlan {
  const more = requests.length - SHOWN.operations
  return {
    hash,
    since,
    operations: requests.slice(0, SHOWN.operations).map(shownRequest),
    ...(more > 0 ? { moreOperations: more } : {}),
  }
}

function shownRequest({ action, collection, id, changes }: PlannedRequest): PendingPlan['operations'][number] {
  const more = changes.length - SHOWN.changes
  return {
    action,
    object: objectText({ collection, id }),
    ...(changes.length === 0 ? {} : { changes: changes.slice(0, SHOWN.changes).map(shownChange) }),
    ...(more > 0 ? { moreChanges: more } : {}),
  }
}

function shownChange({ path, old, new: next, isSecret }: FieldChange) {
  return {
    field: cut(path, SHOWN.path),
    ...(old === undefined ? {} : { from: cut(jsonText(old), SHOWN.value) }),
    ...(next === undefined ? {} : { to: cut(jsonText(next), SHOWN.value) }),
    ...(isSecret ? { secret: true } : {}),
  }
}

function objectText({ collection, id }: Pick<PlannedRequest, 'collection' | 'id'>): string {
  return id === undefined ? collection : `${collection}/${nameText(id)}`
}

/** The requests in words, short enough for a message. */
export function describeRequests(requests: readonly PlannedRequest[]): string {
  const [first] = requests
  if (first === undefined) return 'nothing'
  const words = `${first.action.toLowerCase()} ${objectText(first)}`
  return requests.length === 1 ? words : `${words} and ${requests.length - 1} more`
}
