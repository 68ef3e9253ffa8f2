import type { KubeObject } from '../../../src/kube/types.ts'
import { leases } from '../../../src/runtime/lease-lock.ts'
import { until } from '../support/wait.ts'
import type { World } from '../support/world.ts'

/** What a Lease said, and when it was heard. */
export interface LeaseState {
  /** By the machine's clock, in milliseconds since the epoch. */
  readonly heardAt: number
  /** Empty: nobody's. */
  readonly holder: string
  readonly acquired: number
  readonly renewed: number
  /** How often it changed hands. */
  readonly transitions: number
}

interface Lease extends KubeObject {
  readonly spec: {
    readonly holderIdentity?: string
    readonly acquireTime?: string
    readonly renewTime?: string
    readonly leaseTransitions?: number
  }
}

/** Writes down every state of a world's Lease, from when it was opened. */
export class LeaseLog implements AsyncDisposable {
  readonly states: LeaseState[] = []
  readonly #ended = new AbortController()
  readonly #watching: Promise<void>

  private constructor(world: World, first: Lease) {
    this.#take(first)
    this.#watching = this.#watch(world, first.metadata.resourceVersion)
  }

  /** @param name of the operators' Lease; it must exist. */
  static async open(world: World, name = 'culvert'): Promise<LeaseLog> {
    const lease = await readLease(world, name)
    if (lease === undefined) throw new Error(`there is no Lease ${name}`)
    return new LeaseLog(world, lease)
  }

  get last(): LeaseState {
    return this.states.at(-1) as LeaseState
  }

  /** The first state after `since` that meets it; waits for one. */
  async next(what: string, since: LeaseState, met: (state: LeaseState) => boolean): Promise<LeaseState> {
    const later = () => this.states.slice(this.states.indexOf(since) + 1).find(met)
    return until(`the Lease ${what}`, later, { timeoutMs: 90_000, describe: () => this.states.slice(-5) })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort()
    await this.#watching
  }

  async #watch(world: World, resourceVersion: string): Promise<void> {
    const frames = world.kube.watch<Lease>(leases, {
      namespace: world.operatorNamespace,
      resourceVersion,
      timeoutSeconds: 3600,
      signal: this.#ended.signal,
    })
    for await (const frame of frames) {
      if (frame.type !== 'bookmark' && frame.type !== 'deleted') this.#take(frame.object)
    }
  }

  #take({ spec }: Lease): void {
    const { holderIdentity = '', acquireTime = '', renewTime = '', leaseTransitions = 0 } = spec
    this.states.push({
      heardAt: Date.now(),
      holder: holderIdentity,
      acquired: Date.parse(acquireTime),
      renewed: Date.parse(renewTime),
      transitions: leaseTransitions,
    })
  }
}

export function readLease({ kube, operatorNamespace: namespace }: World, name = 'culvert'): Promise<Lease | undefined> {
  return kube.get<Lease>(leases, { namespace, name })
}
