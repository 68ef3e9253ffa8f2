import { internalOf } from '../cr.ts'
import { sought } from '../identity/read-object.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import type { ResolvedReferences } from './resolve.ts'

/**
 * Ids of references that were applied before and whose objects no longer exist, of kinds whose ids an object may keep
 * (`ReferenceKind.outlives`). Only computed if the object has other ids of that kind than the spec wants: then the
 * whole list is sent, and the API would refuse such an id.
 * @throws WaitError until lists have confirmed it
 */
export async function goneReferences(
  run: Reconciliation,
  { applied }: Pick<ResolvedReferences, 'applied'>,
): Promise<ReadonlySet<string>> {
  const { cr, descriptor, session } = run
  const gone = new Set<string>()
  const { id: own } = run.status
  const object = own === undefined ? undefined : session.cache.get(run.collection, own)?.object
  if (object === undefined) return gone
  const before = internalOf(cr).references ?? []
  for (const { kind, outlives = false, idsIn } of descriptor.references.kinds) {
    if (!outlives) continue
    const wanted = applied.filter((each) => each.kind === kind).map(({ id }) => id)
    if (isSame(wanted, idsIn(object))) continue
    for (const id of wanted) {
      const wasApplied = before.some((each) => each.kind === kind && each.id === id)
      if (wasApplied && (await isMissing(run, kind, id))) gone.add(id)
    }
  }
  return gone
}

async function isMissing(run: Reconciliation, kind: string, id: string): Promise<boolean> {
  const { cache } = run.session
  for (const collection of run.context.kinds.collectionsOf(kind)) {
    // Nothing can be shown to be gone there: the id is sent, and the API refuses it if need be.
    if (cache.refusalOf(collection) !== undefined) return false
    await cache.ensureListed(collection)
    const object = cache.get(collection, id)?.object ?? (await sought(run, collection, id))
    if (object !== undefined) return false
  }
  return true
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  const [one, other] = [new Set(left), new Set(right)]
  return one.size === other.size && [...one].every((id) => other.has(id))
}
