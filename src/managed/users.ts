import type { RemoteObject } from '../api/types.ts'
import { nameOf, shortName } from './cr.ts'
import type { Reconciliation } from './reconciliation.ts'
import type { ReferenceKind } from './types/descriptor.ts'

/** A user that goes away wakes its targets; objects not managed here are asked for again after this. */
export const IN_USE_MS = 30_000

/**
 * Names of what uses the object `id` of the CR at the API, managed here or not, sorted: as lists show it that began at the
 * monotonic time `since` or later.
 */
export async function usersOf(run: Reconciliation, id: string, since: number): Promise<readonly string[]> {
  const { cache } = run.session
  const target = cache.get(run.collection, id)?.object
  const users: string[] = []
  for (const { descriptor, reference } of run.context.kinds.referrersOf(run.cr.kind)) {
    for (const collection of descriptor.collections) {
      await cache.ensureListed(collection, { since })
      for (const object of cache.all(collection)) {
        if (uses(reference, object, id, target)) users.push(userName(run, object, collection.path))
      }
    }
  }
  return users.sort((left, right) => (left < right ? -1 : 1))
}

function uses(reference: ReferenceKind, user: RemoteObject, id: string, target: RemoteObject | undefined): boolean {
  if (reference.idsIn(user).includes(id)) return true
  return target !== undefined && (reference.uses?.(user, target) ?? false)
}

function userName(run: Reconciliation, object: RemoteObject, path: string): string {
  const holder = run.context.resources.holderOf(object.id)
  return holder === undefined ? `${path}/${object.id}` : shortName(nameOf(holder))
}
