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

type Fields = Readonly<Record<string, unknown>>

export interface ModelKubeClientOptions {
  readonly kube: ModelKube
  readonly clock: Clock
  /** Called for each write that reaches the server, as `PATCH backends/web status`. */
  readonly onWrite?: (label: string) => void
}

/** A client of the model of the Kubernetes API: a request, an answer, or a report of a change takes a millisecond. */
export class ModelKubeClient implements KubeClient {
  readonly #kube: ModelKube
  readonly #clock: Clock
  readonly #onWrite: (label: string) => void

  constructor({ kube, clock, onWrite = () => undefined }: ModelKubeClientOptions) {
    this.#kube = kube
    this.#clock = clock
    this.#onWrite = onWrite
  }

  serves(): Promise<boolean> {
    return Promise.resolve(true)
  }

  async get<T extends KubeObject>(type: ResourceType, key: ObjectKey): Promise<T | undefined> {
    return await this.#call(() => this.#kube.get<T>(type, key))
  }

  async list<T extends KubeObject>(type: ResourceType): Promise<KubeList<T>> {
    return await this.#call(() => this.#kube.list<T>(type))
  }

  async *watch<T extends KubeObject>(type: ResourceType, options: WatchOptions): AsyncIterable<WatchFrame<T>> {
    const frames: WatchFrame<T>[] = []
    let wake = Promise.withResolvers<void>()
    const end = this.#kube.listen(type, options.resourceVersion, ({ type: change, object }) => {
      this.#clock.setTimer(1, () => {
        frames.push({ type: change, object: structuredClone(object) as T })
        wake.resolve()
      })
    })
    options.signal.addEventListener('abort', () => wake.resolve(), { once: true })
    try {
      while (!options.signal.aborted) {
        yield* frames.splice(0)
        await wake.promise
        wake = Promise.withResolvers<void>()
      }
    } finally {
      end()
    }
  }

  async create<T extends KubeObject>(type: ResourceType, key: ObjectKey, object: Fields): Promise<T> {
    return await this.#write(`POST ${type.plural}/${key.name}`, () => this.#kube.create<T>(type, key, object))
  }

  async mergePatch<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    patch: Fields,
    options: PatchOptions = {},
  ): Promise<T> {
    const label = `PATCH ${type.plural}/${key.name}${options.subresource === undefined ? '' : ' status'}`
    return await this.#write(label, () => this.#kube.mergePatch<T>(type, key, patch, options))
  }

  async apply<T extends KubeObject>(type: ResourceType, key: ObjectKey, object: Fields): Promise<T> {
    const kube = this.#kube
    return await this.#write(`APPLY ${type.plural}/${key.name}`, () =>
      kube.get(type, key) === undefined ? kube.create<T>(type, key, object) : kube.mergePatch<T>(type, key, object),
    )
  }

  async delete(type: ResourceType, key: ObjectKey, options: DeleteOptions = {}): Promise<boolean> {
    return await this.#write(`DELETE ${type.plural}/${key.name}`, () => this.#kube.delete(type, key, options))
  }

  async #write<T>(label: string, effect: () => T): Promise<T> {
    return await this.#call(() => {
      this.#onWrite(label)
      return effect()
    })
  }

  /** The server's error arrives as late as its answer. */
  async #call<T>(effect: () => T): Promise<T> {
    await sleep(this.#clock, 1)
    const answered = (async () => effect())()
    answered.catch(() => undefined)
    await sleep(this.#clock, 1)
    return structuredClone(await answered)
  }
}
