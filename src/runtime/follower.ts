import { KubeError } from '../kube/kube-error.ts'
import type { KubeClient, KubeObject, ListOptions, ResourceType } from '../kube/types.ts'
import { type Clock, sleep } from '../util/clock.ts'
import type { Logger } from '../util/logger.ts'
import { jitter, type Random } from '../util/random.ts'
import { isNewer, type Replica } from './replica.ts'
import type { Turns } from './turns.ts'

const PAGE_SIZE = 500
const BACKOFF_BASE_MS = 500
const BACKOFF_MAX_MS = 30_000
/** A watch that ends sooner, without any frame, counts as a failure, so that it is not reopened in a tight loop. */
const SHORT_WATCH_MS = 1000
/** After this many lists older than what was already seen, history must have been reset: a backup was restored. */
const LISTS_UNTIL_RESTORED = 3

export interface FollowerOptions {
  readonly client: Pick<KubeClient, 'list' | 'watch'>
  readonly type: ResourceType
  /** Only objects with these labels, such as `app=shop`. Absent: all. */
  readonly labelSelector?: string | undefined
  /** Only objects with these fields, such as `spec.type=LoadBalancer`. Absent: all. */
  readonly fieldSelector?: string | undefined
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Called for every failure; the reflector retries by itself. `attempt` counts failures in a row, from 1. */
  readonly onError?: (error: KubeError, attempt: number) => void
  /**
   * Called at each sign that the cluster has another history than before, with its monotonic time: what was listed
   * later is right.
   */
  readonly onReset?: ((since: number) => void) | undefined
  /** Seconds after which the server ends a watch, with a fifth of jitter. Default 300. */
  readonly watchSeconds?: number
  /**
   * Milliseconds without any frame after which a watch counts as dead. Default 150 000: API servers send a bookmark
   * about once a minute.
   */
  readonly stallMs?: number
  /** Lets other work go on while thousands of listed objects are compared with the stored ones. Default: none does. */
  readonly turns?: Pick<Turns, 'next'> | undefined
}

/**
 * Lists one namespace, or all, in pages, then watches, and retries after every failure, indefinitely. Results go into
 * the replica. A watch resumes where the last one ended unless there are signs of a different history: if a watch was
 * silent, none could be opened, or a bookmark is older than what was seen, etcd may have been restored, and it lists
 * again.
 */
export class Follower<T extends KubeObject> {
  readonly #options: FollowerOptions
  readonly #replica: Replica<T>
  readonly #scope: string | undefined
  readonly #onSynced: () => void
  #failures = 0
  #failedBy: KubeError['code'] | undefined
  #staleLists = 0
  #retryAfterMs = 0
  /** Where to watch from; undefined when a list is due. */
  #from: string | undefined
  /** Monotonic time when the last complete list began. */
  #listedAt = Number.NEGATIVE_INFINITY
  /** Callers that wait for a list that begins at a given time or later. */
  #waiting: readonly { readonly since: number; readonly resolve: () => void }[] = []
  /** Ends the watch or pause in progress. */
  #turn = new AbortController()

  constructor(options: FollowerOptions, replica: Replica<T>, scope: string | undefined, onSynced: () => void) {
    this.#options = options
    this.#replica = replica
    this.#scope = scope
    this.#onSynced = onSynced
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#turn = new AbortController()
      const turn = AbortSignal.any([signal, this.#turn.signal])
      try {
        if (this.#from === undefined || this.#waiting.length > 0) this.#from = await this.#list(signal)
        if (this.#waiting.length === 0) await this.#watch(this.#from, turn)
      } catch (error) {
        if (signal.aborted) return
        this.#recordFailure(error)
        await this.#pause(turn)
      }
    }
  }

  /**
   * Ends the current watch and lists again, unless a complete list that began at `since` (monotonic milliseconds) or
   * later has arrived. Resolves when such a list has arrived, however many attempts that takes.
   *
   * @returns whether a list had to be made.
   */
  async refresh(since: number): Promise<boolean> {
    if (this.#listedAt >= since) return false
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting = [...this.#waiting, { since, resolve }]
    this.#turn.abort()
    await promise
    return true
  }

  async #list(signal: AbortSignal): Promise<string> {
    const began = this.#options.clock.monotonic()
    const newest = this.#replica.newest(this.#scope)
    const { items, resourceVersion } = await this.#pages(signal)
    const restored = newest !== undefined && isNewer(newest, resourceVersion)
    if (restored) this.#options.onReset?.(began)
    if (restored && ++this.#staleLists < LISTS_UNTIL_RESTORED) {
      throw new KubeError(
        'Unavailable',
        `listing ${this.#options.type.plural}: the list is older than the last observed version`,
      )
    }
    this.#staleLists = 0
    const { turns } = this.#options
    if (turns === undefined || restored) this.#replica.replace(this.#scope, items, resourceVersion, restored)
    else await this.#replica.replaceInTurns(this.#scope, items, resourceVersion, turns)
    this.#listedAt = began
    this.#onSynced()
    for (const { since, resolve } of this.#waiting) if (since <= began) resolve()
    this.#waiting = this.#waiting.filter(({ since }) => since > began)
    return resourceVersion
  }

  /** All pages at one resourceVersion. If that expires between two pages, everything in one request instead. */
  async #pages(signal: AbortSignal): Promise<{ items: readonly T[]; resourceVersion: string }> {
    const { client, type, labelSelector, fieldSelector } = this.#options
    const base: ListOptions = { namespace: this.#scope, labelSelector, fieldSelector, signal }
    const items: T[] = []
    let page = await client.list<T>(type, { ...base, limit: PAGE_SIZE })
    for (;;) {
      items.push(...page.items)
      if (page.continue === undefined) return { items, resourceVersion: page.resourceVersion }
      try {
        page = await client.list<T>(type, { ...base, limit: PAGE_SIZE, continue: page.continue })
      } catch (error) {
        if (!isGone(error)) throw error
        return await client.list<T>(type, base)
      }
    }
  }

  async #watch(from: string, signal: AbortSignal): Promise<void> {
    const { client, type, clock, random, watchSeconds = 300 } = this.#options
    const watchdog = new Watchdog(clock, this.#options.stallMs ?? 150_000)
    const began = clock.monotonic()
    let isOpen = false
    let frames = 0
    try {
      const watch = client.watch<T>(type, {
        namespace: this.#scope,
        labelSelector: this.#options.labelSelector,
        fieldSelector: this.#options.fieldSelector,
        resourceVersion: from,
        timeoutSeconds: Math.round(jitter(random, watchSeconds, 0.2)),
        signal: AbortSignal.any([signal, watchdog.signal]),
        onOpen: () => {
          isOpen = true
        },
      })
      for await (const frame of watch) {
        frames++
        this.#failures = 0
        watchdog.feed()
        if (frame.type === 'bookmark') this.#progress(frame.resourceVersion)
        else if (frame.type === 'deleted') this.#replica.remove(this.#scope, frame.object)
        else this.#replica.put(this.#scope, frame.object)
        this.#from = this.#replica.seen(this.#scope)
      }
    } catch (error) {
      if (isGone(error) || !(isOpen || isBusy(error))) this.#from = undefined
      throw error
    } finally {
      watchdog.stop()
    }
    if (signal.aborted) return
    if (watchdog.signal.aborted) {
      this.#from = undefined
      throw new KubeError('Timeout', `watching ${type.plural}: nothing was received in time`)
    }
    if (frames === 0 && clock.monotonic() - began < SHORT_WATCH_MS) {
      throw new KubeError('Unavailable', `watching ${type.plural}: the watch ended immediately`)
    }
    this.#failures = 0
  }

  /** @throws KubeError `Gone` when the server is behind what was seen: its history is a different one. */
  #progress(resourceVersion: string): void {
    const seen = this.#replica.seen(this.#scope)
    if (seen !== undefined && isNewer(seen, resourceVersion)) {
      this.#options.onReset?.(this.#options.clock.monotonic())
      throw new KubeError(
        'Gone',
        `watching ${this.#options.type.plural}: the server is behind the last observed version`,
      )
    }
    this.#replica.progress(this.#scope, resourceVersion)
  }

  #recordFailure(error: unknown): void {
    const failure =
      error instanceof KubeError
        ? error
        : new KubeError('Unexpected', `following ${this.#options.type.plural} failed`, { cause: error })
    // A server that rejects our resourceVersion as too old has answered, so earlier failures, even an hour of them, no
    // longer count.
    if (failure.code === 'Gone' && this.#failedBy !== 'Gone') this.#failures = 0
    this.#failedBy = failure.code
    this.#failures++
    const { logger, onError, type } = this.#options
    const fields = { resource: type.plural, namespace: this.#scope, code: failure.code, attempt: this.#failures }
    // Connections end all the time; only repeated failures are worth a warning.
    if (this.#failures < 3) logger.debug({ ...fields, err: failure }, 'reflector failed and will retry')
    else logger.warn({ ...fields, err: failure }, 'reflector keeps failing')
    onError?.(failure, this.#failures)
    this.#retryAfterMs = failure.retryAfterMs ?? 0
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options
    const backoff = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** Math.min(this.#failures - 1, 10))
    const ms = Math.max(jitter(random, backoff, 0.5), Math.min(this.#retryAfterMs, BACKOFF_MAX_MS))
    try {
      await sleep(clock, ms, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}

/** Aborts its signal when it was not fed for a while: a connection may die silently. */
class Watchdog {
  readonly #clock: Clock
  readonly #ms: number
  readonly #controller = new AbortController()
  #cancel: () => void

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.#ms = ms
    this.#cancel = this.#arm()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  feed(): void {
    this.#cancel()
    this.#cancel = this.#arm()
  }

  stop(): void {
    this.#cancel()
  }

  #arm(): () => void {
    return this.#clock.setTimer(this.#ms, () => this.#controller.abort())
  }
}

function isGone(error: unknown): boolean {
  return error instanceof KubeError && error.code === 'Gone'
}

/** Do not give an overloaded server more work. */
function isBusy(error: unknown): boolean {
  return error instanceof KubeError && error.code === 'TooManyRequests'
}
