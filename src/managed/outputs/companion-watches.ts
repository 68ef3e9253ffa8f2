import type { KubeObject, ResourceType } from '../../kube/types.ts'
import { Reflector, type ReflectorOptions } from '../../runtime/reflector.ts'
import type { ObjectEvent } from '../../runtime/replica.ts'
import type { ResourceName } from '../cr.ts'
import type { CompanionPolicy } from '../descriptor/output.ts'
import type { KindsRegistry } from '../kinds-registry.ts'

export interface CompanionWatchesOptions {
  /** Options of a watch, except its type. */
  readonly base: Omit<ReflectorOptions, 'type'>
  readonly kinds: KindsRegistry
  readonly policy: CompanionPolicy
  /** Queues the CR of that name, if there is one. */
  readonly wake: (name: ResourceName) => void
}

/**
 * Watches of companions, metadata only. A type may not be installed, and then its watch would never sync: each watch
 * starts once the type is known to exist.
 */
export class CompanionWatches {
  readonly #options: CompanionWatchesOptions
  readonly #running = new Map<string, Promise<void>>()
  #signal: AbortSignal | undefined

  constructor(options: CompanionWatchesOptions) {
    this.#options = options
  }

  get policy(): CompanionPolicy {
    return this.#options.policy
  }

  /** Allows `watch` to start watches, which last until `signal` is aborted. */
  start(signal: AbortSignal): void {
    this.#signal = signal
  }

  watch(type: ResourceType): void {
    const name = `${type.group}/${type.version}/${type.plural}`
    if (this.#signal === undefined || this.#running.has(name)) return
    const reflector = new Reflector<KubeObject>({ ...this.#options.base, type: { ...type, metadataOnly: true } })
    reflector.subscribe((event) => this.#changed(type, event))
    this.#running.set(name, reflector.start(this.#signal))
  }

  /** Resolves when every watch has ended. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#running.values())
  }

  /** A companion has the name of its CR; so does a foreign object in its place. */
  #changed(type: ResourceType, { object, previous }: ObjectEvent<KubeObject>): void {
    const { namespace, name, resourceVersion } = object.metadata
    if (previous?.metadata.resourceVersion === resourceVersion) return
    for (const { companion, definition } of this.#options.kinds.managed) {
      if (companion?.type.group === type.group && companion.type.plural === type.plural) {
        this.#options.wake({ kind: definition.kind, namespace, name })
      }
    }
  }
}
