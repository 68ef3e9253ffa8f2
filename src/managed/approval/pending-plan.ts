import { digestOf } from '../../util/json.ts'
import { cut, jsonText, nameText, printable } from '../../util/printable.ts'
import { type PendingPlan, SHOWN } from '../descriptor/pending-plan.ts'
import type { FieldChange } from './field-changes.ts'
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

/**
 * The plan as the status shows it, with what opens, deletes or replaces first, and cut to what a status can hold:
 * values before requests.
 */
export function shownPlan(requests: readonly PlannedRequest[], hash: string, since: string): PendingPlan {
  const operations: ShownRequest[] = []
  let bytes = 0
  for (const step of stepsByRisk(requests)) {
    const request = requests[step - 1]
    if (request === undefined) break
    const room = SHOWN.bytes - bytes
    const shown = [SHOWN, SHORT]
      .map((limits) => shownRequest(step, request, limits))
      .find((each) => Buffer.byteLength(JSON.stringify(each)) <= room)
    if (shown === undefined || operations.length === SHOWN.operations) break
    bytes += Buffer.byteLength(JSON.stringify(shown))
    operations.push(shown)
  }
  const more = requests.length - operations.length
  return { hash, since, operations, ...(more > 0 ? { moreOperations: more } : {}) }
}

type ShownRequest = PendingPlan['operations'][number]
type Limits = Readonly<Record<'changes' | 'value', number>>

/** Limits for a request that does not fit otherwise. */
const SHORT: Limits = { changes: 16, value: 160 }

/** Places of the requests, from 1: those with marks come first. */
function stepsByRisk(requests: readonly PlannedRequest[]): readonly number[] {
  const steps = requests.map((_, index) => index + 1)
  const isMarked = (step: number): boolean => requests[step - 1]?.marks.length !== 0
  return [...steps.filter(isMarked), ...steps.filter((step) => !isMarked(step))]
}

function shownRequest(step: number, request: PlannedRequest, limits: Limits): ShownRequest {
  const { action, changes, marks } = request
  const more = changes.length - limits.changes
  const shown = changes.slice(0, limits.changes).map((change) => shownChange(change, limits.value))
  return {
    step,
    action,
    object: cut(objectText(request), SHOWN.object),
    ...(marks.length === 0
      ? {}
      : { marks: marks.slice(0, SHOWN.marks).map((text) => cut(printable(text), SHOWN.mark)) }),
    ...(changes.length === 0 ? {} : { changes: shown }),
    ...(more > 0 ? { moreChanges: more } : {}),
  }
}

function shownChange({ path, old, new: next, isSecret }: FieldChange, length: number) {
  return {
    field: cut(path, SHOWN.path),
    ...(old === undefined ? {} : { from: cut(jsonText(old), length) }),
    ...(next === undefined ? {} : { to: cut(jsonText(next), length) }),
    ...(isSecret ? { secret: true } : {}),
  }
}

function objectText({ collection, id }: Pick<PlannedRequest, 'collection' | 'id'>): string {
  return id === undefined ? collection : `${collection}/${nameText(id)}`
}

/** The requests in words, short enough for a message: one, that with marks if there is any, and how many more. */
export function describeRequests(requests: readonly PlannedRequest[]): string {
  const first = requests.find(({ marks }) => marks.length > 0) ?? requests[0]
  if (first === undefined) return 'nothing'
  const words = `${first.action.toLowerCase()} ${objectText(first)}`
  return requests.length === 1 ? words : `${words} and ${requests.length - 1} more`
}
