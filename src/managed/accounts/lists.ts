import { collections as knownCollections } from '../../api/collections.ts'
import type { ApiError } from '../../api/errors.ts'
import { isListRefusal, type UnlistableError } from '../../api/list-refusals.ts'
import type { Collection } from '../../api/types.ts'
import type { Holdings } from './resync.ts'
import type { LiveSession } from './session.ts'

/**
 * The lists that a check of an account makes. One that is refused closes its collection only; the account itself is in
 * trouble if every collection in use is refused.
 */

/**
 * Lists every collection in use, once: detecting drift costs pages (`management-api.md § Pagination`). An account
 * without objects lists one collection all the same, to verify address and key. A refused list closes its collection.
 * @throws ApiError of the first list that fails otherwise, and of the first refused one if all that count are refused
 */
export async function listAll(session: LiveSession, holdings: Holdings): Promise<void> {
  session.beginResync()
  const listed = await Promise.all(listedOf(holdings).map((collection) => listOne(session, collection)))
  refuseAll(listed.filter(({ collection }) => counts(holdings, collection)))
}

/**
 * Lists one collection, to find out whether an earlier failure affects the account or only a part of it. If that list
 * is refused, the others are asked in turn: a key that opens nothing, or a wrong address, is refused everywhere.
 * @throws ApiError like `listAll`
 */
export async function probe(session: LiveSession, holdings: Holdings): Promise<void> {
  session.beginResync()
  const asked: Listed[] = []
  const isClosed = (collection: Collection): boolean => session.cache.refusalOf(collection) !== undefined
  const collections = listedOf(holdings).filter((collection) => counts(holdings, collection))
  for (const collection of [...collections.filter((one) => !isClosed(one)), ...collections.filter(isClosed)]) {
    const listed = await listOne(session, collection)
    if (listed.refusal === undefined) return
    asked.push(listed)
  }
  refuseAll(asked)
}

/** Tries closed collections again. @throws ApiError of the first list that fails otherwise than before */
export async function retryClosed(session: LiveSession, collections: readonly Collection[]): Promise<void> {
  await Promise.all(collections.map((collection) => listOne(session, collection)))
}

/** Why each closed collection is that the members use or a resource waits for. */
export function closedOf({ cache, closed }: LiveSession, { used }: Holdings): readonly UnlistableError[] {
  return cache
    .refusals()
    .filter(({ collection }) => used.has(collection.path) || closed.isAwaited(collection))
    .sort((left, right) => (left.collection.path < right.collection.path ? -1 : 1))
}

interface Listed {
  readonly collection: Collection
  /** Undefined: the list is complete. */
  readonly refusal: ApiError | undefined
}

async function listOne({ cache }: LiveSession, collection: Collection): Promise<Listed> {
  try {
    await cache.refresh(collection, 'drift')
    return { collection, refusal: undefined }
  } catch (error) {
    if (!isListRefusal(error)) throw error
    return { collection, refusal: error }
  }
}

function refuseAll(listed: readonly Listed[]): void {
  const [first] = listed
  if (first?.refusal !== undefined && listed.every(({ refusal }) => refusal !== undefined)) throw first.refusal
}

function listedOf({ collections }: Holdings): readonly Collection[] {
  return collections.length === 0 ? [knownCollections.eventDestinations] : collections
}

/**
 * Whether the list shows that the key opens an account in use. Collections that nothing uses count only if all are
 * such.
 */
function counts({ used }: Holdings, { path }: Collection): boolean {
  return used.size === 0 || used.has(path)
}
