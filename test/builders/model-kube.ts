import { KubeError } from '../../src/kube/kube-error.ts'
import type {
  DeleteOptions,
  KubeList,
  KubeObject,
  ObjectKey,
  PatchOptions,
  ResourceType,
} from '../../src/kube/types.ts'
import { applyMergePatch, equalJSON } from '../../src/util/json.ts'

type Fields = Readonly<Record<string, unknown>>

/** A change as reported by watches. */
export interface Change {
  readonly plural: string
  readonly type: 'added' | 'modified' | 'deleted'
  readonly object: KubeObject
  /** The object as it was before. */
  readonly previous?: KubeObject | undefined
}

/** The content of a snapshot of etcd. */
export interface KubeSnapshot {
  readonly objects: ReadonlyMap<string, KubeObject>
  readonly revision: number
  /** Length of the history at that time. */
  readonly length: number
}

/**
 * The Kubernetes API server in memory, as far as the operator depends on it: resource versions and uids with
 * preconditions, generations, merge patches, the status subresource, finalizers and graceful deletion.
 */
export class ModelKube {
  readonly #objects = new Map<string, KubeObject>()
  readonly #listeners = new Set<(change: Change) => void>()
  readonly #history: Change[] = []
  readonly #now: () => string
  readonly #uidPrefix: string
  #revision = 1
  #uids = 0

  /**
   * @param now the time of creations and deletions. @param uidPrefix distinguishes uids from those of other clusters
   */
  constructor(now: () => string = () => '2026-01-01T00:00:00Z', uidPrefix = 'uid') {
    this.#now = now
    this.#uidPrefix = uidPrefix
  }

  get revision(): string {
    return String(this.#revision)
  }

  /** Every object of every type. */
  everything(): readonly KubeObject[] {
    return [...this.#objects.values()]
  }

  get<T extends KubeObject>(type: ResourceType, key: ObjectKey): T | undefined {
    return this.#objects.get(place(type, key)) as T | undefined
  }

  list<T extends KubeObject>(type: ResourceType): KubeList<T> {
    const items = [...this.#objects].filter(([at]) => at.startsWith(`${type.plural}|`)).map(([, object]) => object as T)
    return { items, resourceVersion: this.revision }
  }

  /** Calls `listener` for every change of the type after `resourceVersion`. Returns a function that stops it. */
  listen(type: ResourceType, resourceVersion: string, listener: (change: Change) => void): () => void {
    const told = (change: Change): void => {
      if (change.plural === type.plural) listener(change)
    }
    for (const change of this.#history) {
      if (Number(change.object.metadata.resourceVersion) > Number(resourceVersion)) told(change)
    }
    this.#listeners.add(told)
    return () => this.#listeners.delete(told)
  }

  create<T extends KubeObject>(type: ResourceType, key: ObjectKey, fields: Fields): T {
    if (this.get(type, key) !== undefined) throw new KubeError('AlreadyExists', `POST ${type.plural}: exists`)
    const { metadata, ...rest } = fields
    const { group, version, kind } = type
    const object: KubeObject = {
      ...rest,
      apiVersion: group === '' ? version : `${group}/${version}`,
      kind,
      metadata: {
        creationTimestamp: this.#now(),
        ...(metadata as Partial<KubeObject['metadata']> | undefined),
        ...given(key),
        uid: `${this.#uidPrefix}-${++this.#uids}`,
        ...(countsGenerations(type) ? { generation: 1 } : {}),
        resourceVersion: '',
      },
    }
    return this.#store(type, 'added', object) as T
  }

  /** @param complete adds the server's fields to an object before it is stored */
  mergePatch<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    patch: Fields,
    options: PatchOptions = {},
    complete: (object: KubeObject) => KubeObject = (object) => object,
  ): T {
    const before = this.get(type, key)
    const label = `PATCH ${type.plural}/${key.name}`
    if (before === undefined) throw new KubeError('NotFound', `${label}: there is none`, { status: 404 })
    const { resourceVersion, uid, subresource } = options
    const { metadata } = before
    if (uid !== undefined && uid !== metadata.uid) throw new KubeError('Conflict', `${label}: another uid`)
    if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
      throw new KubeError('Conflict', `${label}: the object has been modified`)
    }
    const { status, ...others } = complete(applyMergePatch(before, patch) as KubeObject)
    const after: KubeObject = subresource === 'status' ? withStatus(before, status) : withStatus(others, before.status)
    if (equalJSON(before, after)) return before as T
    refuseImmutable(before, after)
    const moved = !equalJSON(before.spec, after.spec)
    const object = { ...after, metadata: { ...after.metadata, uid: metadata.uid, ...generation(metadata, moved) } }
    if (options.dryRun === true) return object as T
    const gone = object.metadata.deletionTimestamp !== undefined && !object.metadata.finalizers?.length
    return this.#store(type, gone ? 'deleted' : 'modified', object) as T
  }

  /** Like `kubectl delete`: waits for finalizers. */
  delete(type: ResourceType, key: ObjectKey, options: DeleteOptions = {}): boolean {
    const before = this.get(type, key)
    if (before === undefined) return false
    const { uid, resourceVersion } = before.metadata
    const matches = (options.uid ?? uid) === uid && (options.resourceVersion ?? resourceVersion) === resourceVersion
    if (!matches) throw new KubeError('Conflict', `DELETE ${type.plural}/${key.name}: another one`)
    if (before.metadata.deletionTimestamp !== undefined) return true
    if (!before.metadata.finalizers?.length) {
      this.#store(type, 'deleted', before)
      return true
    }
    const graceful = { deletionTimestamp: this.#now(), deletionGracePeriodSeconds: 0 }
    const metadata = { ...before.metadata, ...graceful, ...generation(before.metadata, true) }
    this.#store(type, 'modified', { ...before, metadata })
    return true
  }

  /** Deletes objects whose owners are gone, as the garbage collector does in its own time. */
  collectGarbage(type: ResourceType): void {
    const uids = new Set([...this.#objects.values()].map(({ metadata }) => metadata.uid))
    for (const { metadata } of this.list(type).items) {
      const { ownerReferences = [] } = metadata
      if (ownerReferences.length > 0 && !ownerReferences.some(({ uid }) => uids.has(uid))) this.delete(type, metadata)
    }
  }

  /** The current state, as in a snapshot of etcd. */
  snapshot(): KubeSnapshot {
    return { objects: new Map(this.#objects), revision: this.#revision, length: this.#history.length }
  }

  /**
   * Restores that state, including resource versions; watches are not notified. A uid is still given out only once.
   * @param goesOnFrom the revision to continue from: as then, or higher, as with `etcdutl snapshot restore
   * --bump-revision`
   */
  restore({ objects, revision, length }: KubeSnapshot, goesOnFrom: number = revision): void {
    this.#objects.clear()
    for (const [at, object] of objects) this.#objects.set(at, object)
    this.#history.length = length
    this.#revision = goesOnFrom
  }

  #store(type: ResourceType, change: Change['type'], object: KubeObject): KubeObject {
    const stored: KubeObject = structuredClone({
      ...object,
      metadata: { ...withoutEmpty(object.metadata), resourceVersion: String(++this.#revision) },
    })
    const at = place(type, stored.metadata)
    const previous = this.#objects.get(at)
    if (change === 'deleted') this.#objects.delete(at)
    else this.#objects.set(at, stored)
    const event: Change = { plural: type.plural, type: change, object: stored, previous }
    this.#history.push(event)
    for (const listener of this.#listeners) listener(event)
    return stored
  }
}

function place({ plural }: ResourceType, { namespace, name }: ObjectKey): string {
  return `${plural}|${namespace ?? ''}/${name}`
}

function given({ namespace, name }: ObjectKey): { readonly namespace?: string; readonly name: string } {
  return namespace === undefined ? { name } : { namespace, name }
}

/** Types without a real spec have no generation. */
function countsGenerations({ group }: ResourceType): boolean {
  return !['', 'events.k8s.io', 'coordination.k8s.io'].includes(group)
}

/** A deletion raises the generation as well. */
function generation({ generation: former }: KubeObject['metadata'], moved: boolean): { readonly generation?: number } {
  return former === undefined ? {} : { generation: former + (moved ? 1 : 0) }
}

/** Empty lists and maps of the metadata are omitted. */
function withoutEmpty(metadata: KubeObject['metadata']): KubeObject['metadata'] {
  const kept = Object.entries(metadata).filter(([, value]) => {
    return typeof value !== 'object' || value === null || Object.keys(value).length > 0
  })
  return Object.fromEntries(kept) as unknown as KubeObject['metadata']
}

function withStatus(object: Omit<KubeObject, 'status'>, status: unknown): KubeObject {
  const { status: _, ...rest } = object as KubeObject
  return { ...rest, ...(status === undefined ? {} : { status }) }
}

/** As the apiserver does for Secrets and ConfigMaps. */
function refuseImmutable(before: KubeObject, after: KubeObject): void {
  const [stored, changed] = [before, after] as readonly { readonly immutable?: boolean; readonly data?: unknown }[]
  if (stored?.immutable !== true || equalJSON(stored.data, changed?.data)) return
  const message = 'data: Forbidden: field is immutable when `immutable` is set'
  throw new KubeError('Invalid', message, { status: 422 })
}
