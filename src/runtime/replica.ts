import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../kube/types.ts'
import { equalJSON } from '../util/json.ts'
import type { Logger } from '../util/logger.ts'
import { type IndexFunction, keyString, MapStore } from './store.ts'
import type { Turns } from './turns.ts'

/** A change of the store. `previous` is the object it replaced, for updates. */
export type ObjectEvent<T extends KubeObject> =
  | { readonly type: 'added'; readonly object: T; readonly previous?: undefined; readonly isRolledBack?: undefined }
  | {
      readonly type: 'updated'
      readonly object: T
      readonly previous: T
      /**
       * Whether this is an older state of the same object: etcd was restored, and conclusions from newer states may not
       * hold.
       */
      readonly isRolledBack: boolean
    }
  | { readonly type: 'deleted'; readonly object: T; readonly previous?: undefined; readonly isRolledBack?: undefined }

export type ObjectHandler<T extends KubeObject> = (event: ObjectEvent<T>) => void

/**
 * The store that a reflector keeps, and the rules for what may enter it, in whatever order lists, frames and our own
 * writes arrive: nothing older replaces anything newer, nothing deleted comes back, and another uid under the same name
 * is a deletion and an addition. A complete list overrides these rules for every object stored at its resourceVersion
 * or before, since objects have lower resourceVersions than before after etcd was restored.
 */
export class Replica<T extends KubeObject> {
  readonly store = new MapStore<T>()
  readonly #logger: Logger
  readonly #handlers = new Set<ObjectHandler<T>>()
  /** Per scope, the resourceVersion up to which all changes are known. */
  readonly #seen = new Map<string | undefined, string>()
  /** Per scope, the newest known resourceVersion, including those of our own writes. */
  readonly #newest = new Map<string | undefined, string>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    this.store.addIndex(name, (object) => {
      try {
        return valuesOf(object)
      } catch (error) {
        // An object that its index function cannot handle is left out of the index; the rest must go on.
        this.#logger.error({ index: name, key: keyString(object.metadata), err: error }, 'an index function failed')
        return []
      }
    })
  }

  /**
   * Calls `handler` for everything in the store as added, then for every change. Returns the function to unsubscribe.
   */
  subscribe(handler: ObjectHandler<T>): () => void {
    for (const object of this.store.list()) this.#tell(handler, { type: 'added', object })
    return this.onChange(handler)
  }

  /** Calls `handler` for every change from now on. Returns the function to unsubscribe. */
  onChange(handler: ObjectHandler<T>): () => void {
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  /** Handles an added or modified object from a watch of `scope` (a namespace; undefined: all). */
  put(scope: string | undefined, object: T): void {
    if (!this.#wasDeleted(scope, object)) this.#enter(object)
    this.progress(scope, object.metadata.resourceVersion)
  }

  /** Handles a deletion from a watch of `scope`; `object` is its last state, at the resourceVersion of the deletion. */
  remove(scope: string | undefined, object: T): void {
    const stored = this.store.get(object.metadata)
    const meant =
      stored !== undefined && isSameOrNewer(object.metadata.resourceVersion, stored.metadata.resourceVersion)
    if (meant) this.#drop(stored.metadata.uid === object.metadata.uid ? object : stored)
    this.progress(scope, object.metadata.resourceVersion)
  }

  /** Records that everything in `scope` up to `resourceVersion` is known. */
  progress(scope: string | undefined, resourceVersion: string): void {
    raise(this.#seen, scope, resourceVersion)
    raise(this.#newest, scope, resourceVersion)
  }

  /** The resourceVersion to watch `scope` from; undefined before its first list. */
  seen(scope: string | undefined): string | undefined {
    return this.#seen.get(scope)
  }

  /**
   * The newest known resourceVersion of `scope`: a list requested now cannot be older. Undefined before anything was
   * read.
   */
  newest(scope: string | undefined): string | undefined {
    return this.#newest.get(scope)
  }

  /**
   * Handles a complete list of `scope`. It is authoritative for every object stored at its resourceVersion or before:
   * missing objects were deleted, and listed ones replace the stored ones, even with an older state. Results of our own
   * writes after the list stay. `restored` means that history itself was reset (a backup was restored), so that the
   * list is right whatever its resourceVersion.
   */
  replace(scope: string | undefined, objects: readonly T[], resourceVersion: string, restored = false): void {
    for (const _ of this.#replacing(scope, objects, resourceVersion, restored));
  }

  /**
   * As `replace` without `restored`, with other work between two objects where `turns` asks for that. Whatever is
   * stored meanwhile is the result of a write of ours, and newer.
   */
  async replaceInTurns(
    scope: string | undefined,
    objects: readonly T[],
    resourceVersion: string,
    turns: Pick<Turns, 'next'>,
  ): Promise<void> {
    for (const _ of this.#replacing(scope, objects, resourceVersion, false)) {
      const turn = turns.next()
      if (turn !== undefined) await turn
    }
  }

  /** Stops after each listed object. */
  *#replacing(
    scope: string | undefined,
    objects: readonly T[],
    resourceVersion: string,
    restored: boolean,
  ): Generator<void> {
    const listed = new Set(objects.map((object) => keyString(object.metadata)))
    for (const stored of this.store.list()) {
      if (scope !== undefined && stored.metadata.namespace !== scope) continue
      const known = restored || isSameOrNewer(resourceVersion, stored.metadata.resourceVersion)
      if (known && !listed.has(keyString(stored.metadata))) this.#drop(stored)
    }
    for (const object of objects) {
      const stored = this.store.get(object.metadata)
      const known = stored === undefined || isSameOrNewer(resourceVersion, stored.metadata.resourceVersion)
      this.#enter(object, restored || known)
      yield
    }
    if (restored) for (const known of [this.#seen, this.#newest]) known.set(scope, resourceVersion)
    else this.progress(scope, resourceVersion)
  }

  /**
   * Handles the result of a read of this one object that began when `before` was stored. It is authoritative, even if
   * it is an older state, unless something else was stored since.
   */
  take(object: T, before: T | undefined): void {
    if (this.store.get(object.metadata) === before) this.#enter(object, true)
    else this.put(undefined, object)
  }

  /** Handles the response of our own write. `scope` is the one that covers the object. */
  record(scope: string | undefined, object: T): void {
    if (!this.#wasDeleted(scope, object)) this.#enter(object)
    raise(this.#newest, scope, object.metadata.resourceVersion)
  }

  /** Everything up to `seen` is known: an older object that is not stored was deleted since. */
  #wasDeleted(scope: string | undefined, { metadata }: T): boolean {
    const seen = this.#seen.get(scope)
    const absent = this.store.get(metadata) === undefined
    return absent && seen !== undefined && !isNewer(metadata.resourceVersion, seen)
  }

  #enter(object: T, regardless = false): void {
    const stored = this.store.get(object.metadata)
    if (stored === undefined) {
      this.store.set(object)
      this.#emit({ type: 'added', object })
      return
    }
    // A watch repeats the answer to our own write.
    if (object === stored) return
    const { resourceVersion, uid } = object.metadata
    const isOlder = !isNewer(resourceVersion, stored.metadata.resourceVersion)
    if (isOlder && !regardless) return
    // Two histories may use the same numbers, so an equal resourceVersion alone does not prove that nothing changed.
    if (resourceVersion === stored.metadata.resourceVersion && isDeepStrictEqual(object, stored)) return
    if (uid !== stored.metadata.uid) {
      this.#drop(stored)
      this.store.set(object)
      this.#emit({ type: 'added', object })
      return
    }
    this.store.set(object)
    this.#emit({ type: 'updated', object, previous: stored, isRolledBack: isOlder })
  }

  #drop(object: T): void {
    this.store.delete(object.metadata)
    this.#emit({ type: 'deleted', object })
  }

  #emit(event: ObjectEvent<T>): void {
    for (const handler of this.#handlers) this.#tell(handler, event)
  }

  #tell(handler: ObjectHandler<T>, event: ObjectEvent<T>): void {
    try {
      handler(event)
    } catch (error) {
      this.#logger.error({ key: keyString(event.object.metadata), event: event.type, err: error }, 'a handler failed')
    }
  }
}

/** Raises the resourceVersion known for `scope`; never lowers it. */
function raise(known: Map<string | undefined, string>, scope: string | undefined, resourceVersion: string): void {
  const before = known.get(scope)
  if (before === undefined || isNewer(resourceVersion, before)) known.set(scope, resourceVersion)
}

const NUMERIC = /^\d+$/

/**
 * Whether `incoming` comes after `known` in the history of one resource type. API servers use integers beyond 2^53 as
 * resourceVersions; one that is not a number says nothing about order and counts as newer.
 */
export function isNewer(incoming: string, known: string): boolean {
  if (incoming === known) return false
  if (!NUMERIC.test(incoming) || !NUMERIC.test(known)) return true
  return BigInt(incoming) > BigInt(known)
}

/** Whether `incoming` is `known` or comes after it. */
function isSameOrNewer(incoming: string, known: string): boolean {
  return incoming === known || isNewer(incoming, known)
}

/** Whether an object was added or deleted, or the given part of it changed. */
export function isOtherwise<T extends KubeObject>(
  { object, previous, type }: ObjectEvent<T>,
  part: (object: T) => unknown,
): boolean {
  return type !== 'updated' || previous === undefined || !equalJSON(part(previous), part(object))
}
