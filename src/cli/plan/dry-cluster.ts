import { configMapType, namespaceType, secretType } from '../../kube/core-types.ts'
import { KubeError } from '../../kube/kube-error.ts'
import type {
  KubeClient,
  KubeList,
  KubeObject,
  ObjectKey,
  PatchOptions,
  ResourceType,
  WatchFrame,
} from '../../kube/types.ts'
import type { CustomResource } from '../../managed/cr.ts'
import type { Descriptor } from '../../managed/descriptor/descriptor.ts'
import { type KindsRegistry, resourceTypeOf } from '../../managed/kinds-registry.ts'
import type { Watches } from '../../operator/watches.ts'
import { type RecordedSource, ReplicaSource } from '../../runtime/object-source.ts'
import { keyString } from '../../runtime/store.ts'
import { applyMergePatch, equalJSON } from '../../util/json.ts'
import type { Logger } from '../../util/logger.ts'

type Fields = Readonly<Record<string, unknown>>

/** The metadata that a new object may bring along. */
type GivenMeta = Partial<KubeObject['metadata']>

export interface DryClusterOptions {
  readonly kinds: KindsRegistry
  readonly logger: Logger
  /** Wall time in milliseconds. */
  readonly now: () => number
  /**
   * Reads an object that is not in memory: a Secret or ConfigMap of the real cluster. Absent: there is nothing else.
   */
  readonly readThrough?: ((type: ResourceType, key: ObjectKey) => Promise<KubeObject | undefined>) | undefined
}

/**
 * A cluster in memory that the operator's own code can work on without writing anything anywhere: the manifests, and
 * what is in the real cluster. It has one client, so no write of it ever conflicts. Its watches see each change at
 * once.
 */
export class DryCluster implements KubeClient {
  readonly watches: Watches
  readonly #options: DryClusterOptions
  readonly #sources: ReadonlyMap<string, MemorySource<KubeObject>>
  readonly #objects = new Map<string, KubeObject>()
  #revision = 0

  constructor(options: DryClusterOptions) {
    this.#options = options
    const { kinds, logger } = options
    const sources = new Map<string, MemorySource<KubeObject>>()
    const source = <T extends KubeObject>(plural: string): MemorySource<T> => {
      const made = new MemorySource<T>(logger)
      sources.set(plural, made as unknown as MemorySource<KubeObject>)
      return made
    }
    const byKind = <T extends KubeObject>(descriptors: readonly Descriptor[]) => {
      return new Map(descriptors.map(({ definition }) => [definition.kind, source<T>(definition.plural)]))
    }
    this.watches = {
      managed: byKind(kinds.managed),
      accounts: byKind(kinds.accounts),
      mirrors: byKind(kinds.mirrors),
      commands: byKind(kinds.commands),
      composed: byKind(kinds.composed),
      workloads: new Map(),
      secrets: source(secretType.plural),
      configMaps: source(configMapType.plural),
      namespaces: source(namespaceType.plural),
    }
    this.#sources = sources
  }

  /** Adds an object as it is, or replaces it: what the real cluster, or its author, says. */
  put(type: ResourceType, object: Omit<KubeObject, 'metadata'> & { readonly metadata: GivenMeta }): KubeObject {
    const { name = '', namespace } = object.metadata
    const known = this.#objects.get(place(type, { name, namespace }))
    return this.#store(type, {
      ...object,
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: {
        generation: 1,
        uid: known?.metadata.uid ?? `planned-${type.plural}-${namespace ?? ''}-${name}`,
        ...object.metadata,
        name,
        ...(type.namespaced && namespace !== undefined ? { namespace } : {}),
        resourceVersion: '',
      },
    })
  }

  /** The resource in memory; undefined if there is none. */
  known<T extends KubeObject = CustomResource>(type: ResourceType, key: ObjectKey): T | undefined {
    return this.#objects.get(place(type, key)) as T | undefined
  }

  serves(): Promise<boolean> {
    return Promise.resolve(true)
  }

  async get<T extends KubeObject>(type: ResourceType, key: ObjectKey): Promise<T | undefined> {
    const known = this.#objects.get(place(type, key))
    if (known !== undefined || this.#options.readThrough === undefined) return known as T | undefined
    return (await this.#options.readThrough(type, key)) as T | undefined
  }

  list<T extends KubeObject>(type: ResourceType): Promise<KubeList<T>> {
    const items = [...this.#objects].flatMap(([at, object]) => (at.startsWith(`${type.plural}|`) ? [object as T] : []))
    return Promise.resolve({ items, resourceVersion: String(this.#revision) })
  }

  /** The sources are told directly. */
  watch<T extends KubeObject>(): AsyncIterable<WatchFrame<T>> {
    throw new KubeError('Unexpected', 'a cluster in memory is not watched')
  }

  create<T extends KubeObject>(type: ResourceType, key: ObjectKey, object: Fields): Promise<T> {
    if (this.#objects.has(place(type, key))) {
      return Promise.reject(new KubeError('AlreadyExists', `POST ${type.plural}/${key.name}: exists`))
    }
    const metadata = { ...(object.metadata as GivenMeta | undefined), ...key }
    return Promise.resolve(this.put(type, { ...object, metadata } as Parameters<DryCluster['put']>[1]) as T)
  }

  async mergePatch<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    patch: Fields,
    { subresource }: PatchOptions = {},
  ): Promise<T> {
    const before = this.#objects.get(place(type, key)) ?? (await this.#options.readThrough?.(type, key))
    if (before === undefined) throw new KubeError('NotFound', `PATCH ${type.plural}/${key.name}: there is none`)
    const allowed = subresource === 'status' ? { status: patch.status } : { ...patch, status: undefined }
    const after = applyMergePatch(before, allowed) as KubeObject
    const isGone = after.metadata.deletionTimestamp !== undefined && !after.metadata.finalizers?.length
    return (isGone ? this.#drop(type, after) : this.#store(type, after)) as T
  }

  async apply<T extends KubeObject>(type: ResourceType, key: ObjectKey, object: Fields): Promise<T> {
    return (await this.get(type, key)) === undefined
      ? this.create<T>(type, key, object)
      : this.mergePatch<T>(type, key, object)
  }

  /** Like `kubectl delete`: waits for finalizers. */
  delete(type: ResourceType, key: ObjectKey): Promise<boolean> {
    const before = this.#objects.get(place(type, key))
    if (before === undefined) return Promise.resolve(false)
    const { metadata } = before
    if (!metadata.finalizers?.length) this.#drop(type, before)
    else if (metadata.deletionTimestamp === undefined) {
      const deletionTimestamp = new Date(this.#options.now()).toISOString()
      const generation = (metadata.generation ?? 0) + 1
      this.#store(type, { ...before, metadata: { ...metadata, deletionTimestamp, generation } })
    }
    return Promise.resolve(true)
  }

  #store(type: ResourceType, object: KubeObject): KubeObject {
    const at = place(type, object.metadata)
    const before = this.#objects.get(at)
    const same =
      before !== undefined &&
      equalJSON(
        { ...object, metadata: { ...object.metadata, resourceVersion: '' } },
        { ...before, metadata: { ...before.metadata, resourceVersion: '' } },
      )
    if (same) return before
    const stored = this.#versioned(object)
    this.#objects.set(at, stored)
    this.#sources.get(type.plural)?.record(stored)
    return stored
  }

  #drop(type: ResourceType, object: KubeObject): KubeObject {
    const dropped = this.#versioned(object)
    this.#objects.delete(place(type, object.metadata))
    this.#sources.get(type.plural)?.remove(dropped)
    return dropped
  }

  #versioned(object: KubeObject): KubeObject {
    this.#revision += 1
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } }
  }
}

/** The type of each kind of Culvert's, and of what its resources name. */
export function typesByKind(kinds: KindsRegistry): ReadonlyMap<string, ResourceType> {
  const own = kinds.all.map(resourceTypeOf)
  return new Map([...own, secretType, configMapType, namespaceType].map((type) => [type.kind, type]))
}

function place({ plural }: ResourceType, key: ObjectKey): string {
  return `${plural}|${keyString(key)}`
}

function apiVersionOf({ group, version }: ResourceType): string {
  return group === '' ? version : `${group}/${version}`
}

/** The local copy of one type of a `DryCluster`: always complete, and changed by the cluster itself. */
class MemorySource<T extends KubeObject> extends ReplicaSource<T> implements RecordedSource<T> {
  readonly synced: Promise<void> = Promise.resolve()

  record(object: T): void {
    this.replica.put(undefined, object)
  }

  take(object: T, before: T | undefined): void {
    this.replica.take(object, before)
  }

  remove(object: T): void {
    this.replica.remove(undefined, object)
  }

  refresh(): Promise<boolean> {
    return Promise.resolve(false)
  }

  start(): Promise<void> {
    return Promise.resolve()
  }
}
