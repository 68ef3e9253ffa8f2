import type { Clock } from '../util/clock.ts'
import type { Priority } from '../util/priority.ts'
import { jitter, type Random } from '../util/random.ts'
import { type Entry, higherPriority, PriorityQueue } from './priority-queue.ts'
import { type LongWaits, WaitingList } from './waiting-list.ts'

/** Called for what happens in the queue, for metrics. */
export interface WorkQueueObserver {
  added(): void
  /** A key was taken after waiting this long. */
  taken(waitSeconds: number): void
  /** The work on a key took this long. */
  finished(workSeconds: number): void
  retried(): void
}

export interface WorkQueueOptions {
  readonly clock: Clock
  readonly random: Random
  /** First delay of a failing key, in milliseconds; doubled with each failure in a row. Default 500. */
  readonly backoffBaseMs?: number
  /** Longest delay of a failing key, in milliseconds. Default 300 000. */
  readonly backoffMaxMs?: number
  /**
   * Keys of one group in flight at a time, so that a group that hangs leaves workers to the others. Default: no limit.
   */
  readonly maxPerGroup?: number
  /** Keys in flight at a time, all groups together. Default: unknown, and no worker is reserved. */
  readonly workers?: number
  /** The tenant that a group belongs to, for example a namespace. Default: each group is its own tenant. */
  readonly tenantOf?: (group: string) => string
  /** Reports keys that wait for long to be taken. Default: no reports. */
  readonly longWaits?: LongWaits | undefined
  readonly observer?: WorkQueueObserver | undefined
}

export interface AddOptions {
  /** Default `edit`. */
  readonly priority?: Priority
  /** The group whose share the work counts against, for example an account. Default '': none. */
  readonly group?: string
  /**
   * Whether a key that was just worked on is left alone for ten seconds first, and one that failed for its pause
   * (`addBackoff`, `addRefused`). Default false.
   */
  readonly isPatient?: boolean
}

export interface Work {
  readonly key: string
  readonly priority: Priority
  readonly group: string
}

interface Delayed {
  readonly due: number
  readonly priority: Priority
  readonly group: string
  readonly cancel: () => void
}

interface InFlight {
  readonly group: string
  readonly started: number
  /** Set when the key was added again while in flight. */
  again: (Entry & { readonly isPatient: boolean }) | undefined
}

/** The pause of patient callers after work of any outcome. */
const CALM_MS = 10_000
/** The same after a refusal, of which they may have noticed that the reason is gone. */
const REFUSED_PAUSE_MS = 60_000

/**
 * Keys to work on. A key is queued at most once and in flight at most once; one added while in flight is handed out
 * again afterwards, so that no change is missed. Taking a key cancels its delay: its worker decides when it runs next.
 * See `PriorityQueue` for the order. A key whose wait is being reported is handed out after the report and keeps its
 * place.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #queued = new PriorityQueue()
  readonly #delayed = new Map<string, Delayed>()
  readonly #inFlight = new Map<string, InFlight>()
  readonly #perGroup = new Map<string, number>()
  readonly #perTenant = new Map<string, number>()
  readonly #failures = new Map<string, number>()
  /** Monotonic time until which patient callers leave a key alone. */
  readonly #pausedUntil = new Map<string, number>()
  readonly #takers = new Set<(work: Work | undefined) => void>()
  readonly #waiting: WaitingList | undefined
  #stopped: boolean = false

  constructor(options: WorkQueueOptions) {
    this.#options = options
    const { clock, longWaits } = options
    this.#waiting = longWaits && new WaitingList(clock, longWaits, () => this.#serve())
  }

  /** Keys that wait to be taken, not counting those in flight or delayed. */
  get depth(): number {
    return this.#queued.size
  }

  get inFlight(): number {
    return this.#inFlight.size
  }

  get delayed(): number {
    return this.#delayed.size
  }

  /** How long the longest-waiting key has waited, in seconds; 0 when none waits. */
  get oldestSeconds(): number {
    const now = this.#options.clock.monotonic()
    let oldest = now
    for (const { since } of this.#queued.entries()) oldest = Math.min(oldest, since)
    return (now - oldest) / 1000
  }

  /** Seconds spent so far on keys in flight: in total, and on the longest. */
  get unfinishedSeconds(): { readonly total: number; readonly longest: number } {
    const now = this.#options.clock.monotonic()
    const spent = [...this.#inFlight.values()].map(({ started }) => (now - started) / 1000)
    return { total: spent.reduce((sum, each) => sum + each, 0), longest: Math.max(0, ...spent) }
  }

  /**
   * Queues `key` now, or raises its priority if it is already queued with a lower one. Does nothing after `shutDown`.
   */
  add(key: string, options: AddOptions = {}): void {
    if (this.#stopped) return
    this.#options.observer?.added()
    const { priority = 'edit', group = '', isPatient = false } = options
    const entry: Entry = { key, priority, group, since: this.#options.clock.monotonic() }
    const busy = this.#inFlight.get(key)
    if (busy === undefined) {
      this.#enqueueOnceAllowed(entry, isPatient)
    } else {
      busy.again = {
        ...entry,
        priority: busy.again === undefined ? priority : higherPriority(busy.again.priority, priority),
        isPatient: isPatient && (busy.again?.isPatient ?? true),
      }
    }
  }

  #enqueueOnceAllowed(entry: Entry, isPatient: boolean): void {
    const pauseMs = (this.#pausedUntil.get(entry.key) ?? 0) - this.#options.clock.monotonic()
    if (isPatient && pauseMs > 0) this.addAfter(entry.key, pauseMs, entry)
    else this.#enqueue(entry)
  }

  /** Queues `key` after `ms` milliseconds. Of several delays for one key, the earliest counts. */
  addAfter(key: string, ms: number, options: AddOptions = {}): void {
    if (this.#stopped) return
    if (!(ms > 0)) {
      this.add(key, options)
      return
    }
    const due = this.#options.clock.monotonic() + ms
    const waiting = this.#delayed.get(key)
    if (waiting !== undefined && waiting.due <= due) return
    this.#endDelay(key)
    this.#delay(key, due, options.priority ?? 'edit', options.group ?? '')
  }

  /**
   * Queues a key that failed, after a delay that grows with each failure in a row. Returns the delay in milliseconds.
   */
  addBackoff(key: string, options: AddOptions & { readonly atLeastMs?: number } = {}): number {
    const { backoffBaseMs = 500, backoffMaxMs = 300_000, random, observer } = this.#options
    const failures = this.#failures.get(key) ?? 0
    if (!this.#stopped) this.#failures.set(key, failures + 1)
    const delay = jitter(random, Math.min(backoffMaxMs, backoffBaseMs * 2 ** Math.min(failures, 40)), 0.2)
    const ms = Math.max(delay, options.atLeastMs ?? 0)
    observer?.retried()
    this.#pause(key, ms)
    this.addAfter(key, ms, { priority: 'drift', ...options })
    return ms
  }

  /** Queues a key that was refused after `ms` milliseconds, with the lowest priority. Resets its failures. */
  addRefused(key: string, ms: number, options: Pick<AddOptions, 'group'> = {}): void {
    this.forget(key)
    this.#pause(key, Math.min(ms, REFUSED_PAUSE_MS))
    this.addAfter(key, ms, { priority: 'drift', ...options })
  }

  #pause(key: string, ms: number): void {
    if (this.#stopped) return
    const now = this.#options.clock.monotonic()
    const until = Math.max(this.#pausedUntil.get(key) ?? 0, now + ms)
    this.#pausedUntil.delete(key)
    this.#pausedUntil.set(key, until)
    // The longest untouched come first: those of keys that no longer exist are forgotten.
    for (const [each, end] of this.#pausedUntil) {
      if (end > now) break
      this.#pausedUntil.delete(each)
    }
  }

  /** Resets the failures of `key`, so that its next delay is the first one again. */
  forget(key: string): void {
    this.#failures.delete(key)
    this.#pausedUntil.delete(key)
  }

  /** Failures of `key` in a row. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  /**
   * The next key to work on, once there is one; undefined after `shutDown`. Every key taken must be passed to `done`.
   */
  take(): Promise<Work | undefined> {
    return new Promise((resolve) => {
      if (this.#stopped) {
        resolve(undefined)
        return
      }
      this.#takers.add(resolve)
      this.#serve()
    })
  }

  /** The work on `key` has ended; it may be handed out again. Throws a `RangeError` for a key that is not in flight. */
  done(key: string): void {
    const busy = this.#inFlight.get(key)
    if (busy === undefined) throw new RangeError(`${key} is not in flight`)
    this.#inFlight.delete(key)
    this.#countGroup(busy.group, -1)
    this.#options.observer?.finished((this.#options.clock.monotonic() - busy.started) / 1000)
    this.#pause(key, CALM_MS)
    if (busy.again !== undefined && !this.#stopped) {
      const { isPatient, ...entry } = busy.again
      this.#enqueueOnceAllowed(entry, isPatient)
    }
    this.#serve()
  }

  /** Resolves when no wait is being reported; after `shutDown`, none will be any more. */
  async told(): Promise<void> {
    await this.#waiting?.settled()
  }

  /** Hands out nothing more and drops waiting keys. Work in flight may still finish. */
  shutDown(): void {
    this.#stopped = true
    for (const { cancel } of this.#delayed.values()) cancel()
    this.#delayed.clear()
    this.#queued.clear()
    this.#waiting?.clear()
    for (const taker of this.#takers) taker(undefined)
    this.#takers.clear()
  }

  #delay(key: string, due: number, priority: Priority, group: string): void {
    const { clock } = this.#options
    const cancel = clock.setTimer(due - clock.monotonic(), () => {
      // A clock may cut very long waits.
      if (clock.monotonic() < due) {
        this.#delay(key, due, priority, group)
        return
      }
      this.#delayed.delete(key)
      this.add(key, { priority, group })
    })
    this.#delayed.set(key, { due, priority, group, cancel })
  }

  #endDelay(key: string): void {
    this.#delayed.get(key)?.cancel()
    this.#delayed.delete(key)
  }

  #enqueue(entry: Entry): void {
    const isNew = !this.#queued.has(entry.key)
    this.#queued.add(entry)
    this.#serve()
    if (isNew && this.#queued.has(entry.key)) this.#waiting?.add(entry.key)
  }

  #serve(): void {
    const { clock, observer } = this.#options
    const mayRun = (group: string): boolean => group === '' || this.#hasRoom(group)
    for (const taker of this.#takers) {
      const entry = this.#queued.take(mayRun, this.#waiting?.held)
      if (entry === undefined) return
      this.#takers.delete(taker)
      this.#waiting?.remove(entry.key)
      this.#endDelay(entry.key)
      const started = clock.monotonic()
      this.#inFlight.set(entry.key, { group: entry.group, started, again: undefined })
      this.#countGroup(entry.group, 1)
      observer?.taken((started - entry.since) / 1000)
      taker({ key: entry.key, priority: entry.priority, group: entry.group })
    }
  }

  /**
   * The last quarter of the workers is reserved for tenants that occupy none: a tenant with many groups that hang
   * leaves them to the others.
   */
  #hasRoom(group: string): boolean {
    const { maxPerGroup = Number.POSITIVE_INFINITY, workers = Number.POSITIVE_INFINITY } = this.#options
    if ((this.#perGroup.get(group) ?? 0) >= maxPerGroup) return false
    if (!this.#perTenant.has(this.#tenantOf(group)) || workers === Number.POSITIVE_INFINITY) return true
    return workers - this.#inFlight.size > Math.floor(workers / 4)
  }

  #tenantOf(group: string): string {
    return this.#options.tenantOf?.(group) ?? group
  }

  #countGroup(group: string, by: 1 | -1): void {
    count(this.#perGroup, group, by)
    count(this.#perTenant, this.#tenantOf(group), by)
  }
}

function count(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const sum = (counts.get(key) ?? 0) + by
  if (sum === 0) counts.delete(key)
  else counts.set(key, sum)
}
