import type { JournalEntry } from '../../../src/emulator/http/journal.ts'
import { type Marker, parseMarker } from '../../../src/managed/markers/marker.ts'

/** The mark that a create carries; undefined for one that carries none, as no create of an operator does. */
export function markIn({ body }: JournalEntry): Marker | undefined {
  const { metadata, name } = (body ?? {}) as { readonly metadata?: unknown; readonly name?: unknown }
  return parseMarker(metadata) ?? parseMarker(name)
}

/**
 * Creates by the resource and the logical create that they were sent for. Each sort of rule in a policy is a create of
 * its own.
 */
export function byCreate(posts: readonly JournalEntry[]): ReadonlyMap<string, readonly JournalEntry[]> {
  return Map.groupBy(posts, (entry) => {
    const mark = markIn(entry)
    return mark === undefined ? `unmarked ${entry.path}` : `${mark.uid} ${mark.nonce} ${entry.path}`
  })
}
