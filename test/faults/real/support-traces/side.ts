import type { CustomResource } from '../../../../src/managed/cr.ts'
import type { Manifest } from '../../../kinds/kind-test-data.ts'
import type { EpisodeWorld } from '../../simulation/episodes.ts'

/** A request of the operator and its answer. */
export interface Call {
  readonly server: 'kubernetes' | 'api'
  readonly method: string
  readonly path: string
  readonly query: string
  /** As sent; undefined if it has none. */
  readonly body: unknown
  readonly status: number | null
  /** The answer to a write of an object; undefined if it is not compared. */
  readonly answer?: unknown
}

/** One of the two pairs of servers that a turn is played on. */
export interface Side extends EpisodeWorld {
  /** Words that differ between the sides, with their common form. */
  readonly words: readonly (readonly [own: string, common: string])[]
  /** Waits until the resources match. @throws Error if they do not */
  until(what: string, subjects: readonly Manifest[], met: (crs: readonly CustomResource[]) => boolean): Promise<void>
  /** Requests a resync of the account. */
  look(value: string): Promise<void>
  /** Waits until the account's lists are trusted for everything created so far. */
  outliveReadLag(): Promise<void>
  /** Forgets the calls so far. */
  mark(): void
  /** Calls since `mark`, in the order in which each server received them. */
  calls(): readonly Call[]
  /** Waits until there are that many calls, or no more arrive. */
  callsAtLeast(count: number): Promise<void>
  /** Deletes what resources left to the garbage collector, whose timing is its own. */
  tidy(): Promise<void>
  /** The id of every object created at the API so far, and the body it was created from. */
  made(): readonly { readonly id: string; readonly body: unknown }[]
}

/**
 * Requests that are not compared. Watches: their effect shows later. Leases and Events: their timing is their own.
 * Reads of the account's key: the account is reconciled once more if a watch reports its own write before the answer
 * does. DNSEndpoints: the suite's cluster has no such type.
 */
export function isApart(path: string, query: string): boolean {
  return new URLSearchParams(query).has('watch') || /\/(leases|events|dnsendpoints)(\/|$)|\/secrets\/key$/.test(path)
}

/** The part of a Kubernetes answer that is compared: the object after a write. */
export function answerOf(method: string, body: string): unknown {
  return method === 'GET' || method === 'DELETE' ? undefined : parsed(body)
}

export function parsed(body: string): unknown {
  return body === '' ? undefined : JSON.parse(body)
}
