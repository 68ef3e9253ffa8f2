import { isSameAddress } from '../../api/base-url.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { ObjectSource, RecordedSource } from '../../runtime/object-source.ts'
import { type AccountKey, type AccountResource, accountKey, accountText } from '../account-resource.ts'
import type { AccountName } from '../attempt.ts'
import { type CustomResource, hasFinalizer, nameText, type ResourceName, statusOf, type TargetKey } from '../cr.ts'
import type { InputSource } from '../descriptor/common.ts'
import type { OutputTarget } from '../descriptor/output.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { accountOf } from '../references/account-choice.ts'
import type { Resources } from '../run/context.ts'
import { holderAmong } from './holder.ts'
import { OwnWrites } from './own-writes.ts'
import { idText, indexes, indexResources, inputText, undecidedIn } from './resource-indexes.ts'
import type { CoreWatches } from './watches.ts'

export interface NamespacedName {
  readonly namespace: string
  readonly name: string
}

/** An object that a run is about to record as its CR's. */
interface ObjectLock {
  readonly account: AccountKey
  readonly id: string
  readonly cr: CustomResource
}

/** Where answers to writes are put. */
type Source = Pick<RecordedSource<KubeObject>, 'record' | 'take'>

/** Answers the reconcilers' questions from the stores of all watches, by index. */
export class ResourceStore implements Resources {
  /** Which events of watches are our own writes. */
  readonly ownWrites: OwnWrites = new OwnWrites()
  readonly #kinds: KindsRegistry
  readonly #watches: CoreWatches
  /** Objects that runs are about to record: only a few at a time. */
  readonly #locks = new Set<ObjectLock>()
  /** The watches of features above, by kind. */
  readonly #added = new Map<string, Source>()
  #shownAt: (account: AccountKey, id: string) => string | undefined = () => undefined

  constructor(kinds: KindsRegistry, watches: CoreWatches) {
    this.#kinds = kinds
    this.#watches = watches
    indexResources(kinds, watches)
  }

  get(name: ResourceName): CustomResource | undefined {
    return this.#watches.managed.get(name.kind)?.store.get(name)
  }

  account(key: AccountKey): AccountResource | undefined {
    return this.#watches.accounts.get(key.kind)?.store.get(key)
  }

  hasAccount(account: AccountName, namespace: string): boolean {
    return this.account(accountKey(account, namespace)) !== undefined
  }

  isPaced(account: AccountName, namespace: string): boolean {
    return this.account(accountKey(account, namespace))?.spec.rateLimit !== undefined
  }

  namespace(name: string): KubeObject | undefined {
    return this.#watches.namespaces?.store.get({ name })
  }

  referrersOf({ kind, namespace, name, ids = [], account }: TargetKey): readonly CustomResource[] {
    const byName = name === undefined ? [] : this.#find(indexes.targets, nameText({ kind, namespace, name }))
    const byId =
      account === undefined ? [] : ids.flatMap((id) => this.#findIn(account, id, indexes.targetIds, idText(kind, id)))
    return byId.length === 0 ? byName : [...new Set([...byName, ...byId])]
  }

  crossReferrersOf(name: ResourceName): readonly CustomResource[] {
    return this.#find(indexes.crossings, nameText(name))
  }

  holderOf(account: AccountKey, id: string): CustomResource | undefined {
    return holderAmong(this.holdersOf(account, id)) ?? this.#lockOn(account, id)?.cr
  }

  noterOf(account: AccountKey, id: string): CustomResource | undefined {
    return this.#findIn(account, id, indexes.notes)[0]
  }

  /** CRs whose statuses name the object of that account as their own: one, unless something went wrong. */
  holdersOf(account: AccountKey, id: string): readonly CustomResource[] {
    return this.#findIn(account, id, indexes.holds)
  }

  lock(account: AccountKey, id: string, cr: CustomResource): CustomResource | undefined {
    const holder = this.holderOf(account, id)
    if (holder !== undefined && holder.metadata.uid !== cr.metadata.uid) return holder
    if (this.#lockOn(account, id) === undefined) this.#locks.add({ account, id, cr })
    return undefined
  }

  unlock({ metadata: { uid } }: CustomResource): void {
    for (const each of this.#locks) if (each.cr.metadata.uid === uid) this.#locks.delete(each)
  }

  childHolderOf(account: AccountKey, id: string): CustomResource | undefined {
    return this.#findIn(account, id, indexes.children)[0]
  }

  isHeld(id: string): boolean {
    return this.#find(indexes.holds, id).length > 0
  }

  /** Whether the CR's object is, or will be, in that account, whatever name the account has. */
  livesIn(cr: CustomResource, account: AccountKey): boolean {
    const own = this.accountKeyOf(cr)
    return own !== undefined && this.isOne(own, account)
  }

  /** Whether the CR's account is at the same API as another: they may be one account, opened with two keys. */
  isBeside(cr: CustomResource, account: AccountKey): boolean {
    const own = this.accountKeyOf(cr)
    return own !== undefined && this.isAtOneAPI(own, account)
  }

  /** Sets the function that returns the address of the API that showed an object to an account. */
  setAddressLookup(shownAt: (account: AccountKey, id: string) => string | undefined): void {
    this.#shownAt = shownAt
  }

  /** CRs with an input from that Secret or ConfigMap. */
  readersOf(source: InputSource, { namespace, name }: NamespacedName): readonly CustomResource[] {
    return this.#find(indexes.inputs, inputText(source, namespace, name))
  }

  outputsOf({ metadata: { uid } }: CustomResource): readonly OutputTarget[] {
    const of = (kind: InputSource, { store }: ObjectSource<KubeObject>): readonly OutputTarget[] => {
      return store.byIndex(indexes.owners, uid).map(({ metadata: { name } }) => ({ kind, name }))
    }
    return [...of('Secret', this.#watches.secrets), ...of('ConfigMap', this.#watches.configMaps)]
  }

  /** CRs that output, or did output, into that Secret or ConfigMap: by their specs, and by its owner references. */
  writersOf(kind: InputSource, { metadata }: KubeObject): readonly CustomResource[] {
    const { namespace, name, ownerReferences = [] } = metadata
    const owners = ownerReferences.map((owner) => this.get({ kind: owner.kind, namespace, name: owner.name }))
    const byName = this.#find(indexes.outputs, inputText(kind, namespace, name))
    return [...new Set([...byName, ...owners.filter((owner) => owner !== undefined)])]
  }

  keyIssuersOf({ namespace, name }: NamespacedName): readonly CustomResource[] {
    return this.#find(indexes.outputs, inputText('Secret', namespace, name)).filter((cr) => {
      const output = this.#kinds.managedKind(cr.kind)?.output
      const opens = output?.type === 'one-time' && output.opensAccounts
      return opens && statusOf(cr).output?.name === name
    })
  }

  /** Accounts whose key is in that Secret. */
  accountsUsing(secret: NamespacedName, operatorNamespace: string): readonly AccountResource[] {
    const { accounts } = this.#watches
    const own = accounts.get('Account')?.store.byIndex(indexes.secrets, `${secret.namespace}/${secret.name}`) ?? []
    if (secret.namespace !== operatorNamespace) return own
    return [...own, ...(accounts.get('ClusterAccount')?.store.byIndex(indexes.secrets, `/${secret.name}`) ?? [])]
  }

  /** Every Account and ClusterAccount. */
  accounts(): readonly AccountResource[] {
    return [...this.#watches.accounts.values()].flatMap(({ store }) => store.list())
  }

  /** Whether a resource in the namespace has our finalizer, or is an Account that is about to get it. */
  needsOperator(namespace: string): boolean {
    const { accounts } = this.#watches
    const hasAccount = [...accounts.values()].some(({ store }) => store.byIndex(indexes.heldIn, namespace).length > 0)
    return hasAccount || this.inNamespace(namespace).some(hasFinalizer)
  }

  membersOf(key: AccountKey): readonly CustomResource[] {
    return this.candidatesOf(key).filter((cr) => {
      const account = this.accountKeyOf(cr)
      return account !== undefined && accountText(account) === accountText(key)
    })
  }

  /** CRs of every kind in the namespace. */
  inNamespace(namespace: string): readonly CustomResource[] {
    return this.#find(indexes.namespace, namespace)
  }

  /** CRs that have, or may have, an object in the account, and those that could come to it as they have none. */
  candidatesOf(key: AccountKey): readonly CustomResource[] {
    return [
      ...this.#find(indexes.account, accountText(key)),
      ...this.#find(indexes.account, undecidedIn(key.namespace)),
    ]
  }

  /** The account that holds the CR's object, or will hold it. */
  accountKeyOf(cr: CustomResource): AccountKey | undefined {
    const account = accountOf({ kinds: this.#kinds, resources: this }, cr)
    return account === undefined ? undefined : accountKey(account, cr.metadata.namespace ?? '')
  }

  /** Every CR of every managed kind. */
  all(): readonly CustomResource[] {
    return [...this.#watches.managed.values()].flatMap(({ store }) => store.list())
  }

  /** Has `record` put answers about objects of these kinds into the watches of a feature above the core. */
  recordInto<T extends KubeObject>(sources: ReadonlyMap<string, RecordedSource<T>>): void {
    for (const [kind, source] of sources) this.#added.set(kind, source as unknown as Source)
  }

  record(object: KubeObject): void {
    this.#enter(object, (source) => source.record(object))
  }

  take(object: CustomResource, before: CustomResource | undefined): void {
    this.#enter(object, (source) => source.take(object, before))
  }

  #enter({ kind }: KubeObject, put: (source: Source) => void): void {
    const { managed, accounts } = this.#watches
    const source = managed.get(kind) ?? accounts.get(kind) ?? this.#added.get(kind)
    if (source !== undefined) this.ownWrites.recordedBy(() => put(source as Source))
  }

  write<T extends KubeObject>(object: KubeObject, send: () => Promise<T>): Promise<T> {
    return this.ownWrites.inFlight(object, send, (written) => this.record(written))
  }

  #find(index: string, value: string): readonly CustomResource[] {
    const found: CustomResource[] = []
    for (const { store } of this.#watches.managed.values()) {
      for (const cr of store.byIndex(index, value)) found.push(cr)
    }
    return found
  }

  /** CRs for which `id` means the same object as for the account. */
  #findIn(account: AccountKey, id: string, index: string, value = id): readonly CustomResource[] {
    return this.#find(index, value).filter((cr) => {
      const own = this.accountKeyOf(cr)
      return own !== undefined && this.#isSame(own, account, id)
    })
  }

  #lockOn(account: AccountKey, id: string): ObjectLock | undefined {
    return [...this.#locks].find((each) => each.id === id && this.#isSame(each.account, account, id))
  }

  /** Whether the id names one object for both: the same API shows it to each, or they are the same account. */
  #isSame(left: AccountKey, right: AccountKey, id: string): boolean {
    if (this.isOne(left, right)) return true
    const address = this.#shownAt(left, id)
    return address !== undefined && address === this.#shownAt(right, id)
  }

  /** Whether both accounts are at the same API. */
  isAtOneAPI(one: AccountKey, other: AccountKey): boolean {
    const [left, right] = [this.account(one), this.account(other)]
    return left !== undefined && right !== undefined && isSameAddress(left.spec.baseURL, right.spec.baseURL)
  }

  /**
   * Two resources lead to the same account if each was verified with the same address and key: only a holder of the key
   * can achieve that.
   */
  isOne(left: AccountKey, right: AccountKey): boolean {
    if (accountText(left) === accountText(right)) return true
    const proven = this.account(left)?.status?.internal?.keyFingerprint
    return proven !== undefined && proven === this.account(right)?.status?.internal?.keyFingerprint
  }
}
