import type { Interception, KubeProxy, PassingRequest, ProxyAct } from '../../builders/kube-proxy.ts'
import type { Seen } from './priorities.ts'

/**
 * A point in the requests of a CR or Account. Requests are identified by what they ask, by the preceding write, and by
 * how often that was asked since. After the answer of a request has arrived, the world stays the same until the next
 * one: only memory has changed.
 */
export interface Stop {
  readonly request: string
  /** What is asked, regardless of the stage. */
  readonly sort: string
  /**
   * Before the request is forwarded; once it was answered and the answer is in flight; or once the answer has arrived,
   * at the next request.
   */
  readonly when: 'before' | 'after' | 'answered'
  readonly isWrite: boolean
}

/** Identifies whose request passes through a proxy; undefined lets it pass. */
export type Find = (request: PassingRequest) => Seen | undefined

interface Track {
  last: string
  readonly counts: Map<string, number>
  /** Each sort of request once, in order. */
  readonly passed: Map<string, Seen>
}

interface Armed {
  readonly stop: Stop
  readonly rules: readonly Interception[]
  met: PassingRequest | undefined
}

/**
 * Records requests through proxies, by the CR or Account they are for, and stops them where a test wants: from the stop
 * on, all its further requests are held too.
 */
export class Stops {
  readonly #proxies: readonly KubeProxy[]
  readonly #found = new WeakMap<PassingRequest, { readonly priority: string; readonly request: string }>()
  readonly #tracks = new Map<string, Track>()
  readonly #armed = new Map<string, Armed>()

  /** @param proxies each with the function that identifies its requests. */
  constructor(proxies: readonly (readonly [KubeProxy, Find])[]) {
    this.#proxies = proxies.map(([proxy]) => proxy)
    for (const [proxy, find] of proxies) {
      proxy.intercept((request) => {
        const seen = find(request)
        if (seen !== undefined) this.#found.set(request, { priority: seen.priority, request: this.#note(seen) })
        return undefined
      })
    }
  }

  /** Another process begins. */
  begin(): void {
    this.#tracks.clear()
  }

  /** Discards the recorded requests, except each position. */
  mark(): void {
    for (const { passed } of this.#tracks.values()) passed.clear()
  }

  /**
   * The points passed since `begin` or `mark`: before and after each write, and before a read, which changes nothing.
   */
  passed(priority: string): readonly Stop[] {
    return [...(this.#tracks.get(priority)?.passed ?? [])].flatMap(([request, { sort, isWrite }]) => {
      const before = { request, sort, when: 'before', isWrite } as const
      return isWrite ? [before, { ...before, when: 'after' }] : [before]
    })
  }

  /** Stops it there, from now on. */
  arm(priority: string, stop: Stop): void {
    this.release(priority)
    const armed: { -readonly [Name in keyof Armed]: Armed[Name] } = { stop, rules: [], met: undefined }
    armed.rules = this.#proxies.map((proxy) => proxy.intercept((request) => this.#decide(priority, armed, request)))
    this.#armed.set(priority, armed)
  }

  /**
   * Whether it is at its stop, or at its next request after an answer; with `stuck`, whether it has given that up and
   * asks for something else.
   */
  reached(priority: string, stuck = false): boolean {
    const armed = this.#armed.get(priority)
    if (armed?.met === undefined) return false
    const held = armed.rules.flatMap(({ requests }) => requests)
    if (armed.stop.when === 'answered') return held.length > 0
    return held.includes(armed.met) && (!stuck || held.length > 1)
  }

  /** Whether the request of the stop has arrived, even if its answer has not. */
  isMet(priority: string): boolean {
    return this.#armed.get(priority)?.met !== undefined
  }

  /**
   * Whether the request of the stop was given up before the answer to hold had arrived. The server may still have
   * carried it out: then no further request follows, and none shows that this one was given up.
   */
  isLost(priority: string): boolean {
    const armed = this.#armed.get(priority)
    if (armed?.met === undefined || armed.stop.when !== 'after') return false
    const { met } = armed
    const held = armed.rules.flatMap(({ requests }) => requests)
    if (held.includes(met)) return false
    return held.length > 0 || this.#proxies.some((proxy) => proxy.isAbandoned(met))
  }

  /** Lets it continue. */
  release(priority: string): void {
    for (const rule of this.#armed.get(priority)?.rules ?? []) rule.remove()
    this.#armed.delete(priority)
  }

  /** Lets all continue. */
  releaseAll(): void {
    for (const priority of [...this.#armed.keys()]) this.release(priority)
  }

  #decide(
    priority: string,
    armed: Armed & { met: PassingRequest | undefined },
    request: PassingRequest,
  ): ProxyAct | undefined {
    const found = this.#found.get(request)
    if (found?.priority !== priority) return undefined
    if (armed.met !== undefined) return { type: 'hold', when: 'before' }
    if (found.request !== armed.stop.request) return undefined
    armed.met = request
    const { when } = armed.stop
    return when === 'answered' ? undefined : { type: 'hold', when }
  }

  #note(seen: Seen): string {
    const { priority, sort, isWrite } = seen
    const track = this.#tracks.get(priority) ?? { last: 'the start', counts: new Map(), passed: new Map() }
    this.#tracks.set(priority, track)
    const place = `${sort} | after ${track.last}`
    const count = (track.counts.get(place) ?? 0) + 1
    track.counts.set(place, count)
    const request = count === 1 ? place : `${place} #${count}`
    if (count === 1) track.passed.set(request, seen)
    if (isWrite) {
      track.last = sort
      track.counts.clear()
    }
    return request
  }
}
