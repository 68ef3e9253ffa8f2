import { KubeError } from '../kube/kube-error.ts'
import type { KubeClient, KubeObject, ObjectKey, ResourceType } from '../kube/types.ts'
import { type Clock, sleep } from '../util/clock.ts'
import type { Logger } from '../util/logger.ts'
import { jitter, type Random } from '../util/random.ts'
import { microTime } from '../util/time.ts'

export const leases: ResourceType = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
}

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

/** The parts of a coordination.k8s.io/v1 Lease that are read here. */
export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec
}

export interface LeaseLockOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch'>
  readonly clock: Clock
  readonly key: ObjectKey
  /** Unique to this process: two processes that share one would both hold the lease. */
  readonly identity: string
  readonly leaseDurationMs: number
}

/**
 * A lock in the API server that its holder must renew. Another holder's lease has expired when its record has not
 * changed for long enough on our own monotonic clock; the times in the record are ignored, since clocks differ.
 */
export class LeaseLock {
  readonly #options: LeaseLockOptions
  /** Our lease as we last wrote it; undefined when it must be read first. */
  #held: Lease | undefined
  #observed: { readonly record: string; readonly at: number } | undefined
  #abandoned: boolean = false
  #claimedAt = Number.NEGATIVE_INFINITY

  constructor(options: LeaseLockOptions) {
    this.#options = options
  }

  /**
   * Monotonic time just before the last write that acquired or renewed the lock was sent. No one else held it by then:
   * the previous holder had released it, or had been silent for long enough.
   */
  get claimedAt(): number {
    return this.#claimedAt
  }

  /**
   * Acquires or renews the lock. False when another process holds it.
   *
   * @throws KubeError when the result is unknown: the lock may or may not have been renewed.
   */
  async claim(): Promise<boolean> {
    try {
      return await this.#claim()
    } catch (error) {
      this.#held = undefined
      if (!isRace(error)) throw error
      // Someone wrote in between, perhaps we did, in a request whose answer was lost.
      return await this.#claim()
    }
  }

  /** Stops all further claims: a claim whose answer no one awaits any more must not take the lock after all. */
  abandon(): void {
    this.#abandoned = true
  }

  /** Releases the lock if it is ours, so that another process can take it at once. */
  async release(): Promise<void> {
    this.abandon()
    try {
      await this.#release()
    } catch (error) {
      if (!isRace(error)) throw error
      // A renewal that was under way has arrived in between: there is no second one.
      await this.#release()
    }
  }

  async #release(): Promise<void> {
    const { client, clock, key, identity } = this.#options
    const lease = await client.get<Lease>(leases, key)
    if (lease?.spec?.holderIdentity !== identity) return
    await client.mergePatch(
      leases,
      key,
      { spec: { holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(clock.now()) } },
      precondition(lease),
    )
  }

  async #claim(): Promise<boolean> {
    const { client, clock, key, identity } = this.#options
    const lease = this.#held ?? (await client.get<Lease>(leases, key))
    if (this.#abandoned) return false
    if (lease === undefined) {
      this.#claimedAt = clock.monotonic()
      this.#held = await client.create<Lease>(leases, key, { spec: this.#spec(undefined) })
      return true
    }
    const ours = lease.spec?.holderIdentity === identity
    if (!ours && !this.#isFree(lease)) return false
    this.#claimedAt = clock.monotonic()
    this.#held = await client.mergePatch<Lease>(leases, key, { spec: this.#spec(lease.spec) }, precondition(lease))
    return true
  }

  #isFree(lease: Lease): boolean {
    const { holderIdentity, leaseDurationSeconds } = lease.spec ?? {}
    if (!holderIdentity) return true
    const now = this.#options.clock.monotonic()
    const record = leaseRecord(lease)
    if (this.#observed?.record !== record) this.#observed = { record, at: now }
    const heldFor = Math.max(this.#options.leaseDurationMs, (leaseDurationSeconds ?? 0) * 1000)
    return now - this.#observed.at >= heldFor
  }

  #spec(previous: LeaseSpec | undefined): LeaseSpec {
    const { clock, identity, leaseDurationMs } = this.#options
    const now = microTime(clock.now())
    const renewing = previous?.holderIdentity === identity
    const transitions = previous?.leaseTransitions ?? 0
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
      acquireTime: renewing ? (previous.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: previous === undefined || renewing ? transitions : transitions + 1,
    }
  }
}

/** What changes with each renewal, as text: as long as it stays the same, no one has renewed the lock. */
export function leaseRecord({ spec = {} }: Lease): string {
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime } = spec
  return JSON.stringify([holderIdentity, leaseDurationSeconds, acquireTime, renewTime])
}

/** The holder in the lock's record, even if it has expired; undefined when there is none. */
export async function lockHolder(client: Pick<KubeClient, 'get'>, key: ObjectKey): Promise<string | undefined> {
  return (await client.get<Lease>(leases, key))?.spec?.holderIdentity || undefined
}

function precondition(lease: Lease): { readonly resourceVersion: string; readonly uid: string } {
  return { resourceVersion: lease.metadata.resourceVersion, uid: lease.metadata.uid }
}

function isRace(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false
  return error.code === 'Conflict' || error.code === 'AlreadyExists' || error.code === 'NotFound'
}

export interface LeaseWatchOptions {
  readonly client: Pick<KubeClient, 'watch'>
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly key: ObjectKey
  /** Time between the end of one watch and the next, in milliseconds. */
  readonly retryPeriodMs: number
  /** No one holds the Lease, or it was deleted. May be called repeatedly for the same state. */
  readonly onFree: () => void
}

/** The server ends the watch after this time. */
const WATCH_SECONDS = 300
/** How much longer a connection that died silently is kept. */
const GRACE_MS = 30_000

/**
 * Notifies a standby as soon as the Lease is released, before its next poll would show it. Only a hint: if a watch
 * fails, may not be opened or stays silent, polling still works. Resolves when `signal` is aborted.
 */
export async function watchLease(options: LeaseWatchOptions, signal: AbortSignal): Promise<void> {
  const { clock, random, logger, retryPeriodMs } = options
  while (!signal.aborted) {
    try {
      await follow(options, signal)
    } catch (error) {
      logger.debug({ err: error }, 'could not watch the lease')
    }
    await sleep(clock, jitter(random, retryPeriodMs, 0.1), signal).catch(() => undefined)
  }
}

async function follow({ client, clock, key, onFree }: LeaseWatchOptions, signal: AbortSignal): Promise<void> {
  const { namespace, name } = key
  const silent = new AbortController()
  const cancel = clock.setTimer(WATCH_SECONDS * 1000 + GRACE_MS, () => silent.abort())
  try {
    const frames = client.watch<Lease>(leases, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
      // Any state will do as a start: a late notification only costs a poll.
      resourceVersion: '0',
      timeoutSeconds: WATCH_SECONDS,
      signal: AbortSignal.any([signal, silent.signal]),
    })
    for await (const frame of frames) {
      if (frame.type === 'bookmark') continue
      if (frame.type === 'deleted' || !frame.object.spec?.holderIdentity) onFree()
    }
  } finally {
    cancel()
  }
}
