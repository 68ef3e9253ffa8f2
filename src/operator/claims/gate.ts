import type { KubeObject } from '../../kube/types.ts'
import { type AccountKey, accountText } from '../../managed/account-resource.ts'
import type { ResourceStore } from '../../managed/store/resource-store.ts'
import type { ReconcileKey } from '../../runtime/controller.ts'
import type { ObjectSource } from '../../runtime/object-source.ts'
import { done, type Outcome } from '../../runtime/outcome.ts'
import { eachInTurns, type Turns } from '../../runtime/turns.ts'
import type { Clock } from '../../util/clock.ts'
import type { AccountClaims } from './account-claims.ts'
import type { Owner, OwnerOf } from './owners.ts'

type Reconcile = (key: ReconcileKey, signal: AbortSignal) => Promise<Outcome>

/** A queue of things with owners. */
export interface Door {
  readonly ownerOf: OwnerOf
  /** What has owners, by kind. */
  readonly sources: ReadonlyMap<string, ObjectSource<KubeObject>>
  readonly enqueue: (key: ReconcileKey, priority: 'drift') => void
}

/** Filters reconciles: only keys of accounts claimed by this process pass. */
export class Gate {
  readonly #claims: AccountClaims
  readonly #store: ResourceStore
  readonly #clock: Pick<Clock, 'setTimer'>
  readonly #turns: Pick<Turns, 'next'> | undefined
  readonly #doors: Door[] = []
  /** Accounts whose contents are about to be queued, as `Kind/namespace/name`. */
  #accounts = new Set<string>()
  /** Namespaces whose contents without an account are about to be queued. */
  #namespaces = new Set<string>()

  constructor(
    claims: AccountClaims,
    store: ResourceStore,
    { clock, turns }: { readonly clock: Pick<Clock, 'setTimer'>; readonly turns?: Pick<Turns, 'next'> | undefined },
  ) {
    this.#claims = claims
    this.#store = store
    this.#clock = clock
    this.#turns = turns
  }

  /** `reconcile` for what may be worked on; anything else is done with at once, and queued when that changes. */
  guard(ownerOf: OwnerOf, reconcile: Reconcile): Reconcile {
    return (key, signal) => {
      const owner = ownerOf(key)
      if (!this.#isOpen(owner, key.namespace)) return Promise.resolve(done)
      if (owner === undefined || owner === 'gone') return reconcile(key, signal)
      return this.#claims.count(owner, () => reconcile(key, signal))
    }
  }

  /** `tell` for what may be worked on. */
  guardTell(ownerOf: OwnerOf, tell: (key: ReconcileKey) => Promise<void> | undefined): typeof tell {
    return (key) => {
      const owner = ownerOf(key)
      if (!this.#isOpen(owner, key.namespace)) return undefined
      const told = tell(key)
      if (told === undefined || owner === undefined || owner === 'gone') return told
      return this.#claims.count(owner, () => told)
    }
  }

  /** Whether this process works on an account, as far as it exists. */
  isOpen(key: AccountKey): boolean {
    const account = this.#store.account(key)
    return account !== undefined && this.#claims.isOpen(account)
  }

  /** Adds a queue whose contents `wake` and `wakeNamespace` queue. */
  add(door: Door): void {
    this.#doors.push(door)
  }

  /** Queues everything of an account, soon: many accounts are opened at a time, and this looks at every resource. */
  wake(account: AccountKey): void {
    this.#wakeSoon()
    this.#accounts.add(accountText(account))
  }

  /** Queues everything of a namespace that has no account, soon. */
  wakeNamespace(namespace: string): void {
    this.#wakeSoon()
    this.#namespaces.add(namespace)
  }

  #wakeSoon(): void {
    if (this.#accounts.size === 0 && this.#namespaces.size === 0) this.#clock.setTimer(0, () => void this.#wakeAll())
  }

  async #wakeAll(): Promise<void> {
    const [accounts, namespaces] = [this.#accounts, this.#namespaces]
    this.#accounts = new Set()
    this.#namespaces = new Set()
    await this.#wakeWhere((owner, { namespace = '' }) => {
      if (owner === 'gone') return false
      const hasAccount = owner !== undefined && this.#store.account(owner) !== undefined
      return hasAccount ? accounts.has(accountText(owner)) : namespaces.has(namespace)
    })
  }

  async #wakeWhere(isConcerned: (owner: Owner, key: ReconcileKey) => boolean): Promise<void> {
    for (const { sources, ownerOf, enqueue } of this.#doors) {
      for (const [kind, { store }] of sources) {
        await eachInTurns(this.#turns, store.list(), ({ metadata: { namespace, name } }) => {
          const key = { kind, namespace, name }
          if (isConcerned(ownerOf(key), key)) enqueue(key, 'drift')
        })
      }
    }
  }

  #isOpen(owner: Owner, namespace: string | undefined): boolean {
    if (owner === 'gone') return true
    const account = owner === undefined ? undefined : this.#store.account(owner)
    return account === undefined ? this.#claims.isOpenWithout(namespace) : this.#claims.isOpen(account)
  }
}
