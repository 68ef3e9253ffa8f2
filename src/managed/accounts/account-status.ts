import type { UnlistableError } from '../../api/list-refusals.ts'
import type { ResourceType } from '../../kube/types.ts'
import { type AccountResource, keyOfAccount } from '../account-resource.ts'
import { generationOf } from '../cr.ts'
import type { AccountStatus } from '../descriptor/account.ts'
import type { Condition, Fields } from '../descriptor/common.ts'
import type { ConditionText } from '../descriptor/readiness.ts'
import { type Reason, reasons } from '../descriptor/reasons.ts'
import { type ConditionState, conditionsFor, isCommon, stampConditions } from '../run/conditions.ts'
import { patchVersion, writeStatus } from '../run/merge-patch.ts'
import type { AccountContext } from './account-context.ts'
import { closedText } from './closed-collections.ts'

/** The intended status of an account. */
export interface AccountFacts {
  readonly state:
    | { readonly type: 'ready'; readonly closed: readonly UnlistableError[] }
    | { readonly type: 'problem'; readonly reason: Reason; readonly message: string; readonly stalled: boolean }
    | { readonly type: 'deleting'; readonly message: string }
  readonly fields: Omit<AccountStatus, 'conditions' | 'observedGeneration'>
}

/** Writes an account's status if a fact in it changed, and records a new Ready state as an Event. */
export async function writeAccountStatus(
  context: AccountContext,
  resource: AccountResource,
  facts: AccountFacts,
): Promise<void> {
  const before = resource.status ?? {}
  const previous = before.conditions ?? []
  const generation = generationOf(resource)
  const conditions = stampConditions(
    conditionsFor(conditionStateOf(facts), [], mirrorConditions(context, resource)),
    previous,
    generation,
    context.clock.now(),
  )
  const after: Fields = { ...before, ...facts.fields, observedGeneration: generation, conditions }
  const written = await writeStatus(context.kube, typeOf(context, resource), resource, after)
  if (written === undefined) return
  context.resources.record(written)
  announceClosed(context, resource, conditions)
  const ready = conditions.find(({ type }) => type === 'Ready')
  const was = previous.find(({ type }) => type === 'Ready')
  if (ready === undefined || (ready.reason === was?.reason && ready.status === was.status)) return
  const type = ready.status === 'True' || facts.state.type === 'deleting' ? 'Normal' : 'Warning'
  context.events.record(resource, { type, reason: ready.reason, message: ready.message })
}

/** Records that another collection closed. That one opened shows in its resources. */
function announceClosed(context: AccountContext, resource: AccountResource, conditions: readonly Condition[]): void {
  const closed = (all: readonly Condition[] = []): Condition | undefined => {
    return all.find(({ type, reason }) => type === 'Synced' && reason === reasons.CollectionNotListable)
  }
  const [now, before] = [closed(conditions), closed(resource.status?.conditions)]
  if (now === undefined || now.message === before?.message) return
  context.events.record(resource, { type: 'Warning', reason: now.reason, message: now.message })
}

/** The conditions of an account other than the common ones. */
function mirrorConditions(context: AccountContext, resource: AccountResource): readonly ConditionText[] {
  const told = resource.status?.conditions ?? []
  return context.mirrorConditions(keyOfAccount(resource)) ?? told.filter(({ type }) => !isCommon(type))
}

/** Patches `metadata` of an account, provided that no one changed it since it was read. */
export async function patchAccountMetadata(
  context: AccountContext,
  resource: AccountResource,
  metadata: Fields,
): Promise<void> {
  context.resources.record(await patchVersion(context.kube, typeOf(context, resource), resource, { metadata }))
}

function typeOf({ kinds }: AccountContext, resource: AccountResource): ResourceType {
  return kinds.accountType(keyOfAccount(resource).kind)
}

const ACCEPTED = 'the API accepts the key'

function conditionStateOf({ state }: AccountFacts): ConditionState {
  switch (state.type) {
    case 'ready': {
      const { closed } = state
      if (closed.length === 0) return { type: 'ready', message: ACCEPTED }
      return { type: 'limited', ready: ACCEPTED, reason: reasons.CollectionNotListable, message: closedText(closed) }
    }
    case 'deleting':
      return { type: 'deleting', reason: reasons.Deleting, message: state.message }
    case 'problem': {
      const { reason, message, stalled } = state
      return stalled
        ? { type: 'stalled', reason, message, existing: false }
        : { type: 'failing', reason, message, existing: false }
    }
  }
}
