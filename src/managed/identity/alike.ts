import type { RemoteObject } from '../../api/types.ts'
import { includes } from '../accounts/access.ts'
import { type CustomResource, nameOf, shortName } from '../cr.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'
import { isNamesake, markerOf } from './marker.ts'

/** Objects that may have belonged to the CR before it lost its status, though nothing proves it. */
export interface Alike {
  /** They carry the marker of a CR of this kind, namespace and name in another installation. */
  readonly elsewhere: readonly { readonly id: string; readonly installation: string }[]
  /**
   * They carry no marker, and in its place the text that the CR's spec puts there: `rawMetadata`, or the name of a bot.
   */
  readonly unmarked: readonly string[]
}

/**
 * Which of `objects`, none of which a CR holds, look like an object of `cr`. `markedBy` is the field that holds the
 * marker.
 */
export function alikeOf(
  objects: Iterable<RemoteObject>,
  cr: CustomResource,
  markedBy: 'metadata' | 'name',
  installation: string,
): Alike {
  const text = (cr.spec as Readonly<Record<string, unknown>>)[markedBy === 'metadata' ? 'rawMetadata' : 'displayName']
  const elsewhere: { id: string; installation: string }[] = []
  const unmarked: string[] = []
  for (const object of objects) {
    const marker = markerOf(object)
    if (marker === undefined) {
      if (typeof text === 'string' && text !== '' && object[markedBy] === text) unmarked.push(object.id)
    } else if (marker.installation !== installation && isNamesake(marker, cr)) {
      elsewhere.push({ id: object.id, installation: marker.installation })
    }
  }
  return { elsewhere, unmarked }
}

/**
 * Reports such objects before another is created: only a person can tell whether they were the CR's or belong to
 * another owner. Only where the namespace may adopt such objects: elsewhere it is not told which exist.
 */
export function tellAlike({ collection, context, cr, descriptor, session }: Reconciliation): void {
  if (!includes(session.access.unmanagedObjects, 'Adopt')) return
  const free = [...session.cache.all(collection)].filter(
    ({ id }) => context.resources.holderOf(session.key, id) === undefined,
  )
  const { elsewhere, unmarked } = alikeOf(free, cr, descriptor.markedBy, context.installation)
  const told = [
    ...elsewhere.slice(0, SHOWN).map(({ id, installation }) => {
      return `${id} bears the mark of this resource in another cluster (to have it: --installation ${installation}, once that one is gone)`
    }),
    ...unmarked.slice(0, SHOWN).map((id) => {
      return `${id} has the same ${descriptor.markedBy} and no resource here holds it (to have it: spec.externalID: ${id} with spec.managementPolicy: Manage)`
    }),
  ]
  if (told.length === 0) return
  const own = shortName(nameOf(cr))
  const message = `${told.join('; ')}. If that is an object of a former ${own}, this one makes a second`
  context.events.record(cr, { type: 'Warning', reason: 'PossibleDuplicate', message })
}

const SHOWN = 3
