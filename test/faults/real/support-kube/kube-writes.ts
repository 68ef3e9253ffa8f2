import type { KubeProxy, PassingRequest, ProxyAct } from '../../../builders/kube-proxy.ts'
import { LaneFinder } from '../../../cluster/support/lanes.ts'
import type { World } from '../../../cluster/support/world.ts'
import type { KubeFault } from './kube-faults.ts'

/** A write to Kubernetes as it is known again in another life of the same sort. */
export interface KubeWrite {
  readonly stage: string
  /** What is asked: method, object, and the names of what is written. */
  readonly sort: string
  /** How often that has been asked in the stage, this time included. */
  readonly nth: number
}

interface Armed {
  readonly write: KubeWrite
  readonly fault: KubeFault
  hits: number
}

interface Track {
  stage: string
  counts: Map<string, number>
  readonly passed: KubeWrite[]
  armed: Armed | undefined
}

/** Writes down what an operator writes to Kubernetes for resources that somebody follows, and hurts what it is told to. */
export class KubeWrites {
  readonly #finder: LaneFinder
  readonly #tracks = new Map<string, Track>()
  #count = 0

  constructor(world: World, proxy: KubeProxy) {
    this.#finder = new LaneFinder(world)
    proxy.intercept((request) => this.#decide(request))
  }

  /** Of all that is followed. */
  get count(): number {
    return this.#count
  }

  /** The resource of this name comes to a stage of its life. With `hurt`, that write of the stage is to meet the fault. */
  enter(name: string, stage: string, hurt?: { readonly write: KubeWrite; readonly fault: KubeFault }): void {
    const track = this.#tracks.get(name) ?? { stage, counts: new Map(), passed: [], armed: undefined }
    track.stage = stage
    track.counts = new Map()
    track.armed = hurt === undefined ? undefined : { ...hurt, hits: 0 }
    this.#tracks.set(name, track)
  }

  /** What was written for the resource, in order. */
  passed(name: string): readonly KubeWrite[] {
    return this.#tracks.get(name)?.passed ?? []
  }

  /** How many writes have met the fault of the resource's stage. */
  hits(name: string): number {
    return this.#tracks.get(name)?.armed?.hits ?? 0
  }

  #decide(request: PassingRequest): ProxyAct | undefined {
    const seen = this.#finder.atKube(request)
    const track = seen?.isWrite ? this.#tracks.get(seen.lane) : undefined
    if (seen === undefined || track === undefined) return undefined
    this.#count++
    const { stage, counts, passed, armed } = track
    const nth = (counts.get(seen.sort) ?? 0) + 1
    counts.set(seen.sort, nth)
    passed.push({ stage, sort: seen.sort, nth })
    if (armed === undefined || armed.hits >= armed.fault.times) return undefined
    const { write, fault } = armed
    if (armed.hits === 0 && (write.sort !== seen.sort || write.nth !== nth)) return undefined
    armed.hits++
    return fault.act(request)
  }
}

export function textOf({ stage, sort, nth }: KubeWrite): string {
  return `${stage} / ${sort} #${nth}`
}
