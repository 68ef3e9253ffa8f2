import { sameContent } from './same-content.ts'
import type { CompleteList, RemoteObject } from './types.ts'

/** A difference that a list showed. */
export type Difference =
  | { readonly type: 'appeared' | 'changed'; readonly id: string; readonly object: RemoteObject }
  | { readonly type: 'vanished'; readonly id: string }

/** What is known of one object. `vanished`: a complete list did not hold it, and no GET has confirmed that yet. */
export type Known =
  | { readonly object: RemoteObject; readonly suspect?: 'changed' }
  | { readonly object?: undefined; readonly suspect: 'vanished' }

interface Entry {
  /** Undefined: absent, as a list (`vanished`) or an answer (then a tombstone) said. */
  object: RemoteObject | undefined
  suspect: 'changed' | 'vanished' | undefined
  /** When the read that this rests on began. */
  readAt: number
  /** When our last write to it was answered. */
  writtenAt: number
  /** Complete lists that have not held it since it vanished. */
  misses: number
}

const NEVER = Number.NEGATIVE_INFINITY

/** An object nobody asks for stays `vanished` for this many lists, then it is forgotten: sessions come and go by the thousand. */
const FORGET_AFTER_MISSES = 3

/**
 * What the server last said of one collection. Answers overtake each other, so each carries when its request began, and
 * is believed only where nothing newer is known: it must have begun after our last write to the object was answered,
 * and not before the read already believed. Times are of the monotonic clock.
 */
export class CollectionCache {
  readonly #entries = new Map<string, Entry>()
  #listedAt = NEVER
  #view: readonly RemoteObject[] | undefined

  /** When the last complete list began; undefined before the first. */
  get listedAt(): number | undefined {
    return this.#listedAt === NEVER ? undefined : this.#listedAt
  }

  get(id: string): Known | undefined {
    const entry = this.#entries.get(id)
    if (entry === undefined) return undefined
    if (entry.object === undefined) return entry.suspect === 'vanished' ? { suspect: 'vanished' } : undefined
    return entry.suspect === 'changed' ? { object: entry.object, suspect: 'changed' } : { object: entry.object }
  }

  /** Every object present. The same array until something changes. */
  all(): readonly RemoteObject[] {
    this.#view ??= [...this.#entries.values()].flatMap((entry) => (entry.object === undefined ? [] : [entry.object]))
    return this.#view
  }

  /** The answer to a write of ours: the object, or undefined when it is deleted. */
  wrote(id: string, object: RemoteObject | undefined, answeredAt: number): void {
    this.#entries.set(id, { object, suspect: undefined, readAt: NEVER, writtenAt: answeredAt, misses: 0 })
    this.#view = undefined
  }

  /** A write without a usable answer: only a GET can tell what it did, and reads that began before its end prove nothing. */
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

  /** An update was refused because the object does not exist. */
  missed(id: string, answeredAt: number): void {
    this.#entries.set(id, { object: undefined, suspect: 'vanished', readAt: NEVER, writtenAt: answeredAt, misses: 0 })
    this.#view = undefined
  }

  /** The answer to a GET that began at `beganAt`; undefined for a 404. False when something newer is known: ask again. */
  fetched(id: string, object: RemoteObject | undefined, beganAt: number): boolean {
    const entry = this.#entries.get(id)
    const overtaken = entry === undefined ? beganAt < this.#listedAt : !isNews(entry, beganAt)
    if (overtaken) return false
    const kept = entry?.object !== undefined && sameContent(entry.object, object) ? entry.object : object
    const writtenAt = entry?.writtenAt ?? NEVER
    this.#entries.set(id, { object: kept, suspect: undefined, readAt: beganAt, writtenAt, misses: 0 })
    this.#view = undefined
    return true
  }

  /** Takes a complete list in and returns what it showed to be different. One that began before the last is ignored. */
  listed(list: CompleteList): Difference[] {
    if (list.beganAt < this.#listedAt) return []
    const differences: Difference[] = []
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

  #seen(object: RemoteObject, beganAt: number): Difference | undefined {
    const { id } = object
    const entry = this.#entries.get(id)
    if (entry === undefined) {
      this.#entries.set(id, { object, suspect: undefined, readAt: beganAt, writtenAt: NEVER, misses: 0 })
      return { type: 'appeared', id, object }
    }
    if (!isNews(entry, beganAt)) return undefined
    const before = entry.object
    const back = entry.suspect === 'vanished'
    entry.readAt = beganAt
    entry.misses = 0
    if (before !== undefined && sameContent(before, object)) return undefined
    entry.object = object
    // What vanished and is back may be the same or not: what it was is no longer known, so a GET has to tell.
    entry.suspect = before !== undefined || back ? 'changed' : undefined
    return { type: before !== undefined || back ? 'changed' : 'appeared', id, object }
  }

  /** True when the list is the first to miss the object. */
  #unseen(id: string, entry: Entry, beganAt: number): boolean {
    const wasPresent = entry.object !== undefined
    entry.object = undefined
    entry.readAt = beganAt
    if (wasPresent) {
      entry.suspect = 'vanished'
      entry.misses = 1
      return true
    }
    // A tombstone has done its work: older lists are ignored from now on, older GETs are overtaken by this list.
    entry.misses++
    if (entry.suspect === undefined || entry.misses > FORGET_AFTER_MISSES) this.#entries.delete(id)
    return false
  }
}

function isNews(entry: Entry, beganAt: number): boolean {
  return beganAt > entry.writtenAt && beganAt >= entry.readAt
}
