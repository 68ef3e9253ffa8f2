import type { KubeObject } from '../../../src/kube/types.ts'
import type { Clock } from '../../../src/util/clock.ts'
import { until } from './wait.ts'
import { core, type World } from './world.ts'

type WithData = KubeObject & { readonly data?: Readonly<Record<string, string>> }

export interface HeldOptions {
  readonly world: World
  readonly clock: Clock
  readonly plural: 'secrets' | 'configmaps'
  readonly kind: 'Secret' | 'ConfigMap'
  readonly name: string
  /** The entry to observe. */
  readonly key: string
}

/** A text, and the wall time from which it was in a Secret or ConfigMap. */
export interface Held {
  readonly text: string
  readonly since: number
}

/** Every text that one entry of a Secret or ConfigMap has had since `begin`, however briefly. */
export class HeldOverTime implements AsyncDisposable {
  readonly #options: HeldOptions
  readonly #history: Held[] = []
  readonly #stop = new AbortController()
  #version = ''
  #failure: unknown
  #following: Promise<void> | undefined

  constructor(options: HeldOptions) {
    this.#options = options
  }

  /** Records the current text, and follows the changes from there. */
  async begin(): Promise<void> {
    const object = await until('it is written', () => this.#get())
    this.#note(object)
    this.#following = this.#follow(object.metadata.resourceVersion)
  }

  /** The current text. */
  async now(): Promise<string> {
    const object = await this.#get()
    return object === undefined ? '' : this.#textOf(object)
  }

  /** Every text so far, in order. @throws Error if some may be missing */
  async history(): Promise<readonly Held[]> {
    const version = (await this.#get())?.metadata.resourceVersion
    await until('the watch has reached what is held', () => this.#failure !== undefined || this.#version === version)
    if (this.#failure !== undefined) throw new Error('the watch ended', { cause: this.#failure })
    return this.#history
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#following
  }

  async #follow(resourceVersion: string): Promise<void> {
    const { world, plural, kind, name } = this.#options
    const { signal } = this.#stop
    const options = { namespace: world.namespace, resourceVersion, timeoutSeconds: 3600, signal }
    try {
      for await (const frame of world.kube.watch<WithData>(core(plural, kind), options)) {
        if (frame.type === 'bookmark' || frame.object.metadata.name !== name) continue
        if (frame.type === 'deleted') throw new Error(`${kind} ${name} was deleted`)
        this.#note(frame.object)
      }
      throw new Error('the server ended the watch')
    } catch (error) {
      this.#failure = error
    }
  }

  #note(object: WithData): void {
    this.#version = object.metadata.resourceVersion
    const text = this.#textOf(object)
    if (text !== this.#history.at(-1)?.text) this.#history.push({ text, since: this.#options.clock.now() })
  }

  #get(): Promise<WithData | undefined> {
    const { world, plural, kind, name } = this.#options
    return world.kube.get<WithData>(core(plural, kind), { namespace: world.namespace, name })
  }

  #textOf({ data = {} }: WithData): string {
    const { kind, key } = this.#options
    const text = data[key] ?? ''
    return kind === 'Secret' ? Buffer.from(text, 'base64').toString() : text
  }
}
