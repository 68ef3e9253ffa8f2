import type { KubeObject } from '../../kube/types.ts'
import type { ObjectSource, RecordedSource } from '../../runtime/object-source.ts'
import { isSameAddress } from '../../util/same-address.ts'
import { accountOf } from '../accounts/account-choice.ts'
import {
  type AccountKey,
  type AccountResource,
  accountKey,
  accountText,
  keyOfAccount,
  nameOfAccount,
} from '../accounts/account-resource.ts'
import { type CommandResource, commandStatus } from '../commands/command.ts'
import {
  type CustomResource,
  hasFinalizer,
  heldIds,
  isDeleting,
  isPaused,
  nameOf,
  nameText,
  type ResourceName,
  shortName,
  statusOf,
  type TargetKey,
} from '../cr.ts'
import type { Action } from '../descriptor/command.ts'
import type { InputSource } from '../descriptor/common.ts'
import type { OutputTarget } from '../descriptor/output.ts'
import type { AccountName } from '../identity/attempt.ts'
import { holderAmong } from '../identity/holder.ts'
import { ownNote } from '../identity/sealed-note.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { accountOfMirror, accountOwners, type MirroredObject } from '../mirrors/mirrored.ts'
import { isOn, mirrorNamespace, settingsOf } from '../mirrors/settings.ts'
import { OUTPUT_OF } from '../names.ts'
import { outputTarget } from '../outputs/place.ts'
import type { Resources } from '../reconcile/context.ts'
import { namedTargets } from '../references/crossings.ts'
import { targetIds } from '../references/references.ts'
import type { ServiceResource } from '../services/service.ts'
import type { TunnelResource } from '../tunnels/tunnel.ts'

/** The watches of an operator, one for each type. */
export interface Watches {
  readonly managed: ReadonlyMap<string, RecordedSource<CustomResource>>
  readonly accounts: ReadonlyMap<string, RecordedSource<AccountResource>>
  readonly mirrors: ReadonlyMap<string, RecordedSource<MirroredObject>>
  readonly commands: ReadonlyMap<string, RecordedSource<CommandResource>>
  readonly composed: ReadonlyMap<string, RecordedSource<TunnelResource>>
  /** What runs the agents of Tunnels, by kind; none while there are no agents. */
  readonly workloads: ReadonlyMap<string, RecordedSource<KubeObject>>
  /** Services of type LoadBalancer; absent while Culvert serves none. */
  readonly services?: RecordedSource<ServiceResource> | undefined
  /** Metadata only: the watch reports that a Secret changed; its content is read when needed. */
  readonly secrets: ObjectSource<KubeObject>
  /** Metadata only, like Secrets. */
  readonly configMaps: ObjectSource<KubeObject>
  /** Metadata only; undefined if only some namespaces are watched: then no ClusterAccount is watched either. */
  readonly namespaces: RecordedSource<KubeObject> | undefined
}

export interface NamespacedName {
  readonly namespace: string
  readonly name: string
}

/** An object that a run is about to record as its CR's. */
interface Claim {
  readonly account: AccountKey
  readonly id: string
  readonly cr: CustomResource
}

const TARGETS = 'targets'
const CROSSINGS = 'crossings'
const TARGET_IDS = 'target ids'
const HOLDS = 'holds'
const NOTES = 'notes'
const CHILDREN = 'children'
const SECRETS = 'secrets'
const INPUTS = 'inputs'
const OUTPUTS = 'outputs'
const OWNERS = 'owners'
const HELD_IN = 'held in'
const SHOWS = 'shows'
const MIRRORED_INTO = 'mirrored into'
const MIRROR_NAME = 'mirror name'
const ACTED_ON = 'acted on'

/** Answers the reconcilers' questions from the stores of all watches, by index. */
export class ResourceStore implements Resources {
  readonly #kinds: KindsRegistry
  readonly #watches: Watches
  #recording = false
  /** UIDs with a write of ours in flight, each with the versions that watches have delivered meanwhile. */
  readonly #writing = new Map<string, Set<string>>()
  /** Objects that runs are about to record: only a few at a time. */
  readonly #claims = new Set<Claim>()
  #onChangedByOthers: (name: ResourceName) => void = () => undefined
  #shownAt: (account: AccountKey, id: string) => string | undefined = () => undefined

  constructor(kinds: KindsRegistry, watches: Watches) {
    this.#kinds = kinds
    this.#watches = watches
    for (const [kind, reflector] of watches.managed) this.#index(kind, reflector)
    for (const reflector of watches.mirrors.values()) {
      reflector.addIndex(SHOWS, mirroredFor)
      reflector.addIndex(MIRROR_NAME, ({ metadata }) => [metadata.name])
    }
    for (const reflector of watches.commands.values()) reflector.addIndex(ACTED_ON, actedOn)
    for (const reflector of [watches.secrets, watches.configMaps]) reflector.addIndex(OWNERS, ownersOfOutput)
    for (const reflector of watches.accounts.values()) {
      reflector.addIndex(HELD_IN, heldIn)
      reflector.addIndex(MIRRORED_INTO, (account) => placesOfMirrors(kinds, account))
      reflector.addIndex(SECRETS, ({ spec, metadata }) => [`${metadata.namespace ?? ''}/${spec.apiKeySecretRef.name}`])
    }
  }

  /** True while one of our own writes is being recorded: the resulting event needs no reconcile of the same object. */
  get recording(): boolean {
    return this.#recording
  }

  get(name: ResourceName): CustomResource | undefined {
    return this.#watches.managed.get(name.kind)?.store.get(name)
  }

  account(key: AccountKey): AccountResource | undefined {
    return this.#watches.accounts.get(key.kind)?.store.get(key)
  }

  tunnel(name: ResourceName): TunnelResource | undefined {
    return this.#watches.composed.get(name.kind)?.store.get(name)
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
    const byName = name === undefined ? [] : this.#find(TARGETS, nameText({ kind, namespace, name }))
    const byId =
      account === undefined ? [] : ids.flatMap((id) => this.#findIn(account, id, TARGET_IDS, idText(kind, id)))
    return byId.length === 0 ? byName : [...new Set([...byName, ...byId])]
  }

  crossReferrersOf(name: ResourceName): readonly CustomResource[] {
    return this.#find(CROSSINGS, nameText(name))
  }

  holderOf(account: AccountKey, id: string): CustomResource | undefined {
    return holderAmong(this.claimantsOf(account, id)) ?? this.#claimOn(account, id)?.cr
  }

  noterOf(account: AccountKey, id: string): CustomResource | undefined {
    return this.#findIn(account, id, NOTES)[0]
  }

  /** CRs whose statuses name the object of that account as their own: one, unless something went wrong. */
  claimantsOf(account: AccountKey, id: string): readonly CustomResource[] {
    return this.#findIn(account, id, HOLDS)
  }

  claim(account: AccountKey, id: string, cr: CustomResource): CustomResource | undefined {
    const holder = this.holderOf(account, id)
    if (holder !== undefined && holder.metadata.uid !== cr.metadata.uid) return holder
    if (this.#claimOn(account, id) === undefined) this.#claims.add({ account, id, cr })
    return undefined
  }

  unclaim({ metadata: { uid } }: CustomResource): void {
    for (const claim of this.#claims) if (claim.cr.metadata.uid === uid) this.#claims.delete(claim)
  }

  childHolderOf(account: AccountKey, id: string): CustomResource | undefined {
    return this.#findIn(account, id, CHILDREN)[0]
  }

  isClaimed(id: string): boolean {
    return this.#find(HOLDS, id).length > 0
  }

  /** Whether the CR's object is, or will be, in that account, whatever name the account has. */
  livesIn(cr: CustomResource, account: AccountKey): boolean {
    const own = this.accountKeyOf(cr)
    return own !== undefined && this.#isOne(own, account)
  }

  /** Whether the CR's account is at the same API as another: they may be one account, opened with two keys. */
  isBeside(cr: CustomResource, account: AccountKey): boolean {
    const own = this.accountKeyOf(cr)
    return own !== undefined && this.#isAtOneAPI(own, account)
  }

  /** Sets the function that returns the address of the API that showed an object to an account. */
  learnAddressesFrom(shownAt: (account: AccountKey, id: string) => string | undefined): void {
    this.#shownAt = shownAt
  }

  /** CRs with an input from that Secret or ConfigMap. */
  readersOf(source: InputSource, { namespace, name }: NamespacedName): readonly CustomResource[] {
    return this.#find(INPUTS, inputText(source, namespace, name))
  }

  outputsOf({ metadata: { uid } }: CustomResource): readonly OutputTarget[] {
    const of = (kind: InputSource, { store }: ObjectSource<KubeObject>): readonly OutputTarget[] => {
      return store.byIndex(OWNERS, uid).map(({ metadata: { name } }) => ({ kind, name }))
    }
    return [...of('Secret', this.#watches.secrets), ...of('ConfigMap', this.#watches.configMaps)]
  }

  /** CRs that output, or did output, into that Secret or ConfigMap: by their specs, and by its owner references. */
  writersOf(kind: InputSource, { metadata }: KubeObject): readonly CustomResource[] {
    const { namespace, name, ownerReferences = [] } = metadata
    const owners = ownerReferences.map((owner) => this.get({ kind: owner.kind, namespace, name: owner.name }))
    const byName = this.#find(OUTPUTS, inputText(kind, namespace, name))
    return [...new Set([...byName, ...owners.filter((owner) => owner !== undefined)])]
  }

  keyIssuersOf({ namespace, name }: NamespacedName): readonly CustomResource[] {
    return this.#find(OUTPUTS, inputText('Secret', namespace, name)).filter((cr) => {
      const output = this.#kinds.managedKind(cr.kind)?.output
      const opens = output?.type === 'one-time' && output.opensAccounts
      return opens && statusOf(cr).output?.name === name
    })
  }

  /** Accounts whose key is in that Secret. */
  accountsUsing(secret: NamespacedName, operatorNamespace: string): readonly AccountResource[] {
    const { accounts } = this.#watches
    const own = accounts.get('Account')?.store.byIndex(SECRETS, `${secret.namespace}/${secret.name}`) ?? []
    if (secret.namespace !== operatorNamespace) return own
    return [...own, ...(accounts.get('ClusterAccount')?.store.byIndex(SECRETS, `/${secret.name}`) ?? [])]
  }

  /** Every Account and ClusterAccount. */
  accounts(): readonly AccountResource[] {
    return [...this.#watches.accounts.values()].flatMap(({ store }) => store.list())
  }

  /** Whether a resource in the namespace has our finalizer, or is an Account that is about to get it. */
  needsOperator(namespace: string): boolean {
    const { accounts } = this.#watches
    const hasAccount = [...accounts.values()].some(({ store }) => store.byIndex(HELD_IN, namespace).length > 0)
    return hasAccount || this.#find(HELD_IN, namespace).length > 0
  }

  membersOf(key: AccountKey): readonly CustomResource[] {
    return this.all().filter((cr) => {
      if (key.namespace !== undefined && cr.metadata.namespace !== key.namespace) return false
      const account = this.accountKeyOf(cr)
      return account !== undefined && accountText(account) === accountText(key)
    })
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

  /**
   * The mirrors of that kind that belong to the account: by owner reference, or by their own account reference if that
   * was removed.
   */
  mirroredOf(kind: string, account: AccountResource): readonly MirroredObject[] {
    const store = this.#watches.mirrors.get(kind)?.store
    const found = [account.metadata.uid, shortName(nameOfAccount(account))].flatMap(
      (value) => store?.byIndex(SHOWS, value) ?? [],
    )
    const { namespace } = account.metadata
    return [...new Set(found)].filter((object) => {
      const holder = this.mirrorHolder(object)
      const inReach = namespace === undefined || object.metadata.namespace === namespace
      return holder === undefined ? inReach : holder.metadata.uid === account.metadata.uid
    })
  }

  mirrored(name: ResourceName): MirroredObject | undefined {
    return this.#watches.mirrors.get(name.kind)?.store.get(name)
  }

  /** Accounts whose objects are mirrored into a namespace by CRs of that kind. */
  mirroredInto(kind: string, namespace: string): readonly AccountResource[] {
    const all = [...this.#watches.accounts.values()]
    return all.flatMap(({ store }) => store.byIndex(MIRRORED_INTO, placeText(kind, namespace)))
  }

  command(name: ResourceName): CommandResource | undefined {
    return this.#watches.commands.get(name.kind)?.store.get(name)
  }

  /**
   * Actions of that name that commands other than `cr` took on the object of that account, whatever name the account
   * has.
   */
  actionsOn(
    account: AccountKey,
    { id, action }: { readonly id: string; readonly action: string },
    cr: CommandResource,
  ): readonly Action[] {
    const all = [...this.#watches.commands.values()].flatMap(({ store }) => store.byIndex(ACTED_ON, `${action} ${id}`))
    return all.flatMap((command) => {
      const { accountRef, targets = [] } = commandStatus(command)
      if (accountRef === undefined || command.metadata.uid === cr.metadata.uid) return []
      if (!this.#isAtOneAPI(accountKey(accountRef, command.metadata.namespace ?? ''), account)) return []
      const actions = targets.find((target) => target.id === id)?.actions ?? []
      return actions.filter((each) => each.action === action)
    })
  }

  /** Namespaces in which mirrors of that kind and name show an object of the account, whatever name the account has. */
  namespacesShowing(kind: string, name: string, account: AccountKey): readonly string[] {
    const all = this.#watches.mirrors.get(kind)?.store.byIndex(MIRROR_NAME, name) ?? []
    return all.flatMap((object) => {
      const holder = this.mirrorHolder(object)
      const isShown = holder !== undefined && this.#isOne(keyOfAccount(holder), account)
      return isShown ? [object.metadata.namespace ?? ''] : []
    })
  }

  /** Every mirror of that kind in a namespace. */
  mirroredIn(kind: string, namespace: string): readonly MirroredObject[] {
    const all = this.#watches.mirrors.get(kind)?.store.list() ?? []
    return all.filter(({ metadata }) => metadata.namespace === namespace)
  }

  /** The account among the owners of a mirror, if it still exists. */
  mirrorHolder(object: MirroredObject): AccountResource | undefined {
    for (const { kind, name, uid } of accountOwners(object)) {
      const key = kind === 'Account' ? { kind, name, namespace: object.metadata.namespace } : { kind, name }
      const account = this.#watches.accounts.get(kind)?.store.get(key)
      if (account?.metadata.uid === uid) return account
    }
    return undefined
  }

  record(object: KubeObject): void {
    this.#enter(object, (source) => source.record(object))
  }

  take(object: CustomResource, before: CustomResource | undefined): void {
    this.#enter(object, (source) => source.take(object, before))
  }

  #enter({ kind }: KubeObject, put: (source: RecordedSource<KubeObject>) => void): void {
    const { managed, accounts, mirrors, commands, composed } = this.#watches
    const source =
      managed.get(kind) ?? accounts.get(kind) ?? mirrors.get(kind) ?? commands.get(kind) ?? composed.get(kind)
    this.#recording = true
    try {
      if (source !== undefined) put(source as RecordedSource<KubeObject>)
    } finally {
      this.#recording = false
    }
  }

  async write<T extends KubeObject>(object: KubeObject, send: () => Promise<T>): Promise<T> {
    const { uid } = object.metadata
    const shown = new Set<string>()
    this.#writing.set(uid, shown)
    try {
      const written = await send()
      shown.delete(written.metadata.resourceVersion)
      this.record(written)
      return written
    } finally {
      this.#writing.delete(uid)
      if (shown.size > 0) this.#onChangedByOthers(nameOf(object))
    }
  }

  /**
   * Whether a version delivered by a watch may be the result of our own write in flight. The response settles that;
   * versions that turn out not to be ours are passed to `onChangedByOthers`.
   */
  mayBeOurs({ metadata }: KubeObject): boolean {
    const shown = this.#writing.get(metadata.uid)
    shown?.add(metadata.resourceVersion)
    return shown !== undefined
  }

  /** Sets the listener for changes by other clients that arrived while a write of ours was in flight. */
  onChangedByOthers(listener: (name: ResourceName) => void): void {
    this.#onChangedByOthers = listener
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

  #claimOn(account: AccountKey, id: string): Claim | undefined {
    return [...this.#claims].find((claim) => claim.id === id && this.#isSame(claim.account, account, id))
  }

  /** Whether the id names one object for both: the same API shows it to each, or they are the same account. */
  #isSame(left: AccountKey, right: AccountKey, id: string): boolean {
    if (this.#isOne(left, right)) return true
    const address = this.#shownAt(left, id)
    return address !== undefined && address === this.#shownAt(right, id)
  }

  #isAtOneAPI(one: AccountKey, other: AccountKey): boolean {
    const [left, right] = [this.account(one), this.account(other)]
    return left !== undefined && right !== undefined && isSameAddress(left.spec.baseURL, right.spec.baseURL)
  }

  /**
   * Two resources lead to the same account if each was verified with the same address and key: only a holder of the key
   * can achieve that.
   */
  #isOne(left: AccountKey, right: AccountKey): boolean {
    if (accountText(left) === accountText(right)) return true
    const proven = this.account(left)?.status?.internal?.keyFingerprint
    return proven !== undefined && proven === this.account(right)?.status?.internal?.keyFingerprint
  }

  #index(kind: string, reflector: RecordedSource<CustomResource>): void {
    const descriptor = this.#kinds.managedKind(kind)
    if (descriptor === undefined) throw new Error(`${kind} is watched without a descriptor`)
    reflector.addIndex(TARGETS, (cr) => namedTargets(descriptor, cr).map(nameText))
    reflector.addIndex(CROSSINGS, (cr) => {
      return namedTargets(descriptor, cr).flatMap((target) => {
        return target.namespace === cr.metadata.namespace ? [] : [nameText(target)]
      })
    })
    reflector.addIndex(TARGET_IDS, (cr) => targetIds(descriptor, cr).map((target) => idText(target.kind, target.id)))
    reflector.addIndex(HELD_IN, (cr) => (hasFinalizer(cr) ? [cr.metadata.namespace ?? ''] : []))
    reflector.addIndex(HOLDS, (cr) => heldIds(statusOf(cr)))
    reflector.addIndex(NOTES, (cr) => {
      const note = ownNote(cr)
      return note === undefined ? [] : [note.id]
    })
    reflector.addIndex(CHILDREN, (cr) => descriptor.children?.idsIn(statusOf(cr)) ?? [])
    reflector.addIndex(INPUTS, (cr) => {
      return (descriptor.inputs?.of(cr.spec) ?? []).map(({ source, ref }) =>
        inputText(source, cr.metadata.namespace, ref.name),
      )
    })
    reflector.addIndex(OUTPUTS, (cr) => {
      const places = [outputTarget(descriptor, cr), statusOf(cr).output].filter((place) => place !== undefined)
      return [...new Set(places.map(({ kind: holder, name }) => inputText(holder, cr.metadata.namespace, name)))]
    })
  }
}

/** Where the account's objects are mirrored, for each mirroring kind. */
function placesOfMirrors({ mirrors }: KindsRegistry, account: AccountResource): readonly string[] {
  return mirrors.flatMap((descriptor) => {
    const settings = settingsOf(descriptor, account)
    return isOn(settings) ? [placeText(descriptor.definition.kind, mirrorNamespace(settings, account))] : []
  })
}

function placeText(kind: string, namespace: string): string {
  return `${kind} ${namespace}`
}

/** The namespace of an account that has our finalizer, or gets it in its next reconcile. */
function heldIn(account: AccountResource): readonly string[] {
  const { namespace } = account.metadata
  const isHeld = hasFinalizer(account) || !(isDeleting(account) || isPaused(account))
  return namespace !== undefined && isHeld ? [namespace] : []
}

/**
 * UIDs of the CRs that an output object is for; none if Culvert did not annotate it and only its owner reference names
 * one.
 */
function ownersOfOutput({ metadata }: KubeObject): readonly string[] {
  const { annotations = {}, ownerReferences = [] } = metadata
  return annotations[OUTPUT_OF] === undefined ? [] : ownerReferences.map(({ uid }) => uid)
}

/** Index values of a mirror: its owners, and the account whose object it shows. */
function mirroredFor(object: MirroredObject): readonly string[] {
  const account = accountOfMirror(object)
  return [...accountOwners(object).map(({ uid }) => uid), ...(account === undefined ? [] : [account])]
}

/** Index values of a command: each action that it has begun, with the id of its target. */
function actedOn(command: CommandResource): readonly string[] {
  return (commandStatus(command).targets ?? []).flatMap(({ id, actions }) => {
    return actions.filter(({ state }) => state !== 'Pending').map(({ action }) => `${action} ${id}`)
  })
}

function inputText(source: InputSource, namespace: string | undefined, name: string): string {
  return `${source}/${namespace ?? ''}/${name}`
}

function idText(kind: string, id: string): string {
  return `${kind}/${id}`
}
