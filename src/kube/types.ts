/** The parts of a Kubernetes object's `metadata` that Culvert reads. */
export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid: string
  readonly resourceVersion: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
}

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** Any Kubernetes object. JSON is passed on unchanged: unknown fields are never dropped. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly [field: string]: unknown
}

/**
 * Where objects of one type live. `metadataOnly` requests PartialObjectMetadata: the server does not send the content.
 */
export interface ResourceType {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
  readonly metadataOnly?: boolean
}

/** Name of an object within its type; cluster-scoped types have no namespace. */
export interface ObjectKey {
  readonly namespace?: string | undefined
  readonly name: string
}

export interface KubeList<T extends KubeObject> {
  readonly items: readonly T[]
  readonly resourceVersion: string
  readonly continue?: string
}

export type WatchFrame<T extends KubeObject> =
  | { readonly type: 'added' | 'modified' | 'deleted'; readonly object: T }
  | { readonly type: 'bookmark'; readonly resourceVersion: string }

export interface ListOptions {
  /** A single namespace. Default: all. */
  readonly namespace?: string | undefined
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  readonly signal?: AbortSignal
}

export interface WatchOptions {
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  readonly resourceVersion: string
  /** The server ends the watch after this many seconds. */
  readonly timeoutSeconds: number
  readonly signal: AbortSignal
  /** Called when the server has accepted the watch, before its first frame. */
  readonly onOpen?: () => void
}

export interface PatchOptions {
  readonly subresource?: 'status'
  /** Precondition: the patch is refused with `Conflict` when the object has changed. */
  readonly resourceVersion?: string
  /** Precondition: it is still the same object, not another one of the same name. */
  readonly uid?: string
  /** Only checks the patch, and refuses unknown fields. Default: false. */
  readonly dryRun?: boolean
}

export interface CreateOptions {
  /** Only checks the object, and refuses unknown fields. Default: false. */
  readonly dryRun?: boolean
}

export interface DeleteOptions {
  readonly uid?: string
  readonly resourceVersion?: string
}

/**
 * The Kubernetes API as Culvert uses it. Every failure is a `KubeError`. Reads that find nothing return undefined, but
 * only if the 404 comes from the API server and not from a proxy. Writes are merge patches or server-side apply with
 * the field manager `culvert`, never a PUT of an object that was read.
 */
export interface KubeClient {
  /** Whether the server serves the type; false when its CRD is not installed. */
  serves(type: ResourceType): Promise<boolean>
  get<T extends KubeObject>(type: ResourceType, key: ObjectKey, signal?: AbortSignal): Promise<T | undefined>
  list<T extends KubeObject>(type: ResourceType, options?: ListOptions): Promise<KubeList<T>>
  watch<T extends KubeObject>(type: ResourceType, options: WatchOptions): AsyncIterable<WatchFrame<T>>
  create<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    object: Readonly<Record<string, unknown>>,
    options?: CreateOptions,
  ): Promise<T>
  mergePatch<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    patch: Readonly<Record<string, unknown>>,
    options?: PatchOptions,
  ): Promise<T>
  apply<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    object: Readonly<Record<string, unknown>>,
    options?: { readonly force?: boolean },
  ): Promise<T>
  /** Resolves to false when there was nothing to delete. */
  delete(type: ResourceType, key: ObjectKey, options?: DeleteOptions): Promise<boolean>
}
