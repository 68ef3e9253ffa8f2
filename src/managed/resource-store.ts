import type { KubeObject } from '../kube/types.ts'
import type { ObjectSource } from '../runtime/object-source.ts'
import type { Reflector } from '../runtime/reflector.ts'
import { accountOf } from './account-choice.ts'
import {
  type AccountKey,
  type AccountResource,
  accountKey,
  accountText,
  nameOfAccount,
} from './accounts/account-resource.ts'
import type { AccountName } from './attempt.ts'
import type { CommandResource } from './commands/command.ts'
import type { Resources } from './context.ts'
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
} from './cr.ts'
import { holderAmong } from './holder.ts'
import type { KindsRegistry } from './kinds-registry.ts'
import { accountOfMirror, accountOwners, type MirroredObject } from './mirrors/mirrored.ts'
import { OUTPUT_OF } from './names.ts'
import { outputTarget } from './outputs/place.ts'
import { ownNote } from './ownership.ts'
import { namedTargets, targetIds } from './references.ts'
import type { InputSource } from './types/common.ts'
import type { OutputTarget } from './types/descriptor.ts'

/** The watches of an operator, one for each type. */
export interface Watches {
  readonly managed: ReadonlyMap<string, Reflector<CustomResource>>
  readonly accounts: ReadonlyMap<string, Reflector<AccountResource>>
  readonly mirrors: ReadonlyMap<string, Reflector<MirroredObject>>
  readonly commands: ReadonlyMap<string, Reflector<CommandResource>>
  /** Metadata only: that a Secret changed is seen, what is in it is read when needed. */
  readonly secrets: ObjectSource<KubeObject>
  /** Metadata only, as Secrets. */
  readonly configMaps: ObjectSource<KubeObject>
  /** Metadata only; undefined where only some namespaces are watched: then no ClusterAccount is either. */
  readonly namespaces: Reflector<KubeObject> | undefined
}

export interface NamespacedName {
  readonly namespace: string
  readonly name: string
}

const TARGETS = 'targets'
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

/** All that the watches know, behind the questions that reconcilers ask. */
export class ResourceStore implements Resources {
  readonly #kinds: KindsRegistry
  readonly #watches: Watches
  #recording = false
  /** UIDs with a write of ours under way, with the versions that watches have shown meanwhile. */
  readonly #writing = new Map<string, Set<string>>()
  /** Objects that runs are about to note, by id: a few at a time. */
  readonly #claims = new Map<string, CustomResource>()
  #onChangedByOthers: (name: ResourceName) => void = () => undefined

  constructor(kinds: KindsRegistry, watches: Watches) {
    this.#kinds = kinds
    this.#watches = watches
    for (const [kind, reflector] of watches.managed) this.#index(kind, reflector)
    for (const reflector of watches.mirrors.values()) reflector.addIndex(SHOWS, mirroredFor)
    for (const reflector of [watches.secrets, watches.configMaps]) reflector.addIndex(OWNERS, ownersOfOutput)
    for (const reflector of watches.accounts.values()) {
      reflector.addIndex(HELD_IN, heldIn)
      reflector.addIndex(SECRETS, ({ spec, metadata }) => [`${metadata.namespace ?? ''}/${spec.apiKeySecretRef.name}`])
    }
  }

  /** True while one of our own writes is being recorded: its event needs no reconcile of the same object. */
  get recording(): boolean {
    return this.#recording
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

  allowsAdoption(account: AccountName, namespace: string): boolean {
    const resource = this.account(accountKey(account, namespace))
    return account.kind === 'Account' || resource?.spec.allowAdoption === true
  }

  isPaced(account: AccountName, namespace: string): boolean {
    return this.account(accountKey(account, namespace))?.spec.rateLimit !== undefined
  }

  namespace(name: string): KubeObject | undefined {
    return this.#watches.namespaces?.store.get({ name })
  }

  referrersOf({ kind, namespace, name, ids = [] }: TargetKey): readonly CustomResource[] {
    const byName = name === undefined ? [] : this.#find(TARGETS, nameText({ kind, namespace, name }))
    const byId = ids.flatMap((id) => this.#find(TARGET_IDS, idText(kind, id)))
    return byId.length === 0 ? byName : [...new Set([...byName, ...byId])]
  }

  holderOf(id: string): CustomResource | undefined {
    return holderAmong(this.claimantsOf(id)) ?? this.#claims.get(id)
  }

  noterOf(id: string): CustomResource | undefined {
    return this.#find(NOTES, id)[0]
  }

  /** CRs whose statuses name the object as theirs: one, unless something went wrong. */
  claimantsOf(id: string): readonly CustomResource[] {
    return this.#find(HOLDS, id)
  }

  claim(id: string, cr: CustomResource): CustomResource | undefined {
    const holder = this.holderOf(id)
    if (holder !== undefined && holder.metadata.uid !== cr.metadata.uid) return holder
    this.#claims.set(id, cr)
    return undefined
  }

  unclaim({ metadata: { uid } }: CustomResource): void {
    for (const [id, { metadata }] of this.#claims) if (metadata.uid === uid) this.#claims.delete(id)
  }

  childHolderOf(id: string): CustomResource | undefined {
    return this.#find(CHILDREN, id)[0]
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

  /** CRs that output into that Secret or ConfigMap, or did: by their specs, and as its owners. */
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

  /** The account that a CR lives in or is to live in. */
  accountKeyOf(cr: CustomResource): AccountKey | undefined {
    const account = accountOf({ kinds: this.#kinds, resources: this }, cr)
    return account === undefined ? undefined : accountKey(account, cr.metadata.namespace ?? '')
  }

  /** Every CR of every managed kind. */
  all(): readonly CustomResource[] {
    return [...this.#watches.managed.values()].flatMap(({ store }) => store.list())
  }

  /** The CRs of a mirroring kind that are the account's: by their owner, or where that was taken off, by what they say. */
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

  command(name: ResourceName): CommandResource | undefined {
    return this.#watches.commands.get(name.kind)?.store.get(name)
  }

  /** Every CR of a mirroring kind in a namespace. */
  mirroredIn(kind: string, namespace: string): readonly MirroredObject[] {
    const all = this.#watches.mirrors.get(kind)?.store.list() ?? []
    return all.filter(({ metadata }) => metadata.namespace === namespace)
  }

  /** The account among the owners of a CR that mirrors, if it still exists. */
  mirrorHolder(object: MirroredObject): AccountResource | undefined {
    for (const { kind, name, uid } of accountOwners(object)) {
      const key = kind === 'Account' ? { kind, name, namespace: object.metadata.namespace } : { kind, name }
      const account = this.#watches.accounts.get(kind)?.store.get(key)
      if (account?.metadata.uid === uid) return account
    }
    return undefined
  }

  record(object: KubeObject): void {
    const { managed, accounts, mirrors, commands } = this.#watches
    const reflector = [managed, accounts, mirrors, commands].map((kinds) => kinds.get(object.kind)).find(Boolean)
    this.#recording = true
    try {
      ;(reflector as Reflector<KubeObject> | undefined)?.record(object)
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
   * Whether a version that a watch shows may be the result of our own write under way. Whose it is turns out with the response;
   * `onChangedByOthers` hears of those that are not ours.
   */
  mayBeOurs({ metadata }: KubeObject): boolean {
    const shown = this.#writing.get(metadata.uid)
    shown?.add(metadata.resourceVersion)
    return shown !== undefined
  }

  /** Names who hears of changes by others that came while a write of ours was under way. */
  onChangedByOthers(listener: (name: ResourceName) => void): void {
    this.#onChangedByOthers = listener
  }

  #find(index: string, value: string): readonly CustomResource[] {
    return [...this.#watches.managed.values()].flatMap(({ store }) => store.byIndex(index, value))
  }

  #index(kind: string, reflector: Reflector<CustomResource>): void {
    const descriptor = this.#kinds.managedKind(kind)
    if (descriptor === undefined) throw new Error(`${kind} is watched without a descriptor`)
    reflector.addIndex(TARGETS, (cr) => namedTargets(descriptor, cr).map(nameText))
    reflector.addIndex(TARGET_IDS, (cr) => targetIds(descriptor, cr).map((target) => idText(target.kind, target.id)))
    reflector.addIndex(HELD_IN, (cr) => (hasFinalizer(cr) ? [cr.metadata.namespace ?? ''] : []))
    reflector.addIndex(HOLDS, (cr) => heldIds(statusOf(cr)))
    reflector.addIndex(NOTES, (cr) => {
      const note = ownNote(cr)
      return note === undefined ? [] : [note.id]
    })
    reflector.addIndex(CHILDREN, (cr) => descriptor.children?.idsIn(statusOf(cr)) ?? [])
    reflector.addIndex(INPUTS, (cr) => {
      return descriptor.inputs(cr.spec).map(({ source, ref }) => inputText(source, cr.metadata.namespace, ref.name))
    })
    reflector.addIndex(OUTPUTS, (cr) => {
      const places = [outputTarget(descriptor, cr), statusOf(cr).output].filter((place) => place !== undefined)
      return [...new Set(places.map(({ kind: holder, name }) => inputText(holder, cr.metadata.namespace, name)))]
    })
  }
}

/** The namespace of an account that has our finalizer, or gets it in its next reconcile. */
function heldIn(account: AccountResource): readonly string[] {
  const { namespace } = account.metadata
  const isHeld = hasFinalizer(account) || !(isDeleting(account) || isPaused(account))
  return namespace !== undefined && isHeld ? [namespace] : []
}

/** UIDs of the CRs that an object is for; of none for one that somebody else made their dependent. */
function ownersOfOutput({ metadata }: KubeObject): readonly string[] {
  const { annotations = {}, ownerReferences = [] } = metadata
  return annotations[OUTPUT_OF] === undefined ? [] : ownerReferences.map(({ uid }) => uid)
}

/** What a CR that mirrors is found under: its owners, and whose object it says that it shows. */
function mirroredFor(object: MirroredObject): readonly string[] {
  const account = accountOfMirror(object)
  return [...accountOwners(object).map(({ uid }) => uid), ...(account === undefined ? [] : [account])]
}

function inputText(source: InputSource, namespace: string | undefined, name: string): string {
  return `${source}/${namespace ?? ''}/${name}`
}

function idText(kind: string, id: string): string {
  return `${kind}/${id}`
}
