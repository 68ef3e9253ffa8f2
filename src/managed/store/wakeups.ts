import type { KubeObject } from '../../kube/types.ts'
import type { ObjectEvent } from '../../runtime/replica.ts'
import { eachInTurns, type Turns } from '../../runtime/turns.ts'
import { equalJSON } from '../../util/json.ts'
import type { Priority } from '../../util/priority.ts'
import { type AccountKey, type AccountResource, accountText, keyOfAccount } from '../account-resource.ts'
import { entriesFor } from '../accounts/access.ts'
import {
  type CustomResource,
  heldIds,
  internalOf,
  isDeleting,
  nameOf,
  needsApproval,
  type ResourceName,
  statusOf,
  type TargetKey,
  targetKeyOf,
} from '../cr.ts'
import type { AccountSpec } from '../descriptor/account.ts'
import type { InputSource } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import { reasons } from '../descriptor/reasons.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { referredBy, valueKey } from '../markers/object-keys.ts'
import { RESERVED_FOR } from '../names.ts'
import { countsAcross, crosses, isGranted, namedTargets, referredName } from '../references/crossings.ts'
import { targetIds } from '../references/targets.ts'
import type { Memories } from '../run/memory.ts'
import type { SessionCache } from '../run/session.ts'
import type { NamespacedName, ResourceStore } from './resource-store.ts'
import type { CoreWatches } from './watches.ts'

/** Where work is queued. */
export interface Wakeups {
  readonly managed: (name: ResourceName, priority: Priority) => void
  readonly account: (key: AccountKey, priority: Priority) => void
}

export interface WakeupOptions {
  readonly kinds: KindsRegistry
  readonly store: ResourceStore
  readonly watches: CoreWatches
  readonly memories: Memories
  readonly operatorNamespace: string
  readonly wake: Wakeups
}

/** Turns watch events into queued work: for the object itself and for everything that waits for it. */
export function subscribeWakeups(options: WakeupOptions): void {
  const { store, wake, watches } = options
  store.ownWrites.onChangedByOthers((name) => wake.managed(name, 'edit'))
  for (const reflector of watches.managed.values()) reflector.onChange((event) => onResource(options, event))
  for (const reflector of watches.accounts.values()) reflector.onChange((event) => onAccount(options, event))
  watches.secrets.onChange((event) => onSecret(options, event))
  watches.configMaps.onChange((event) => onInput(options, 'ConfigMap', event))
  watches.namespaces?.onChange((event) => onNamespace(options, event))
}

/**
 * Queues every account and resource that exists when a process begins to reconcile. As each of them is queued itself,
 * what depends on it need not be looked up.
 */
export async function wakeExisting(
  { watches, wake }: Pick<WakeupOptions, 'watches' | 'wake'>,
  turns: Pick<Turns, 'next'> | undefined,
): Promise<void> {
  for (const { store } of watches.accounts.values()) {
    await eachInTurns(turns, store.list(), (account) => wake.account(keyOfAccount(account), 'edit'))
  }
  for (const { store } of watches.managed.values()) {
    await eachInTurns(turns, store.list(), (cr) => wake.managed(nameOf(cr), 'edit'))
  }
}

/**
 * Whether one history cannot contain both copies: after an etcd restore, an edit may have given the restored CR a
 * newer resourceVersion than any known one. Two histories may use the same generation: a write based on one may be
 * answered with a spec of the other.
 */
function isOfAnotherHistory(
  { metadata: before }: CustomResource,
  { metadata: now }: CustomResource,
  isEdited: boolean,
): boolean {
  const [first = 0, second = 0] = [before.generation, now.generation]
  const isDeletedAnew = before.deletionTimestamp !== undefined && before.deletionTimestamp !== now.deletionTimestamp
  return (isEdited && first === second) || second < first || isDeletedAnew
}

function onResource(options: WakeupOptions, event: ObjectEvent<CustomResource>): void {
  const { kinds, store, memories, wake } = options
  const { object, previous } = event
  const name = nameOf(object)
  const isEdited = hasAnotherSpec(event)
  const isPutBack = event.isRolledBack || (previous !== undefined && isOfAnotherHistory(previous, object, isEdited))
  if (isPutBack) memories.rollBack(object.metadata.uid)
  if (event.type === 'deleted') memories.forget(object.metadata.uid)
  // Our own status write ends a reconcile and starts none, unless the response shows another spec.
  else if (isPutBack || !((store.ownWrites.recording && !isEdited) || store.ownWrites.mayBeOurs(object))) {
    wake.managed(name, 'edit')
  }
  // After an etcd restore, generations start over from the backup.
  const before = isPutBack ? undefined : previous
  if (before !== undefined && !isEdited && isSameForOthers(before, object)) return
  wakeRivals(options, event)
  const descriptor = kinds.managedKind(name.kind)
  const parts = descriptor?.whole?.parts ?? []
  const asBefore = before !== undefined && isSameForParts(before, object)
  const ids = [...new Set([previous, object].flatMap((cr) => (cr === undefined ? [] : heldIds(statusOf(cr)))))]
  for (const referrer of store.referrersOf({ ...name, ids, account: store.accountKeyOf(object) })) {
    if (!asBefore || !parts.includes(referrer.kind)) wake.managed(nameOf(referrer), 'edit')
  }
  if (descriptor === undefined) return
  // A target that is being deleted, or has a superseded object, waits for its referrers.
  for (const dependent of previous === undefined ? [object] : [previous, object]) {
    for (const target of targetsOf(store, descriptor, dependent)) {
      const resource = store.get({ ...target, name: target.name ?? '' })
      if (resource !== undefined && (waitsForReferrers(resource) || isUngranted(store, dependent, resource))) {
        wake.managed(nameOf(resource), 'edit')
      }
      wakeWhole(options, target, object)
    }
  }
  const account = store.accountKeyOf(object)
  if (account === undefined || event.type !== 'deleted') return
  const resource = store.account(account)
  if (resource !== undefined && isDeleting(resource)) wake.account(account, 'edit')
}

/**
 * When a CR gains or loses an object, other CRs whose statuses name the same object must decide again, and so must the
 * CR itself if another came first.
 */
function wakeRivals({ store, wake }: WakeupOptions, { object, previous, type }: ObjectEvent<CustomResource>): void {
  const former = type === 'deleted' ? object : previous
  const had = former === undefined ? [] : heldIds(statusOf(former))
  const has = type === 'deleted' ? [] : heldIds(statusOf(object))
  const moved = [...had.filter((id) => !has.includes(id)), ...has.filter((id) => !had.includes(id))]
  const account = store.accountKeyOf(object)
  if (account === undefined) return
  for (const holders of moved.map((id) => store.holdersOf(account, id))) {
    const isAlone = holders.every(({ metadata }) => metadata.uid === object.metadata.uid)
    if (!isAlone) for (const holder of holders) wake.managed(nameOf(holder), 'edit')
  }
}

/**
 * A change of a part wakes its whole, and the whole's referrers, which may find it usable then. A part that is being
 * deleted, or whose object is to be replaced, may wait for another part to become Ready, or for the last dependent to
 * go. What a part says of itself does not wake it: a deletion that says something else at each try would have no pause
 * between tries.
 */
function wakeWhole({ kinds, store, wake }: WakeupOptions, whole: TargetKey, changed: CustomResource): void {
  const { kind, namespace, name } = whole
  const parts = kinds.managedKind(kind)?.whole?.parts ?? []
  if (parts.length === 0) return
  const isPart = parts.includes(changed.kind)
  if (isPart && name !== undefined) wake.managed({ kind, namespace, name }, 'edit')
  for (const referrer of store.referrersOf(whole)) {
    const waits = parts.includes(referrer.kind) ? isDeleting(referrer) || isReplaced(referrer) : isPart
    if (waits && referrer.metadata.uid !== changed.metadata.uid) wake.managed(nameOf(referrer), 'edit')
  }
}

/** Whether a CR has an object and is still at work: it may wait to replace it. */
function isReplaced(cr: CustomResource): boolean {
  const { id, conditions = [] } = statusOf(cr)
  return id !== undefined && conditions.some(({ type, reason }) => type === 'Synced' && reason === reasons.Progressing)
}

/** The targets of a CR's references: CRs, by name or by an id that they hold, and objects that no CR holds. */
function targetsOf(
  store: ResourceStore,
  descriptor: ManagedDescriptor,
  dependent: CustomResource,
): readonly TargetKey[] {
  const named = namedTargets(descriptor, dependent).map((target) => {
    const resource = store.get(target)
    return resource === undefined ? target : targetKeyOf(resource)
  })
  const account = store.accountKeyOf(dependent)
  const byId = targetIds(descriptor, dependent).map(({ kind, id }): TargetKey => {
    const holder = account && store.holderOf(account, id)
    return holder?.kind === kind ? targetKeyOf(holder) : { kind, ids: [id], account }
  })
  const names = namedTargets(descriptor, dependent)
  return [...named, ...byId].filter((target) => {
    const isElsewhere = target.namespace !== undefined && target.namespace !== dependent.metadata.namespace
    return !isElsewhere || countsAcross(store, { referrer: dependent, names, inOneAccount: true }, target)
  })
}

/**
 * Wakes the resource whose object another has just let go of: its deletion may wait for that. By whom it was held does
 * not matter here: by a resource whose spec let go earlier, or by an object made by hand.
 * @param lost a key that an object of the account had
 */
export function wakeReleased(
  { kinds, store, wake }: Pick<WakeupOptions, 'kinds' | 'store' | 'wake'>,
  { key, cache }: { readonly key: AccountKey; readonly cache: Pick<SessionCache, 'find'> },
  lost: string,
): void {
  const referred = referredBy(lost)
  if (referred === undefined) return
  const { kind, by, text } = referred
  const ids = by === 'id' ? [text] : idsWith(kinds, cache, kind, valueKey(kind, text))
  for (const id of ids) {
    const holder = store.holderOf(key, id)
    if (holder !== undefined && waitsForReferrers(holder)) wake.managed(nameOf(holder), 'edit')
  }
}

function idsWith(
  kinds: KindsRegistry,
  cache: Pick<SessionCache, 'find'>,
  kind: string,
  key: string,
): readonly string[] {
  return kinds.collectionsOf(kind).flatMap((collection) => cache.find(collection, key).map(({ id }) => id))
}

/** A reference in use without a grant is reported on both sides. */
function isUngranted(store: ResourceStore, dependent: CustomResource, target: CustomResource): boolean {
  const { namespace } = dependent.metadata
  return namespace !== target.metadata.namespace && !isGranted(store, target, namespace)
}

function waitsForReferrers(cr: CustomResource): boolean {
  return isDeleting(cr) || (internalOf(cr).superseded ?? []).length > 0
}

/**
 * Parts only depend on the whole's spec, id and deletion, not on its other status: many parts would wake each other.
 */
function isSameForParts(previous: CustomResource, object: CustomResource): boolean {
  return !isDeleting(object) && isSameSpec(previous, object) && statusOf(previous).id === statusOf(object).id
}

/** For objects of the same spec. */
function isSameForOthers(previous: CustomResource, object: CustomResource): boolean {
  return isDeleting(previous) === isDeleting(object) && equalJSON(statusOf(previous), statusOf(object))
}

/**
 * A generation identifies a spec within one history only: after an etcd restore, two specs may have the same
 * generation.
 */
function isSameSpec(previous: Specified, object: Specified): boolean {
  return previous.metadata.generation === object.metadata.generation && equalJSON(previous.spec, object.spec)
}

function hasAnotherSpec({ object, previous }: ObjectEvent<Specified>): boolean {
  return previous !== undefined && !isSameSpec(previous, object)
}

type Specified = KubeObject & { readonly spec: unknown }

function onAccount(options: WakeupOptions, event: ObjectEvent<AccountResource>): void {
  const { store, wake } = options
  const key = keyOfAccount(event.object)
  if (!store.ownWrites.recording || event.type === 'deleted' || hasAnotherSpec(event)) wake.account(key, 'edit')
  // CRs without an object may have another account now, or none; a changed spec may admit others.
  if (event.type === 'updated' && !concernsResources(event)) return
  const concerned =
    key.kind === 'Account' ? concernedByAccount(options, key, event) : concernedByClusterAccount(options, key, event)
  for (const cr of concerned) wake.managed(nameOf(cr), 'edit')
}

/** Whether the spec changed in more than how often, how fast and for what else the account is asked. */
function concernsResources(event: ObjectEvent<AccountResource>): boolean {
  const { object, previous } = event
  if (previous === undefined || !hasAnotherSpec(event)) return false
  const rest = ({ resyncInterval, rateLimit, mirrorSessions, ...spec }: AccountSpec): unknown => spec
  return !equalJSON(rest(previous.spec), rest(object.spec))
}

/** With an account goes the use of its key, which a resource of another account in the namespace may have issued. */
function concernedByAccount(
  { store }: WakeupOptions,
  key: AccountKey,
  { type }: ObjectEvent<AccountResource>,
): readonly CustomResource[] {
  return type === 'deleted' ? store.inNamespace(key.namespace ?? '') : store.candidatesOf(key)
}

/** Members of the account and CRs without one. If only `access` changed, those for which it did. */
function concernedByClusterAccount(
  { kinds, store }: WakeupOptions,
  key: AccountKey,
  { object, previous }: ObjectEvent<AccountResource>,
): readonly CustomResource[] {
  const all = store.candidatesOf(key).filter((cr) => {
    const account = store.accountKeyOf(cr)
    return account === undefined || accountText(account) === accountText(key)
  })
  if (previous === undefined) return all
  const { access: before, ...others } = previous.spec
  const { access: after, ...now } = object.spec
  if (!equalJSON(others, now)) return all
  const changed = memoized((namespace, kind) => {
    const labels = store.namespace(namespace)?.metadata.labels
    const request = { labels, kind, reach: kinds.member(kind).reach }
    return !equalJSON(entriesFor(before, request), entriesFor(after, request))
  })
  return all.filter((cr) => changed(cr.metadata.namespace ?? '', cr.kind))
}

/** The answer for a kind in a namespace is the same for all its resources. */
function memoized(answer: (namespace: string, kind: string) => boolean): (namespace: string, kind: string) => boolean {
  const known = new Map<string, boolean>()
  return (namespace, kind) => {
    const text = `${namespace}/${kind}`
    const found = known.get(text) ?? answer(namespace, kind)
    known.set(text, found)
    return found
  }
}

function onSecret(options: WakeupOptions, event: ObjectEvent<KubeObject>): void {
  if (isSameVersion(event)) return
  const { store, operatorNamespace, wake } = options
  for (const account of store.accountsUsing(namespacedName(event.object), operatorNamespace)) {
    wake.account(keyOfAccount(account), 'edit')
  }
  onInput(options, 'Secret', event)
}

function onInput({ store, wake }: WakeupOptions, source: InputSource, event: ObjectEvent<KubeObject>): void {
  if (isSameVersion(event)) return
  const name = namespacedName(event.object)
  const writers = isReservation(event) ? [] : store.writersOf(source, event.object)
  for (const cr of [...store.readersOf(source, name), ...writers]) wake.managed(nameOf(cr), 'edit')
}

/** Our own annotation before a create: if it woke the resource, a refused create would be retried at once, forever. */
function isReservation({ object, previous }: ObjectEvent<KubeObject>): boolean {
  const reservedFor = object.metadata.annotations?.[RESERVED_FOR]
  return reservedFor !== undefined && reservedFor !== previous?.metadata.annotations?.[RESERVED_FOR]
}

function isSameVersion({ object, type, previous }: ObjectEvent<KubeObject>): boolean {
  return type === 'updated' && previous.metadata.resourceVersion === object.metadata.resourceVersion
}

function namespacedName({ metadata }: KubeObject): NamespacedName {
  return { namespace: metadata.namespace ?? '', name: metadata.name }
}

/** Labels decide what the resources of a namespace may do in ClusterAccounts. */
function onNamespace(options: WakeupOptions, event: ObjectEvent<KubeObject>): void {
  const { kinds, store, wake } = options
  const { object, previous, type } = event
  if (isDeleting(object) && previous !== undefined && !isDeleting(previous)) wakeDeletions(options, object)
  if (previous !== undefined && equalJSON(previous.metadata.labels, object.metadata.labels)) return
  const isAlike = ({ kind }: CustomResource, account: AccountKey): boolean => {
    const entries = store.account(account)?.spec.access
    const entriesOf = (labels: Labels) => entriesFor(entries, { labels, kind, reach: kinds.member(kind).reach })
    return equalJSON(entriesOf(previous?.metadata.labels), entriesOf(object.metadata.labels))
  }
  for (const cr of store.inNamespace(object.metadata.name)) {
    wakeAcross(options, cr)
    const account = store.accountKeyOf(cr)
    if (account?.kind !== 'ClusterAccount') continue
    if (type !== 'updated' || !isAlike(cr, account)) wake.managed(nameOf(cr), 'edit')
  }
}

/** Deletions in a namespace that is being deleted wait for no approval. */
function wakeDeletions({ store, wake }: WakeupOptions, { metadata: { name } }: KubeObject): void {
  for (const cr of store.inNamespace(name)) {
    if (isDeleting(cr) && needsApproval(cr)) wake.managed(nameOf(cr), 'edit')
  }
}

/** Labels decide what other namespaces grant to the namespace of `cr`. */
function wakeAcross({ kinds, store, wake }: WakeupOptions, cr: CustomResource): void {
  const references = kinds.managedKind(cr.kind)?.references.of(cr.spec) ?? []
  const across = references.filter(({ ref }) => crosses(cr, ref))
  for (const reference of across) {
    const name = referredName(cr, reference)
    if (store.get(name)?.spec.allowedReferences === undefined) continue
    for (const each of [nameOf(cr), name]) wake.managed(each, 'edit')
  }
}

type Labels = Readonly<Record<string, string>> | undefined
