import type { CustomResource } from '../../../../src/managed/cr.ts'
import type { Manifest } from '../../../builders/specs.ts'
import type { EpisodeWorld } from '../../simulation/episodes.ts'

/** A request of the operator, with what it was answered. */
export interface Call {
  readonly server: 'kubernetes' | 'api'
  readonly method: string
  readonly path: string
  readonly query: string
  /** As it was sent; undefined without one. */
  readonly body: unknown
  readonly status: number | null
  /** What came back of an object that was written; undefined where nobody looks. */
  readonly answer?: unknown
}

/** One of the two pairs of servers that a turn is played on. */
export interface Side extends EpisodeWorld {
  /** Words of this side that have another form on the other one, with what stands for both. */
  readonly words: readonly (readonly [own: string, common: string])[]
  /** Waits until the resources are so. @throws Error when they do not come to be so. */
  until(what: string, subjects: readonly Manifest[], met: (crs: readonly CustomResource[]) => boolean): Promise<void>
  /** Makes the account look at everything. */
  look(value: string): Promise<void>
  /** Waits until the account's lists are believed of all that was made. */
  outliveReadLag(): Promise<void>
  /** Forgets the calls so far. */
  mark(): void
  /** Calls since `mark`, in the order in which each server got them. */
  calls(): readonly Call[]
  /** Waits until there are so many calls, or none comes any more. */
  callsAtLeast(count: number): Promise<void>
  /** Takes away what resources that are gone have left to the garbage collector, which has a time of its own. */
  tidy(): Promise<void>
  /** Of every object made at the API so far, its id and the body that it was made of. */
  made(): readonly { readonly id: string; readonly body: unknown }[]
}

/**
 * What is compared nowhere. Watches: what they tell shows in what follows. Leases and Events: they go their own way in their own time.
 * Reads of the account's key: the account is looked at once more when a watch tells of its own write before the answer does. DNSEndpoints: the
 * suite's cluster has no such type.
 */
export function isApart(path: string, query: string): boolean {
  return new URLSearchParams(query).has('watch') || /\/(leases|events|dnsendpoints)(\/|$)|\/secrets\/key$/.test(path)
}

/** What is compared of an answer of Kubernetes: the object that a write has come to. */
export function answerOf(method: string, body: string): unknown {
  return method === 'GET' || method === 'DELETE' ? undefined : parsed(body)
}

export function parsed(body: string): unknown {
  return body === '' ? undefined : JSON.parse(body)
}
