import type { Interception, KubeProxy, PassingRequest, ProxyAct } from '../../../builders/kube-proxy.ts'
import type { Find } from '../../../cluster/support/stops.ts'

/** A write to Kubernetes or to the API, identified so that it can be recognized in another life of the same sort. */
export interface Write {
  readonly stage: string
  /** The request: method, object, and the names of the fields written. */
  readonly sort: string
  /** How often it occurred in the stage, this time included. */
  readonly nth: number
}

/** A fault of a write. */
export interface Fault {
  /** How many writes of the resource meet it, including the first. */
  readonly times: number
  act(request: PassingRequest): ProxyAct
}

interface Armed {
  readonly write: Write
  readonly fault: Fault
  readonly requests: PassingRequest[]
}

interface Track {
  stage: string
  counts: Map<string, number>
  readonly passed: Write[]
  armed: Armed | undefined
}

/** Records the writes that operators send through proxies for followed resources, and applies faults to them. */
export class Writes {
  readonly #rules = new Map<KubeProxy, { readonly find: Find; rule: Interception }>()
  readonly #tracks = new Map<string, Track>()
  #count = 0

  /** Records the requests of this proxy from now on. */
  follow(proxy: KubeProxy, find: Find): void {
    this.#rules.set(proxy, { find, rule: proxy.intercept((request) => this.#decide(find(request), request)) })
  }

  /** Number of recorded writes of all followed resources. */
  get count(): number {
    return this.#count
  }

  /** The resource of this name enters a stage of its life. With `hurt`, that write of the stage meets the fault. */
  enter(name: string, stage: string, hurt?: { readonly write: Write; readonly fault: Fault }): void {
    const track = this.#tracks.get(name) ?? { stage, counts: new Map(), passed: [], armed: undefined }
    track.stage = stage
    track.counts = new Map()
    track.armed = hurt === undefined ? undefined : { ...hurt, requests: [] }
    this.#tracks.set(name, track)
  }

  /** The resource's writes, in order. */
  passed(name: string): readonly Write[] {
    return this.#tracks.get(name)?.passed ?? []
  }

  /** The writes that met the fault of the resource's stage. */
  hits(name: string): readonly PassingRequest[] {
    return this.#tracks.get(name)?.armed?.requests ?? []
  }

  /** The resource's held write, while its sender still waits for it. */
  held(name: string): PassingRequest | undefined {
    const waiting = new Set([...this.#rules.values()].flatMap(({ rule }) => rule.waiting))
    return this.hits(name).find((request) => waiting.has(request))
  }

  /** Releases held writes. */
  release(): void {
    for (const [proxy, { find, rule }] of [...this.#rules]) {
      rule.remove()
      this.follow(proxy, find)
    }
  }

  #decide(seen: ReturnType<Find>, request: PassingRequest): ProxyAct | undefined {
    const track = seen?.isWrite ? this.#tracks.get(seen.priority) : undefined
    if (seen === undefined || track === undefined) return undefined
    this.#count++
    const { stage, counts, passed, armed } = track
    const nth = (counts.get(seen.sort) ?? 0) + 1
    counts.set(seen.sort, nth)
    passed.push({ stage, sort: seen.sort, nth })
    if (armed === undefined || armed.requests.length >= armed.fault.times) return undefined
    const { write, fault, requests } = armed
    if (requests.length === 0 && (write.sort !== seen.sort || write.nth !== nth)) return undefined
    requests.push(request)
    return fault.act(request)
  }
}

export function textOf({ stage, sort, nth }: Write): string {
  return `${stage} / ${sort} #${nth}`
}

/** The writes of a stage made by more than one of the lives that went through it undisturbed, in order. */
export function sharedWrites(lives: readonly (readonly Write[])[], stage: string): readonly Write[] {
  const counts = new Map<string, { readonly write: Write; count: number }>()
  for (const write of lives.flat()) {
    if (write.stage !== stage) continue
    const known = counts.get(textOf(write)) ?? { write, count: 0 }
    counts.set(textOf(write), { write, count: known.count + 1 })
  }
  return [...counts.values()].filter(({ count }) => count > 1).map(({ write }) => write)
}
