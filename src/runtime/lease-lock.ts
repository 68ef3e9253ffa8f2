import { KubeError } from '../kube/errors.ts'
import type { KubeClient, KubeObject, ObjectKey, ResourceType } from '../kube/types.ts'
import type { Clock } from '../util/clock.ts'
import { microTime } from '../util/micro-time.ts'

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

/** coordination.k8s.io/v1, as far as it is read here. */
export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec
}

export interface LeaseLockOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch'>
  readonly clock: Clock
  readonly key: ObjectKey
  /** Unique to this process: two that share one would both hold the lease. */
  readonly identity: string
  readonly leaseDurationMs: number
}

/**
 * A lock in the API server that its holder must renew. Whether another's hold has expired is judged by how long its
 * record has stood unchanged on our own monotonic clock, never by the times written in it: clocks differ.
 */
export class LeaseLock {
  readonly #options: LeaseLockOptions
  /** Our lease as last written by us; undefined when it must be read first. */
  #held: Lease | undefined
  #observed: { readonly record: string; readonly at: number } | undefined
  #abandoned: boolean = false
  #claimedAt = Number.NEGATIVE_INFINITY

  constructor(options: LeaseLockOptions) {
    this.#options = options
  }

  /**
   * Monotonic time right before the last write that took or renewed the lock was sent. Nobody else held it by then: whoever did had given
   * it back, or had been silent for long enough.
   */
  get claimedAt(): number {
    return this.#claimedAt
  }

  /**
   * Takes the lock, or renews our hold. False when another holds it. Throws a `KubeError` when it could not be found
   * out; then our hold may have been renewed or not.
   */
  async claim(): Promise<boolean> {
    try {
      return await this.#claim()
    } catch (error) {
      this.#held = undefined
      if (!isRace(error)) throw error
      // Someone wrote in between, perhaps we ourselves in a request whose answer got lost.
      return await this.#claim()
    }
  }

  /** Never claims again: a claim whose answer nobody awaits any more must not take the lock after all. */
  abandon(): void {
    this.#abandoned = true
  }

  /** Gives the lock back if it is ours, so that another can take it at once. */
  async release(): Promise<void> {
    this.abandon()
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
    const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime } = lease.spec ?? {}
    if (!holderIdentity) return true
    const now = this.#options.clock.monotonic()
    const record = JSON.stringify([holderIdentity, leaseDurationSeconds, acquireTime, renewTime])
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

/** Who holds the lock by what its record says, though the hold may have expired; undefined when nobody does. */
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
