import type { ClosableApiClient } from '../../api/client.ts'
import type { Collection, RemoteObject } from '../../api/types.ts'
import type { AccountResource } from '../../managed/account-resource.ts'
import type { Orphan } from '../../managed/accounts/resync.ts'
import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import { markerOf } from '../../managed/markers/marker.ts'
import type { Snapshot } from '../cluster/snapshot.ts'

/** An orphan that the operator reported, as the API and the cluster show it now. */
export type CheckedOrphan =
  | {
      readonly type: 'orphan'
      readonly orphan: Orphan
      /** Remote objects that refer to it, as `collection/id`. */
      readonly usedBy: readonly string[]
    }
  /** It is none any more. */
  | { readonly type: 'settled'; readonly orphan: Orphan; readonly why: string }

/** The orphans that the operator found at its last resync; at most the first of them, `ORPHANS_SHOWN`. */
export function reportedOrphans({ status }: AccountResource): readonly Orphan[] {
  return status?.orphans ?? []
}

/** Where to look whether an orphan still is one. */
export interface OrphanPlace {
  readonly kinds: KindsRegistry
  readonly snapshot: Snapshot
  readonly client: Pick<ClosableApiClient, 'get' | 'list'>
}

/** Checks each orphan once more, since the resync that found it, and looks for what refers to it. */
export async function checkOrphans(place: OrphanPlace, orphans: readonly Orphan[]): Promise<readonly CheckedOrphan[]> {
  const lists = new Map<string, Promise<readonly RemoteObject[]>>()
  const listOnce = (collection: Collection): Promise<readonly RemoteObject[]> => {
    const listing = lists.get(collection.path) ?? place.client.list(collection).then(({ objects }) => objects)
    lists.set(collection.path, listing)
    return listing
  }
  const checked: CheckedOrphan[] = []
  for (const orphan of orphans) checked.push(await checkOrphan(place, orphan, listOnce))
  return checked
}

async function checkOrphan(
  place: OrphanPlace,
  orphan: Orphan,
  listOnce: (collection: Collection) => Promise<readonly RemoteObject[]>,
): Promise<CheckedOrphan> {
  const state = await stateOf(place, orphan)
  if (state.type === 'settled') return { type: 'settled', orphan, why: state.why }
  return { type: 'orphan', orphan, usedBy: await usersOf(place.kinds, orphan.kind, state.object, listOnce) }
}

/** What became of an orphan that was to be deleted. */
export type Removal =
  | { readonly type: 'deleted' | 'absent' }
  /** It is none any more, and was left alone. */
  | { readonly type: 'settled'; readonly why: string }

/**
 * Deletes an orphan if it still is one: between the list that a person saw and the answer, a resource may have taken
 * the object. The snapshot must not have read anything before. @throws ApiError
 */
export async function removeOrphan(
  place: OrphanPlace & { readonly client: Pick<ClosableApiClient, 'delete'> },
  orphan: Orphan,
): Promise<Removal> {
  const state = await stateOf(place, orphan)
  return state.type === 'settled' ? state : { type: await place.client.delete(state.collection, orphan.id) }
}

type OrphanState =
  | { readonly type: 'settled'; readonly why: string }
  | { readonly type: 'orphan'; readonly collection: Collection; readonly object: RemoteObject }

/** The object is still there with the marker that the operator saw, and no resource has it. */
async function stateOf({ client, kinds, snapshot }: OrphanPlace, orphan: Orphan): Promise<OrphanState> {
  const { id, kind, namespace, name } = orphan
  const settled = (why: string): OrphanState => ({ type: 'settled', why })
  const collection = collectionOf(kinds, orphan)
  if (collection === undefined) return settled('this build does not know its collection')
  const object = await client.get(collection, id)
  if (object === undefined) return settled('it is gone')
  const marker = markerOf(object)
  const isSame = marker?.kind === kind && marker.namespace === namespace && marker.name === name
  if (marker === undefined || !isSame) return settled('it has another marker now')
  const resource = await snapshot.read({ kind, namespace: namespace || undefined, name })
  if (resource?.metadata.uid === marker.uid) return settled('its resource exists again')
  if (resource?.status?.id === id) return settled('a resource has adopted it')
  return { type: 'orphan', collection, object }
}

/** The collection of an orphan, whether it is its kind's own or that of the kind's inline children. */
function collectionOf(kinds: KindsRegistry, { kind, collection }: Orphan): Collection | undefined {
  const descriptor = kinds.managedKind(kind)
  if (descriptor === undefined) return undefined
  const { identity, children } = descriptor
  const all = [...identity.collections, ...(children === undefined ? [] : [children.collection])]
  return all.find(({ path }) => path === collection)
}

async function usersOf(
  kinds: KindsRegistry,
  kind: string,
  object: RemoteObject,
  listOnce: (collection: Collection) => Promise<readonly RemoteObject[]>,
): Promise<readonly string[]> {
  const values = kinds.managedKind(kind)?.identity.valuesOf?.(object) ?? []
  const users = kinds.referrersOf(kind).flatMap(({ collections, reference }) =>
    collections.map(async (collection) => {
      const found = (await listOnce(collection)).filter((each) => {
        const named = reference.valuesIn?.(each) ?? []
        return reference.idsIn(each).includes(object.id) || values.some((value) => named.includes(value))
      })
      return found.map(({ id }) => `${collection.path}/${id}`)
    }),
  )
  return [...new Set((await Promise.all(users)).flat())]
}
