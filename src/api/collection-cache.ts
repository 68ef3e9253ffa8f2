import { ObjectIndex, type ObjectKeys } from './object-index.ts'
import { sameContent } from './same-content.ts'
import type { CompleteList, RemoteObject } from './types.ts'

/** A difference that a list showed. */
export type CacheDifference =
  | { readonly type: 'appeared' | 'changed'; readonly id: string; readonly object: RemoteObject }
  | { readonly type: 'vanished'; readonly id: string }

/**
 * What is known of one object.
 *
 * - `changed`: a list showed it changed, or the answer to a write was lost.
 * - `missed`: a request for it was answered 404.
 * - `vanished`: the last complete list did not hold it.
 */
export type Known =
  | { readonly object: RemoteObject; readonly suspect?: 'changed' | 'missed' }
  | { readonly object?: undefined; readonly suspect: 'vanished' }

interface Entry {
  /**
   * Undefined when the object is absent, according to a list (`vanished`) or the answer to our DELETE (then a
   * tombstone).
   */
  object: RemoteObject | undefined
  suspect: 'changed' | 'missed' | 'vanished' | undefined
  /** When the read that this entry is based on began. */
  readAt: number
  /** When our last write to it was answered. */
  writtenAt: number
  /** When the complete lists began, in an unbroken row since the last 404 for it, that did not hold it. */
  misses: readonly number[]
  /** When the first list began that did not hold it since `missesOf` was last asked about it. */
  unaskedSince: number | undefined
  /** Whether the answer to a request for a single object was about it. */
  answered: boolean
}

const NEVER = Number.NEGATIVE_INFINITY

/**
 * An object that no one asks for stays `vanished` for this long and is then forgotten, since sessions come and go by
 * the thousand. It is a time, not a number of lists: any number of lists for other readers may run between two
 * questions.
 */
const FORGET_AFTER_MS = 3_600_000
/**
 * How many of the objects we deleted are remembered. Where entries come and go, V8 gives a `Map` twice the room that it
 * needs, in powers of two: from 8,193 on this one would take 0.9 MiB instead of 0.45.
 */
const MOST_DELETED = 8000
/** Of a longer row, every second miss is kept: what counts is how far apart they are. */
const MOST_MISSES = 16

const UNKNOWN: Entry = {
  object: undefined,
  suspect: undefined,
  readAt: NEVER,
  writtenAt: NEVER,
  misses: [],
  unaskedSince: undefined,
  answered: false,
}

/**
 * What the server last said of one collection. Answers overtake each other, so each carries the time its request began,
 * and counts only if nothing newer is known: it must have begun after our last write to the object was answered, and
 * not before the read that the entry is based on. Times are of the monotonic clock.
 */
export class CollectionCache {
  readonly #entries = new Map<string, Entry>()
  /** Ids of objects that we have deleted, and when that was answered; the latest last. */
  readonly #deleted = new Map<string, number>()
  readonly #index: ObjectIndex
  #listedAt = NEVER
  #view: readonly RemoteObject[] | undefined

  /**
   * @param keysOf keys by which `find` finds objects
   * @param onLost called with each key that an object had and has no longer
   */
  constructor(keysOf: ObjectKeys = () => [], onLost: (key: string) => void = () => undefined) {
    this.#index = new ObjectIndex(keysOf, onLost)
  }

  /** When the last complete list began; undefined before the first. */
  get listedAt(): number | undefined {
    return this.#listedAt === NEVER ? undefined : this.#listedAt
  }

  get(id: string): Known | undefined {
    const entry = this.#entries.get(id)
    if (entry === undefined) return undefined
    const { object, suspect } = entry
    if (object === undefined) return suspect === 'vanished' ? { suspect } : undefined
    return suspect === 'changed' || suspect === 'missed' ? { object, suspect } : { object }
  }

  /** The objects present that have the key, in no particular order. */
  find(key: string): readonly RemoteObject[] {
    return this.#index.idsOf(key).flatMap((id) => this.#entries.get(id)?.object ?? [])
  }

  /** Every object present. The same array until something changes. */
  all(): readonly RemoteObject[] {
    this.#view ??= [...this.#entries.values()].flatMap((entry) => (entry.object === undefined ? [] : [entry.object]))
    return this.#view
  }

  /** Records the answer to a write of ours: the object, or undefined when it is deleted. */
  wrote(id: string, object: RemoteObject | undefined, answeredAt: number): void {
    this.#index.replace(this.#entries.get(id)?.object, object)
    this.#entries.set(id, { ...UNKNOWN, object, writtenAt: answeredAt, answered: object !== undefined })
    this.#view = undefined
    if (object === undefined) this.#recordDeleted(id, answeredAt)
  }

  /** Whether the answer to a POST, PATCH or GET was about this object, which has not been deleted by us since. */
  isAnswered(id: string): boolean {
    return this.#entries.get(id)?.answered === true
  }

  /** Whether we have deleted the object with a DELETE that succeeded, and since `time`. Default: at any time. */
  isDeleted(id: string, time: number = NEVER): boolean {
    return (this.#deleted.get(id) ?? NEVER) > time
  }

  /**
   * Records a write without a usable answer: only a GET can show what it did, and reads that began before it ended
   * prove nothing.
   */
  wroteUnknown(id: string, endedAt: number): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    entry.writtenAt = endedAt
    if (entry.object !== undefined) entry.suspect = 'changed'
  }

  /** Whether a write of ours to the object was answered after `time`. */
  wroteSince(id: string, time: number): boolean {
    return (this.#entries.get(id)?.writtenAt ?? NEVER) > time
  }

  /** Records a 404 for the object: a suspicion, which complete lists that begin from now on settle. */
  missed(id: string, answeredAt: number): void {
    const entry = this.#entries.get(id)
    // A suspicion that already exists keeps its start: if each 404 restarted it, it would never be settled.
    if (entry?.object === undefined || entry.suspect === 'missed') return
    entry.suspect = 'missed'
    entry.readAt = answeredAt
  }

  /**
   * When the complete lists began, in an unbroken row up to the last one, that did not hold the object although it was
   * expected. An object that nothing is known of is expected from now on.
   */
  missesOf(id: string): readonly number[] {
    const entry = this.#entries.get(id)
    if (entry === undefined) this.#entries.set(id, { ...UNKNOWN, suspect: 'vanished' })
    else entry.unaskedSince = undefined
    return entry?.misses ?? []
  }

  /**
   * Records the answer to a GET that began at `beganAt`; undefined for a 404. False when something newer is known: ask
   * again.
   */
  fetched(id: string, object: RemoteObject | undefined, beganAt: number, answeredAt: number): boolean {
    const entry = this.#entries.get(id)
    if (entry !== undefined && object !== undefined) entry.answered = true
    const overtaken = entry === undefined ? beganAt < this.#listedAt : !isNews(entry, beganAt)
    if (overtaken) return false
    if (object === undefined) {
      this.missed(id, answeredAt)
      return true
    }
    const kept = entry?.object !== undefined && sameContent(entry.object, object) ? entry.object : object
    const writtenAt = entry?.writtenAt ?? NEVER
    this.#index.replace(entry?.object, kept)
    this.#entries.set(id, { ...UNKNOWN, object: kept, readAt: beganAt, writtenAt, answered: true })
    this.#view = undefined
    return true
  }

  /**
   * Records a complete list and returns the differences it showed. A list that began before the last one is ignored.
   */
  listed(list: CompleteList): CacheDifference[] {
    if (list.beganAt < this.#listedAt) return []
    const differences: CacheDifference[] = []
    const present = new Set<string>()
    for (const object of list.objects) {
      present.add(object.id)
      const difference = this.#seen(object, list.beganAt)
      if (difference !== undefined) differences.push(difference)
    }
    for (const [id, entry] of this.#entries) {
      if (present.has(id) || !isNews(entry, list.beganAt)) continue
      if (this.#unseen(id, entry, list.beganAt)) differences.push({ type: 'vanished', id })
    }
    this.#listedAt = list.beganAt
    this.#view = undefined
    return differences
  }

  #recordDeleted(id: string, answeredAt: number): void {
    this.#deleted.delete(id)
    this.#deleted.set(id, answeredAt)
    const [oldest] = this.#deleted.keys()
    if (this.#deleted.size > MOST_DELETED && oldest !== undefined) this.#deleted.delete(oldest)
  }

  #seen(object: RemoteObject, beganAt: number): CacheDifference | undefined {
    const { id } = object
    const entry = this.#entries.get(id)
    // An account restored to an older state has the object again.
    if (entry === undefined || isNews(entry, beganAt)) this.#deleted.delete(id)
    if (entry === undefined) {
      this.#index.replace(undefined, object)
      this.#entries.set(id, { ...UNKNOWN, object, readAt: beganAt })
      return { type: 'appeared', id, object }
    }
    if (!isNews(entry, beganAt)) return undefined
    const before = entry.object
    const back = entry.suspect === 'vanished'
    entry.readAt = beganAt
    entry.misses = []
    entry.unaskedSince = undefined
    if (entry.suspect === 'missed') entry.suspect = undefined
    if (before !== undefined && sameContent(before, object)) return undefined
    this.#index.replace(before, object)
    entry.object = object
    // An object that vanished and is back may have changed: its earlier content is no longer known, so a GET has to
    // decide.
    entry.suspect = before !== undefined || back ? 'changed' : undefined
    return { type: before !== undefined || back ? 'changed' : 'appeared', id, object }
  }

  /** True when this is the first list to miss the object. */
  #unseen(id: string, entry: Entry, beganAt: number): boolean {
    const wasPresent = entry.object !== undefined
    this.#index.replace(entry.object, undefined)
    entry.object = undefined
    entry.readAt = beganAt
    entry.misses = thinned([...entry.misses, beganAt])
    entry.unaskedSince ??= beganAt
    if (wasPresent) {
      entry.suspect = 'vanished'
      return true
    }
    // The tombstone is no longer needed: older lists are ignored from now on, and this list overtakes older GETs.
    if (entry.suspect === undefined || beganAt - entry.unaskedSince >= FORGET_AFTER_MS) this.#entries.delete(id)
    return false
  }
}

function thinned(misses: readonly number[]): readonly number[] {
  return misses.length <= MOST_MISSES ? misses : misses.filter((_, index) => index % 2 === 0)
}

function isNews(entry: Entry, beganAt: number): boolean {
  return beganAt > entry.writtenAt && beganAt >= entry.readAt
}
