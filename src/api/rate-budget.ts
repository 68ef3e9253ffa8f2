import { abortable, type Clock } from '../util/clock.ts'
import { PRIORITIES, type Priority } from '../util/priority.ts'
import { jitter, type Random } from '../util/random.ts'
import { AdaptiveLimit, type Ended } from './adaptive-limit.ts'
import { MAX_RETRY_AFTER_MS } from './failure.ts'
import { LearnedLimit } from './learned-limit.ts'
import { RequestPace, WINDOW_MS } from './request-pace.ts'

/** What accounts state about the API's limits. */
export interface RateLimits {
  /**
   * What the API admits per minute. Default: unknown; then nothing is paced until the first 429, from which a limit is
   * learned.
   */
  readonly requestsPerMinute?: number | undefined
  /** Requests sent without a pause after a rest. Default a twentieth of the limit: three seconds' worth. */
  readonly burst?: number | undefined
}

export interface RateBudgetOptions extends RateLimits {
  readonly clock: Clock
  readonly random: Random
  /** Requests in flight at once, at most; `AdaptiveLimit` says how many of them the API bears. Default 64. */
  readonly maxInFlight?: number | undefined
  /** Called after each wait, including those of zero length. */
  readonly onWait?: ((priority: Priority, seconds: number) => void) | undefined
}

/** Gives a turn back, and says how the request ended; without that, none was sent. */
export type EndTurn = (ended?: Pick<Ended, 'how' | 'sort'>) => void

interface Waiter {
  readonly priority: Priority
  /** Whose calls can be refused alone, if anybody's. */
  readonly of: object | undefined
  readonly since: number
  readonly grant: () => void
  readonly refuse: (reason: Error) => void
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/**
 * The requests that one caller of the API may make, a key at an address, shared by all workers of all accounts that
 * have it (`SharedBudgets`): paced under the API's limit, a few at a time, the most urgent priority first and in order
 * within a priority. A 429 pauses all of them.
 *
 * How the API counts is not documented (`management-api.md § Limits`), so the pace holds for every window of a minute,
 * wherever it begins: see `RequestPace`.
 */
export class RateBudget {
  readonly #options: RateBudgetOptions
  readonly #places: AdaptiveLimit
  readonly #pace: RequestPace
  #limits: RateLimits
  #limit: LearnedLimit
  readonly #waiters: Record<Priority, Waiter[]> = { edit: [], create: [], poll: [], drift: [] }
  /** Nothing is sent until then: monotonic, in milliseconds. */
  #pausedUntil = Number.NEGATIVE_INFINITY
  #inFlight = 0
  #refusalsInARow = 0
  /** When the API last refused a request after not having refused any. */
  #refusedAt = Number.NEGATIVE_INFINITY
  /** Requests refused since then, including that one: they were answered but not admitted. */
  #refused = 0
  #cancelWake: (() => void) | undefined

  constructor(options: RateBudgetOptions) {
    this.#options = options
    this.#places = new AdaptiveLimit(options.maxInFlight ?? 64)
    this.#pace = new RequestPace(options.burst)
    this.#limits = options
    this.#limit = new LearnedLimit(options.requestsPerMinute)
  }

  /**
   * Keeps to other limits from now on. Requests of the last minute still count, and a pause that the API asked for
   * stays; what was learned under the former limit is forgotten.
   */
  limitTo({ requestsPerMinute, burst }: RateLimits): void {
    if (requestsPerMinute === this.#limits.requestsPerMinute && burst === this.#limits.burst) return
    this.#limits = { requestsPerMinute, burst }
    this.#limit = new LearnedLimit(requestsPerMinute)
    this.#pace.restart(burst)
    this.#serve()
  }

  /**
   * Ends the wait of all calls that wait for a turn: `acquire` rejects with `reason`.
   *
   * @param of only those that were made with this `of`
   */
  refuseWaiting(reason: Error, of?: object): void {
    for (const priority of PRIORITIES) {
      const all = this.#waiters[priority]
      this.#waiters[priority] = of === undefined ? [] : all.filter((waiter) => waiter.of !== of)
      for (const { of: owner, refuse } of all) if (of === undefined || owner === of) refuse(reason)
    }
    this.#serve()
  }

  /** How much longer nothing is sent because of a 429, in milliseconds; 0 when the account is not paused. */
  get heldForMs(): number {
    return Math.max(0, this.#pausedUntil - this.#options.clock.monotonic())
  }

  /**
   * Waits for a turn. The returned function gives the turn back and must be called once, when the request has ended: a
   * request counts against the window until a minute after that, since the API may have counted it that late. Rejects
   * with the signal's reason when it is aborted first.
   *
   * @param of for `refuseWaiting`
   */
  acquire(priority: Priority, signal?: AbortSignal, of?: object): Promise<EndTurn> {
    return abortable(signal, (resolve, refuse) => {
      const since = this.#options.clock.monotonic()
      const waiter: Waiter = { priority, of, since, grant: () => resolve(this.#begin()), refuse }
      this.#waiters[priority].push(waiter)
      this.#serve()
      return () => {
        this.#waiters[priority] = this.#waiters[priority].filter((other) => other !== waiter)
        this.#serve()
      }
    })
  }

  /**
   * The API answered 429: nothing is sent for `retryAfterMs` (at most ten minutes), or, if it did not say, for a pause
   * that doubles from one second to a minute while 429s continue. Call it before the request's turn is given back.
   */
  hold(retryAfterMs?: number): void {
    const now = this.#options.clock.monotonic()
    // Requests sent together are refused together: those after the first add no information.
    const sameEvent = now < this.#pausedUntil
    if (!sameEvent) {
      if (now - this.#pausedUntil > LONGEST_PAUSE_MS) this.#refusalsInARow = 0
      this.#refusalsInARow++
    }
    const pauseMs = Math.min(retryAfterMs || this.#ownPauseMs(), MAX_RETRY_AFTER_MS)
    if (!sameEvent) this.#learn(now, pauseMs)
    this.#refused++
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs)
    const limit = this.#limit.at(now)
    if (limit !== undefined) this.#pace.restUntil(this.#pausedUntil, limit)
    this.#serve()
  }

  /** Expected wait of a call made now at the lowest priority, in milliseconds. 0 when it could be sent at once. */
  estimatedWaitMs(): number {
    const now = this.#options.clock.monotonic()
    const limit = this.#limit.at(now)
    const ahead = PRIORITIES.reduce((sum, priority) => sum + this.#waiters[priority].length, 0)
    const queued = limit === undefined ? 0 : (ahead * WINDOW_MS) / limit
    const next = this.#waitMs(now)
    // A window full of requests in flight opens as soon as one is answered: not predictable, but soon.
    return queued + (Number.isFinite(next) ? Math.max(0, next) : 0)
  }

  /** Whether somebody waits for a request in flight to end. */
  get #isFull(): boolean {
    return this.#inFlight >= this.#places.value && PRIORITIES.some((priority) => this.#waiters[priority].length > 0)
  }

  #learn(now: number, pauseMs: number): void {
    const ms = now - this.#refusedAt
    const sinceLast = { ms, admitted: this.#pace.answeredSince(this.#refusedAt) - this.#refused }
    this.#limit.refused({ now, pauseMs, recent: this.#pace.recent(now), sinceLast })
    this.#refusedAt = now
    this.#refused = 0
  }

  #ownPauseMs(): number {
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** (this.#refusalsInARow - 1), LONGEST_PAUSE_MS)
    return Math.max(FIRST_PAUSE_MS, jitter(this.#options.random, pause, 0.25))
  }

  #begin(): EndTurn {
    const { clock } = this.#options
    const beganAt = clock.monotonic()
    this.#inFlight++
    let given = true
    return (ended) => {
      if (!given) return
      given = false
      const endedAt = clock.monotonic()
      if (ended !== undefined) this.#places.ended({ ...ended, beganAt, endedAt, isWanted: this.#isFull })
      this.#inFlight--
      this.#pace.finished(endedAt)
      this.#serve()
    }
  }

  /** Grants all turns that may begin now, and sets the timer for the next one. */
  #serve(): void {
    this.#cancelWake?.()
    this.#cancelWake = undefined
    for (;;) {
      const priority = PRIORITIES.find((candidate) => this.#waiters[candidate].length > 0)
      if (priority === undefined || this.#inFlight >= this.#places.value) return
      const now = this.#options.clock.monotonic()
      const wait = this.#waitMs(now)
      // A window full of requests in flight opens when one of them ends, which calls this again.
      if (wait === Number.POSITIVE_INFINITY) return
      if (wait > 0) {
        // Whole milliseconds: a fraction too small to advance the clock would wake us forever.
        this.#cancelWake = this.#options.clock.setTimer(Math.ceil(wait), () => this.#serve())
        return
      }
      this.#grant(priority, now)
    }
  }

  #waitMs(now: number): number {
    const limit = this.#limit.at(now)
    const pace = limit === undefined ? 0 : this.#pace.waitMs(now, limit, this.#inFlight)
    return Math.max(this.#pausedUntil - now, pace)
  }

  #grant(priority: Priority, now: number): void {
    const waiter = this.#waiters[priority].shift()
    if (waiter === undefined) return
    const limit = this.#limit.at(now)
    if (limit !== undefined) this.#pace.started(now, limit)
    waiter.grant()
    this.#options.onWait?.(priority, (now - waiter.since) / 1000)
  }
}
