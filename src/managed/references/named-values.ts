import type { NamedValue } from '../descriptor/references.ts'
import { valueKey } from '../markers/object-keys.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { isGranted } from './crossings.ts'
import { keeperOf, refusalOfUse, valueNotPermitted } from './reach.ts'

/**
 * Values such as the host of an edge select a remote object without referring to it. In a shared account they reach
 * as far as a reference by id, so that no one takes by a literal what a reference would be refused.
 */

type Place = Pick<Reconciliation, 'context' | 'cr' | 'descriptor' | 'session'>

/**
 * Lists what the values of the spec may find, then checks them.
 * @throws TerminalError for a value that finds an object that the namespace may not use
 */
export async function checkNamedValues(place: Place): Promise<void> {
  for (const collection of namedCollections(place)) await place.session.cache.ensureListed(collection)
  refuseNamedValues(place)
}

/** The same check without a request, to repeat right before a write. @throws TerminalError */
export function refuseNamedValues(place: Place): void {
  const { cr, session } = place
  const {
    metadata: { namespace = '' },
  } = cr
  for (const named of namedValuesOf(place)) {
    const found = findTarget(place, named)
    const keeper = found && keeperOf(place.context, session, found.kind, found.id)
    if (keeper !== undefined && isGranted(place.context.resources, keeper, namespace)) continue
    const use = { namespace, keeper: keeper && (keeper.metadata.namespace ?? ''), asked: 'Reference' } as const
    const refusal = refusalOfUse({ ...use, allowed: session.access.unmanagedObjects })
    if (refusal !== undefined) throw valueNotPermitted(session, namespace, named)
  }
}

/** None in an account of the namespace: everything there is its own. */
function namedValuesOf({ cr, descriptor, session }: Place): readonly NamedValue[] {
  return session.access.granted === undefined ? [] : (descriptor.references.namedValues?.(cr.spec) ?? [])
}

function namedCollections(place: Place) {
  const kinds = namedValuesOf(place).flatMap(({ targets }) => targets.map(({ kind }) => kind))
  return [...new Set(kinds)].flatMap((kind) => place.context.kinds.collectionsOf(kind))
}

/** The object that the API finds for the value, as far as the cache knows. */
function findTarget({ context, session }: Place, { targets }: NamedValue) {
  for (const { kind, value } of targets) {
    for (const collection of context.kinds.collectionsOf(kind)) {
      const [object] = session.cache.find(collection, valueKey(kind, value))
      if (object !== undefined) return { kind, id: object.id }
    }
  }
  return undefined
}
