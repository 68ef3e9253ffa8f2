import type { KubeObject, ObjectKey, ResourceType } from '../../kube/types.ts'
import type { CustomResource, ResourceName } from '../../managed/cr.ts'
import type { Descriptor } from '../../managed/descriptor/descriptor.ts'
import { resourceTypeOf } from '../../managed/kinds-registry.ts'
import { Reflector } from '../../runtime/reflector.ts'
import type { Store } from '../../runtime/store.ts'
import { systemClock } from '../../util/clock.ts'
import { createLogger } from '../../util/logger.ts'
import { systemRandom } from '../../util/random.ts'
import type { Cluster } from '../cluster/ask-cluster.ts'
import { CommandError } from '../cluster/command-error.ts'
import type { StatedResource } from '../cluster/resource-state.ts'
import { Snapshot } from '../cluster/snapshot.ts'

/** Changes that arrive within so many milliseconds are shown together. */
const GATHER_MS = 250

/** Culvert's resources as they are now: one list and one watch of each kind, however many pages are open. */
export class LiveResources {
  readonly cluster: Cluster
  /** Kinds that the caller may not list, with what to ask for. */
  readonly unreadable: readonly CommandError[]
  readonly #reflectors: ReadonlyMap<string, Reflector<StatedResource>>
  readonly #listeners = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined

  private constructor(
    cluster: Cluster,
    unreadable: readonly CommandError[],
    reflectors: ReadonlyMap<string, Reflector<StatedResource>>,
  ) {
    this.cluster = cluster
    this.unreadable = unreadable
    this.#reflectors = reflectors
    for (const reflector of reflectors.values()) reflector.onChange(() => this.#gather())
  }

  /**
   * Lists every kind that may be listed, and follows them until `signal` is aborted.
   *
   * @param namespaces the namespaces to show; none: all
   * @throws CommandError if the cluster cannot be asked, or Edges may not be listed
   */
  static async open(cluster: Cluster, namespaces: readonly string[], signal: AbortSignal): Promise<LiveResources> {
    const { kinds } = cluster
    const found = await Promise.all(kinds.all.map((descriptor) => check(cluster, descriptor, namespaces[0])))
    const errors = found.flatMap(({ error }) => error ?? [])
    const edges = found.find(({ descriptor }) => descriptor.definition.kind === 'Edge')
    if (edges?.error !== undefined) throw edges.error
    const readable = found.filter(({ error }) => error === undefined)
    const reflectors = await Promise.all(
      readable.map(async ({ descriptor }) => {
        const type = resourceTypeOf(descriptor)
        const reflector = await cluster.kube.run({ verb: 'list', type }, async (client) => {
          const options = { client, type, namespaces, clock: systemClock, random: systemRandom }
          return new Reflector<StatedResource>({ ...options, logger: createLogger('silent') })
        })
        void reflector.start(signal)
        return [descriptor.definition.kind, reflector] as const
      }),
    )
    await Promise.all(reflectors.map(([, { synced }]) => synced))
    return new LiveResources(cluster, errors, new Map(reflectors))
  }

  /** The resources of a kind; none if it may not be listed. */
  list(kind: string): readonly StatedResource[] {
    return this.#reflectors.get(kind)?.store.list() ?? []
  }

  /** All resources. */
  all(): readonly StatedResource[] {
    return [...this.#reflectors.keys()].flatMap((kind) => this.list(kind))
  }

  /** A resource that is shown. */
  get({ kind, namespace, name }: ResourceName): StatedResource | undefined {
    const store: Store<StatedResource> | undefined = this.#reflectors.get(kind)?.store
    return store?.get({ namespace, name })
  }

  /** Reads resources as decisions of other commands do; only what is not shown here is asked of the cluster. */
  snapshot(): Snapshot {
    const { kinds, kube } = this.cluster
    return new Snapshot(kinds, {
      get: <T extends KubeObject>(type: ResourceType, key: ObjectKey) => {
        const known = this.get({ ...key, kind: type.kind })
        return known === undefined ? kube.get<T>(type, key) : Promise.resolve(known as unknown as T)
      },
    })
  }

  /** Calls `listener` after changes. Returns the function to end this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #gather(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      for (const listener of this.#listeners) listener()
    }, GATHER_MS)
  }
}

interface Checked {
  readonly descriptor: Descriptor
  readonly error: CommandError | undefined
}

/** Whether a kind may be listed. @throws CommandError for every other reason why it cannot be */
async function check({ kube }: Cluster, descriptor: Descriptor, namespace: string | undefined): Promise<Checked> {
  try {
    const type = resourceTypeOf(descriptor)
    await kube.list(type, { limit: 1, ...(type.namespaced ? { namespace } : {}) })
    return { descriptor, error: undefined }
  } catch (error) {
    if (!(error instanceof CommandError && error.code === 'Forbidden')) throw error
    return { descriptor, error }
  }
}

/** A resource as the operator's own decisions expect it. */
export function asResource(resource: StatedResource): CustomResource {
  return resource as unknown as CustomResource
}
