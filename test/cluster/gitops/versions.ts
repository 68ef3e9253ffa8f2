import { kinds } from '../../../src/kinds/index.ts'
import { type Resource, typeOf, type World } from '../support/world.ts'

/** Every version of every CR of a world, as a watch tells of them. */
export class Versions implements AsyncDisposable {
  readonly seen: Resource[] = []
  readonly #stop = new AbortController()
  readonly #watches: Promise<void>[] = []

  static async of(world: World): Promise<Versions> {
    const versions = new Versions()
    for (const { definition } of kinds) {
      if (definition.scope !== 'Namespaced') continue
      const type = typeOf(definition.kind)
      const { namespace } = world
      const { resourceVersion, items } = await world.kube.list<Resource>(type, { namespace })
      versions.seen.push(...items)
      const options = { namespace, resourceVersion, timeoutSeconds: 600, signal: versions.#stop.signal }
      versions.#watches.push(versions.#collect(world.kube.watch<Resource>(type, options)))
    }
    return versions
  }

  /** Versions of objects of this name, oldest first. */
  named(name: string): readonly Resource[] {
    return this.seen.filter(({ metadata }) => metadata.name === name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#watches)
  }

  async #collect(frames: ReturnType<World['kube']['watch']>): Promise<void> {
    try {
      for await (const frame of frames) {
        if (frame.type === 'added' || frame.type === 'modified') this.seen.push(frame.object as Resource)
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error
    }
  }
}
