import type { BudgetShare } from '../api/shared-budgets.ts'
import type { KubeObject } from '../kube/types.ts'
import { type AccountResource, accountText, keyOfAccount } from '../managed/account-resource.ts'
import { type CustomResource, nameOf, nameText, type ResourceName, statusOf } from '../managed/cr.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import { reasons } from '../managed/descriptor/reasons.ts'
import type { KindsRegistry } from '../managed/kinds-registry.ts'
import { isRotationFailing } from '../managed/rotation/words.ts'
import type { CredentialState } from '../runtime/metrics.ts'
import type { ObjectSource } from '../runtime/object-source.ts'
import type { CountedState, ResourceState, StateSources } from '../runtime/state-metrics.ts'
import type { Watches } from './watches.ts'

/**
 * State for the metrics; `budgets` holds those of the accounts, by `Kind/namespace/name`. Accounts that are not ours
 * are left out.
 */
export function stateSources(
  watches: Watches,
  budgets: ReadonlyMap<string, BudgetShare>,
  isOurs: (account: AccountResource) => boolean,
): StateSources {
  const { managed, accounts, commands, composed } = watches
  const allAccounts = () => [...accounts.values()].flatMap(({ store }) => store.list().filter(isOurs))
  const tally = new Tally()
  for (const source of [managed, accounts, commands, composed].flatMap((sources) => [...sources.values()])) {
    tally.follow(source)
  }
  return {
    resources: () => tally.counts(),
    accounts: () => {
      return allAccounts().map((account) => ({ account: accountText(keyOfAccount(account)), ...state(account) }))
    },
    budgets: () => {
      return allAccounts().flatMap((resource) => {
        const account = accountText(keyOfAccount(resource))
        const budget = budgets.get(account)
        return budget === undefined ? [] : [{ account, waitSeconds: budget.estimatedWaitMs() / 1000 }]
      })
    },
  }
}

/** How many resources are in which state, kept as they change: a scrape does not go through all resources. */
class Tally {
  readonly #counts = new Map<string, { readonly state: ResourceState; count: number }>()

  follow(source: Pick<ObjectSource<KubeObject>, 'subscribe'>): void {
    source.subscribe(({ type, object, previous }) => {
      if (previous !== undefined) this.#add(resourceState(previous), -1)
      this.#add(resourceState(object), type === 'deleted' ? -1 : 1)
    })
  }

  counts(): Iterable<CountedState> {
    return this.#counts.values()
  }

  #add(state: ResourceState, by: 1 | -1): void {
    const { kind, ready, synced, reason } = state
    const key = `${kind} ${ready} ${synced} ${reason}`
    const counted = this.#counts.get(key) ?? { state, count: 0 }
    counted.count += by
    if (counted.count === 0) this.#counts.delete(key)
    else this.#counts.set(key, counted)
  }
}

/**
 * The states of all certificates and tokens, kept as their resources change. `isOurs` says of a resource whether this
 * process works on its account: of several operators, one shows it.
 */
export function credentialStates(
  kinds: KindsRegistry,
  managed: Watches['managed'],
  isOurs: (name: ResourceName) => boolean,
): () => Iterable<CredentialState> {
  const states = new Map<string, CredentialState>()
  for (const [kind, source] of managed) {
    const descriptor = kinds.managedKind(kind)
    if (descriptor === undefined) continue
    source.subscribe(({ type, object }) => {
      const key = nameText(nameOf(object))
      const state = type === 'deleted' ? undefined : credentialState(descriptor, object)
      if (state === undefined) states.delete(key)
      else states.set(key, state)
    })
  }
  return () => [...states.values()].filter(isOurs)
}

/** Undefined for a resource whose status says nothing about a certificate or a rotation. */
function credentialState(descriptor: ManagedDescriptor, cr: CustomResource): CredentialState | undefined {
  const { namespace = '', name } = cr.metadata
  const status = statusOf(cr)
  const renewsAt = timeOf(descriptor.status.certificate?.renewsAt?.(status))
  const expiresAt = timeOf(descriptor.status.certificate?.expiresAt?.(status))
  const failing = isRotationFailing(descriptor, status)
  const isKnown = renewsAt !== undefined || expiresAt !== undefined || failing !== undefined
  return isKnown ? { kind: cr.kind, namespace, name, renewsAt, expiresAt, failing } : undefined
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text)
}

/**
 * The condition Ready, or Complete for a command, which also gives the reason of a failure; undefined before the first
 * reconcile. A reason that is not one of Culvert's, and so was written by someone else, becomes `Other`.
 */
export function readyOf(object: WithStatus): Shown | undefined {
  return shownOf(object, READY)
}

type WithStatus = KubeObject & { readonly status?: unknown }

/** A condition, restricted to a small set of values. */
interface Shown {
  readonly status: string
  readonly reason: string
}

const READY: readonly string[] = ['Ready', 'Complete']
const SYNCED: readonly string[] = ['Synced']
const STATUSES: ReadonlySet<string> = new Set(['True', 'False', 'Unknown'])
const REASONS: ReadonlySet<string> = new Set(Object.values(reasons))

function shownOf({ status }: WithStatus, types: readonly string[]): Shown | undefined {
  const conditions = typeof status === 'object' && status !== null && 'conditions' in status ? status.conditions : []
  if (!Array.isArray(conditions)) return undefined
  const found = conditions.find((condition) => types.includes(condition.type))
  if (found === undefined) return undefined
  return {
    status: STATUSES.has(found.status) ? found.status : 'Unknown',
    reason: REASONS.has(found.reason) ? found.reason : 'Other',
  }
}

function state(object: KubeObject): { readonly ready: string; readonly reason: string } {
  const { status = 'Unknown', reason = '' } = readyOf(object) ?? {}
  return { ready: status, reason }
}

/**
 * A resource whose edit was refused stays Ready, and a paused one stays as it was; the reason is then that of Synced.
 */
function resourceState(object: KubeObject): ResourceState {
  const { kind } = object
  const { ready, reason } = state(object)
  const synced = shownOf(object, SYNCED)
  if (synced === undefined) return { kind, ready, synced: '', reason }
  const isSyncedCause = (ready === 'True' && synced.status !== 'True') || synced.reason === reasons.Paused
  return { kind, ready, synced: synced.status, reason: isSyncedCause ? synced.reason : reason }
}
