import { type Clock, sleep } from '../util/clock.ts'
import type { Logger } from '../util/logger.ts'
import type { Priority } from '../util/priority.ts'
import { jitter, type Random } from '../util/random.ts'
import type { Outcome } from './outcome.ts'
import type { Turns } from './turns.ts'
import type { LongWaits } from './waiting-list.ts'
import { type Work, WorkQueue, type WorkQueueObserver } from './work-queue.ts'

const TERMINAL_RETRY_MS = 600_000

/** One object to reconcile. */
export interface ReconcileKey {
  readonly kind: string
  /** Undefined for cluster-scoped objects. */
  readonly namespace?: string | undefined
  readonly name: string
}

/** How a reconcile ended, as a label: the values that dashboards know, and `terminal_error`. */
export type ReconcileResultLabel = 'success' | 'requeue_after' | 'error' | 'terminal_error'

/** Called at the start and end of each reconcile, for metrics. */
export interface ControllerObserver {
  started(kind: string): void
  ended(kind: string, result: ReconcileResultLabel, seconds: number): void
}

export interface ControllerOptions {
  /**
   * Reconciles one object. Anything it throws counts as `backoff`. `signal` is aborted when the deadline of a stop has
   * passed.
   */
  readonly reconcile: (key: ReconcileKey, signal: AbortSignal) => Promise<Outcome>
  /** The group whose share of the workers an object counts against, for example its account. Default: none. */
  readonly groupOf?: (key: ReconcileKey) => string
  /**
   * The tenant that a group belongs to: the last quarter of the workers is reserved for tenants that occupy none.
   * Default: each group is its own tenant.
   */
  readonly tenantOf?: (group: string) => string
  /**
   * Reports objects that have waited long to be reconciled, but none while it is being reconciled. Default: no reports.
   */
  readonly longWaits?: {
    /** How long an object waits before it is reported, in milliseconds. */
    readonly afterMs: number
    /** Undefined when there is nothing to report. */
    readonly tell: (key: ReconcileKey) => Promise<void> | undefined
  }
  /** Lets the event loop go on between reconciles that wait for nothing. Default: they follow each other. */
  readonly turns?: Pick<Turns, 'next'> | undefined
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Concurrent reconciles. Default 8. */
  readonly workers?: number
  /**
   * How many of them one group may occupy, so that an account that hangs leaves workers to the others. Default half,
   * rounded up.
   */
  readonly maxPerGroup?: number
  /** How long a stop waits for reconciles in flight, in milliseconds. Default 10 000. */
  readonly stopMs?: number
  readonly backoffBaseMs?: number
  readonly backoffMaxMs?: number
  readonly observer?: ControllerObserver | undefined
  readonly queueObserver?: WorkQueueObserver | undefined
}

/**
 * Workers over one queue for all kinds. The only place that turns an `Outcome` into a requeue.
 *
 * ```ts
 * const controller = new Controller({ reconcile, groupOf, clock, random, logger })
 * controller.enqueue({ kind: 'Edge', namespace: 'shop', name: 'front' })
 * await controller.run(signal)
 * ```
 */
export class Controller {
  readonly #options: ControllerOptions
  readonly #workers: number
  readonly #queue: WorkQueue

  constructor(options: ControllerOptions) {
    this.#options = options
    this.#workers = options.workers ?? 8
    this.#queue = new WorkQueue({
      clock: options.clock,
      random: options.random,
      maxPerGroup: options.maxPerGroup ?? Math.ceil(this.#workers / 2),
      workers: this.#workers,
      observer: options.queueObserver,
      longWaits: this.#longWaits(),
      ...(options.tenantOf === undefined ? {} : { tenantOf: options.tenantOf }),
      ...(options.backoffBaseMs === undefined ? {} : { backoffBaseMs: options.backoffBaseMs }),
      ...(options.backoffMaxMs === undefined ? {} : { backoffMaxMs: options.backoffMaxMs }),
    })
  }

  get workers(): number {
    return this.#workers
  }

  /** For metrics only; add work with `enqueue`. */
  get queue(): Pick<WorkQueue, 'depth' | 'inFlight' | 'delayed' | 'oldestSeconds' | 'unfinishedSeconds'> {
    return this.#queue
  }

  /** Reconciles `key` when its turn comes. Default priority `edit`. */
  enqueue(key: ReconcileKey, priority: Priority = 'edit'): void {
    this.#queue.add(formatKey(key), { priority, group: this.#groupOf(key) })
  }

  /** As `enqueue`, but not right after the last reconcile, nor within the pause of a key that failed. */
  enqueuePatiently(key: ReconcileKey, priority: Priority): void {
    this.#queue.add(formatKey(key), { priority, group: this.#groupOf(key), isPatient: true })
  }

  /** Reconciles `key` after `ms` milliseconds. Default priority `poll`. */
  enqueueAfter(key: ReconcileKey, ms: number, priority: Priority = 'poll'): void {
    this.#queue.addAfter(formatKey(key), ms, { priority, group: this.#groupOf(key) })
  }

  /**
   * Runs until `signal` is aborted, then starts nothing new and resolves when the reconciles in flight have ended, at
   * the latest after `stopMs`. A controller runs once.
   */
  async run(signal: AbortSignal): Promise<void> {
    const cutOff = new AbortController()
    const stop = (): void => this.#queue.shutDown()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const working = Array.from({ length: this.#workers }, () => this.#work(cutOff.signal))
    const workers = Promise.all(working).then(() => this.#queue.told())
    const stopped = new AbortController()
    try {
      await Promise.race([workers, this.#deadline(signal, stopped.signal)])
    } finally {
      signal.removeEventListener('abort', stop)
      stopped.abort()
      cutOff.abort()
    }
  }

  async #deadline(signal: AbortSignal, stopped: AbortSignal): Promise<void> {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    const { clock, logger, stopMs = 10_000 } = this.#options
    try {
      await sleep(clock, stopMs, stopped)
    } catch {
      // Everything ended in time.
      return
    }
    logger.warn({ inFlight: this.#queue.inFlight, stopMs }, 'reconciles did not end in time and are abandoned')
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let work = await this.#queue.take(); work !== undefined; work = await this.#queue.take()) {
      try {
        await this.#reconcile(work, signal)
      } finally {
        this.#queue.done(work.key)
      }
      const turn = this.#options.turns?.next()
      if (turn !== undefined) await turn
    }
  }

  async #reconcile(work: Work, signal: AbortSignal): Promise<void> {
    const key = parseKey(work.key)
    const { clock, observer } = this.#options
    const started = clock.monotonic()
    observer?.started(key.kind)
    const outcome = await this.#attempt(key, signal)
    const result = this.#requeue(key, work.key, outcome)
    observer?.ended(key.kind, result, (clock.monotonic() - started) / 1000)
  }

  async #attempt(key: ReconcileKey, signal: AbortSignal): Promise<Outcome> {
    try {
      return await this.#options.reconcile(key, signal)
    } catch (error) {
      // A reconciler returns the failures it expects; one that is thrown is a bug or was not foreseen.
      this.#options.logger.error({ ...key, err: error }, 'reconcile threw')
      return { type: 'backoff', error }
    }
  }

  #requeue(key: ReconcileKey, queueKey: string, outcome: Outcome): ReconcileResultLabel {
    const { random, logger } = this.#options
    const group = this.#groupOf(key)
    switch (outcome.type) {
      case 'done':
        this.#queue.forget(queueKey)
        return 'success'
      case 'after':
        this.#queue.forget(queueKey)
        this.#queue.addAfter(queueKey, outcome.ms, { priority: outcome.priority ?? 'poll', group })
        return 'requeue_after'
      case 'backoff': {
        const atLeastMs = retryAfterMs(outcome.error)
        const retryMs = Math.round(this.#queue.addBackoff(queueKey, { group, atLeastMs }))
        const fields = { ...key, retryMs, failures: this.#queue.failures(queueKey), err: outcome.error }
        logger.warn(fields, 'reconcile failed and will be tried again')
        return 'error'
      }
      case 'terminal': {
        const retryMs = Math.round(jitter(random, outcome.retryMs ?? TERMINAL_RETRY_MS, 0.1))
        this.#queue.addRefused(queueKey, retryMs, { group })
        logger.warn({ ...key, retryMs, err: outcome.error }, 'reconcile was refused')
        return 'terminal_error'
      }
    }
  }

  #longWaits(): LongWaits | undefined {
    const { longWaits, logger } = this.#options
    if (longWaits === undefined) return undefined
    return {
      afterMs: longWaits.afterMs,
      tell: (text) => {
        const key = parseKey(text)
        return longWaits.tell(key)?.catch((error: unknown) => {
          logger.error({ ...key, err: error }, 'reporting a wait threw')
        })
      },
    }
  }

  #groupOf(key: ReconcileKey): string {
    return this.#options.groupOf?.(key) ?? ''
  }
}

/** How long the server asked us to wait; 0 if it did not say. */
function retryAfterMs(error: unknown): number {
  const said = typeof error === 'object' && error !== null && 'retryAfterMs' in error ? error.retryAfterMs : undefined
  return typeof said === 'number' ? said : 0
}

/** `Kind/namespace/name`, with an empty namespace for cluster-scoped objects: none of the three may contain a slash. */
function formatKey({ kind, namespace = '', name }: ReconcileKey): string {
  return `${kind}/${namespace}/${name}`
}

function parseKey(text: string): ReconcileKey {
  const [kind = '', namespace = '', name = ''] = text.split('/')
  return namespace === '' ? { kind, name } : { kind, namespace, name }
}
