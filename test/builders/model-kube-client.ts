import { KubeError } from '../../src/kube/errors.ts'
import type {
  DeleteOptions,
  KubeClient,
  KubeList,
  KubeObject,
  ObjectKey,
  PatchOptions,
  ResourceType,
  WatchFrame,
  WatchOptions,
} from '../../src/kube/types.ts'
import { type Clock, sleep } from '../../src/util/clock.ts'
import type { ModelKube } from './model-kube.ts'
import type { ModelProcess } from './model-process.ts'

type Fields = Readonly<Record<string, unknown>>

/** A fault of a write: `lost` takes effect without an answer, `unsent` never arrives. */
export type KubeFault = 'lost' | 'unsent'

export interface ModelKubeClientOptions {
  readonly kube: ModelKube
  readonly process: ModelProcess
  readonly clock: Clock
  /** Milliseconds until a watch reports a change. */
  readonly lagMs: number
  /** Consulted before each write. */
  readonly nextFault: (type: ResourceType, key: ObjectKey) => KubeFault | undefined
  /** Called for each write that reaches the server, as `PATCH backends/web status`. */
  readonly onWrite: (label: string) => void
}

/** One process's client of the model of the Kubernetes API. */
export class ModelKubeClient implements KubeClient {
  readonly #options: ModelKubeClientOptions

  constructor(options: ModelKubeClientOptions) {
    this.#options = options
  }

  serves(): Promise<boolean> {
    return Promise.resolve(true)
  }

  async get<T extends KubeObject>(type: ResourceType, key: ObjectKey): Promise<T | undefined> {
    return await this.#options.process.call(1, 1, () => this.#options.kube.get<T>(type, key))
  }

  async list<T extends KubeObject>(type: ResourceType): Promise<KubeList<T>> {
    return await this.#options.process.call(1, 1, () => this.#options.kube.list<T>(type))
  }

  async *watch<T extends KubeObject>(type: ResourceType, options: WatchOptions): AsyncIterable<WatchFrame<T>> {
    const { kube, clock, lagMs, process } = this.#options
    const frames: WatchFrame<T>[] = []
    let wake = Promise.withResolvers<void>()
    const end = kube.listen(type, options.resourceVersion, ({ type: change, object }) => {
      clock.setTimer(lagMs, () => {
        frames.push({ type: change, object: structuredClone(object) as T })
        wake.resolve()
      })
    })
    options.signal.addEventListener('abort', () => wake.resolve(), { once: true })
    try {
      while (!options.signal.aborted && process.alive) {
        yield* frames.splice(0)
        await wake.promise
        wake = Promise.withResolvers<void>()
      }
    } finally {
      end()
    }
  }

  async create<T extends KubeObject>(type: ResourceType, key: ObjectKey, object: Fields): Promise<T> {
    return await this.#write(type, key, `POST ${type.plural}/${key.name}`, () =>
      this.#options.kube.create<T>(type, key, object),
    )
  }

  async mergePatch<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    patch: Fields,
    options: PatchOptions = {},
  ): Promise<T> {
    const label = `PATCH ${type.plural}/${key.name}${options.subresource === undefined ? '' : ' status'}`
    return await this.#write(type, key, label, () => this.#options.kube.mergePatch<T>(type, key, patch, options))
  }

  async apply<T extends KubeObject>(type: ResourceType, key: ObjectKey, object: Fields): Promise<T> {
    const { kube } = this.#options
    const applied = (): T =>
      kube.get(type, key) === undefined ? kube.create<T>(type, key, object) : kube.mergePatch<T>(type, key, object)
    return await this.#write(type, key, `APPLY ${type.plural}/${key.name}`, applied)
  }

  async delete(type: ResourceType, key: ObjectKey, options: DeleteOptions = {}): Promise<boolean> {
    const { kube } = this.#options
    return await this.#write(type, key, `DELETE ${type.plural}/${key.name}`, () => kube.delete(type, key, options))
  }

  async #write<T>(type: ResourceType, key: ObjectKey, label: string, effect: () => T): Promise<T> {
    const { process, nextFault, onWrite, clock } = this.#options
    const fault = nextFault(type, key)
    const written = await process.call(1, 1, () => {
      if (fault === 'unsent') return undefined
      onWrite(label)
      return { value: effect() }
    })
    if (written !== undefined && fault === undefined) return written.value
    await sleep(clock, 20)
    throw new KubeError('Timeout', `${label}: no answer`)
  }
}
