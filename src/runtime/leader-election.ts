import { KubeError } from '../kube/kube-error.ts'
import type { KubeClient } from '../kube/types.ts'
import { type Clock, sleep } from '../util/clock.ts'
import type { Logger } from '../util/logger.ts'
import { jitter, type Random } from '../util/random.ts'
import { LeaseLock, watchLease } from './lease-lock.ts'

export interface LeaderElectionOptions {
  /**
   * A client without a leadership hook. Its timeouts should be a few seconds, so that several renewals are tried
   * before the renew deadline.
   */
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch' | 'watch'>
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Namespace and name of the Lease. */
  readonly namespace: string
  readonly name: string
  /** Name of this process for people, for example the pod's; random digits make it unique. */
  readonly identity: string
  /** How long others wait, in milliseconds, before they take over from a leader that does not renew. Default 15 000. */
  readonly leaseDurationMs?: number
  /**
   * How long this process considers itself the leader, in milliseconds, after the start of its last successful renewal.
   * Default 10 000. Requests sent before then must end within the rest of the lease duration.
   */
  readonly renewDeadlineMs?: number
  /**
   * Time between two attempts to acquire or renew the lease, in milliseconds. Default 2 000. A released lease is tried
   * at once if it can be watched.
   */
  readonly retryPeriodMs?: number
  /**
   * Leadership has begun. `claimedAt`, on the monotonic clock, is when the Lease was requested: no one else has written
   * anything since, and anything read from then on is as the previous leader left it.
   */
  readonly onStartedLeading: (claimedAt: number) => void
  /** Leadership has ended. When it ends on purpose, the lease is released after this has resolved. */
  readonly onStoppedLeading: () => void | Promise<void>
}

interface Term {
  /** Monotonic milliseconds when it began. */
  readonly since: number
  /** When the last successful renewal began, on both clocks. */
  renewed: Instant
}

interface Instant {
  readonly monotonic: number
  readonly wall: number
}

/**
 * Makes sure that at most one process leads. A leader that cannot renew stops leading before another can start, even if
 * none of its code ran meanwhile: `isLeader` compares clocks on each call.
 *
 * ```ts
 * const callbacks = { onStartedLeading, onStoppedLeading }
 * const election = new LeaderElection({ client, namespace, name: 'culvert', identity, ...callbacks, … })
 * const client = createKubeClient({ beforeWrite: () => election.assertLeader(), … })
 * const end = await election.run(signal)   // 'lost': exit, and let the next process start afresh
 * ```
 */
export class LeaderElection {
  readonly #options: LeaderElectionOptions
  readonly #renewDeadlineMs: number
  readonly #lock: LeaseLock
  readonly #attempted = Promise.withResolvers<void>()
  #term: Term | undefined

  /** @throws RangeError unless retry period < renew deadline < lease duration. */
  constructor(options: LeaderElectionOptions) {
    const { client, clock, random, namespace, name } = options
    const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2000 } = options
    if (!(retryPeriodMs > 0 && retryPeriodMs < renewDeadlineMs && renewDeadlineMs < leaseDurationMs)) {
      throw new RangeError('leader election needs: 0 < retry period < renew deadline < lease duration')
    }
    this.#options = options
    this.#renewDeadlineMs = renewDeadlineMs
    const identity = `${options.identity}_${random.hex(8)}`
    this.#lock = new LeaseLock({ client, clock, key: { namespace, name }, identity, leaseDurationMs })
  }

  /** Whether this process leads right now. */
  isLeader(): boolean {
    return this.#term !== undefined && this.#isFresh(this.#term.renewed)
  }

  /** Throws a `KubeError` `NotLeader` unless this process leads right now: called just before each write. */
  assertLeader(): void {
    if (!this.isLeader()) throw new KubeError('NotLeader', 'this process is not the leader')
  }

  /** Resolves when the first attempt at the Lease has ended, whatever its result, or `run` has. */
  get attempted(): Promise<void> {
    return this.#attempted.promise
  }

  /** Monotonic milliseconds since when this process leads; undefined when it does not. */
  get leadingSince(): number | undefined {
    return this.isLeader() ? this.#term?.since : undefined
  }

  /**
   * Waits for the lease, then leads until leadership is lost or `signal` is aborted. Leads once: after `lost` the
   * process should exit, since its work in flight belongs to a former leader.
   */
  async run(signal: AbortSignal): Promise<'lost' | 'stopped'> {
    const acquired = await this.#acquire(signal)
    if (acquired === undefined) return 'stopped'
    const { logger, onStartedLeading, clock } = this.#options
    this.#term = { since: clock.monotonic(), renewed: acquired }
    logger.info({}, 'started leading')
    try {
      onStartedLeading(this.#lock.claimedAt)
      await this.#renewUntilLost(this.#term, signal)
      return signal.aborted ? 'stopped' : 'lost'
    } finally {
      await this.#stepDown(signal)
    }
  }

  async #acquire(signal: AbortSignal): Promise<Instant | undefined> {
    let freed = new AbortController()
    const acquired = new AbortController()
    void this.#watch(() => freed.abort(), AbortSignal.any([signal, acquired.signal]))
    try {
      while (!signal.aborted) {
        // Before the attempt: a notification that arrives during it may be newer than its result.
        freed = new AbortController()
        const started = this.#now()
        const held = await this.#claim(signal)
        this.#attempted.resolve()
        // An answer that took too long cannot be used to lead.
        if (held === true && !signal.aborted && this.#isFresh(started)) return started
        await this.#pause(AbortSignal.any([signal, freed.signal]))
      }
      return undefined
    } finally {
      this.#attempted.resolve()
      acquired.abort()
    }
  }

  #watch(onFree: () => void, signal: AbortSignal): Promise<void> {
    const { client, clock, random, logger, namespace, name, retryPeriodMs = 2000 } = this.#options
    return watchLease({ client, clock, random, logger, key: { namespace, name }, retryPeriodMs, onFree }, signal)
  }

  async #renewUntilLost(term: Term, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    for (;;) {
      // A request that hangs, or repeated failures, must not keep us leading beyond the deadline.
      const deadline = new AbortController()
      const left = this.#renewDeadlineMs - (clock.monotonic() - term.renewed.monotonic)
      const cancel = clock.setTimer(left, () => deadline.abort())
      const ended = AbortSignal.any([signal, deadline.signal])
      try {
        const renewed = await this.#renew(ended)
        if (renewed === undefined) return
        term.renewed = renewed
      } finally {
        cancel()
      }
    }
  }

  /** Retries until a renewal succeeds; undefined when another process holds the lease or `ended` is aborted first. */
  async #renew(ended: AbortSignal): Promise<Instant | undefined> {
    for (;;) {
      await this.#pause(ended)
      if (ended.aborted) return undefined
      const started = this.#now()
      const held = await this.#claim(ended)
      if (ended.aborted || held === false) return undefined
      if (held === true) return started
    }
  }

  /** Undefined when the result is unknown, or `signal` was aborted first. */
  async #claim(signal: AbortSignal): Promise<boolean | undefined> {
    const aborted = Promise.withResolvers<undefined>()
    const onAbort = (): void => aborted.resolve(undefined)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await Promise.race([this.#lock.claim(), aborted.promise])
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'could not acquire or renew the lease')
      return undefined
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  async #stepDown(signal: AbortSignal): Promise<void> {
    const { logger, onStoppedLeading } = this.#options
    // On purpose: work in flight may still end under the lease. Otherwise another process may lead at any moment.
    if (!signal.aborted) this.#term = undefined
    this.#lock.abandon()
    logger.info({ onPurpose: signal.aborted }, 'stopped leading')
    try {
      await onStoppedLeading()
    } finally {
      this.#term = undefined
      if (signal.aborted) await this.#release()
    }
  }

  async #release(): Promise<void> {
    try {
      await this.#lock.release()
    } catch (error) {
      // The next leader waits for the lease to expire instead.
      this.#options.logger.warn({ err: error }, 'could not release the lease')
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { clock, random, retryPeriodMs = 2000 } = this.#options
    try {
      await sleep(clock, jitter(random, retryPeriodMs, 0.1), signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  #now(): Instant {
    const { clock } = this.#options
    return { monotonic: clock.monotonic(), wall: clock.now() }
  }

  /** The monotonic clock stops while a machine sleeps; the wall clock does not. */
  #isFresh({ monotonic, wall }: Instant): boolean {
    const now = this.#now()
    return now.monotonic - monotonic < this.#renewDeadlineMs && now.wall - wall < this.#renewDeadlineMs
  }
}
