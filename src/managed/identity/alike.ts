import type { RemoteObject } from '../../api/types.ts'
import { type CustomResource, nameOf, shortName } from '../cr.ts'
import { includes } from '../descriptor/access.ts'
import { isNamesake, markerOf } from '../markers/marker.ts'
import { namesakeKey, unmarkedKey } from '../markers/object-keys.ts'
import type { Reconciliation } from '../run/reconciliation.ts'

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
  const text = ownText(cr, markedBy)
  const elsewhere: { id: string; installation: string }[] = []
  const unmarked: string[] = []
  for (const object of objects) {
    const marker = markerOf(object)
    if (marker === undefined) {
      if (text !== undefined && object[markedBy] === text) unmarked.push(object.id)
    } else if (marker.installation !== installation && isNamesake(marker, cr)) {
      elsewhere.push({ id: object.id, installation: marker.installation })
    }
  }
  return { elsewhere, unmarked }
}

/** The text that the spec puts in the place of the marker. */
function ownText({ spec }: CustomResource, markedBy: 'metadata' | 'name'): string | undefined {
  const text = (spec as Readonly<Record<string, unknown>>)[markedBy === 'metadata' ? 'rawMetadata' : 'displayName']
  return typeof text === 'string' && text !== '' ? text : undefined
}

/**
 * Reports such objects before another is created: only a person can tell whether they were the CR's or belong to
 * another owner. Only where the namespace may adopt such objects: elsewhere it is not told which exist.
 */
export function reportLookalikes({ collection, context, cr, descriptor, session }: Reconciliation): void {
  if (!includes(session.access.unmanagedObjects, 'Adopt')) return
  const { markedBy } = descriptor.identity
  const text = ownText(cr, markedBy)
  const candidates = [
    ...session.cache.find(collection, namesakeKey(nameOf(cr))),
    ...(text === undefined ? [] : session.cache.find(collection, unmarkedKey(text))),
  ]
  const free = candidates.filter(({ id }) => context.resources.holderOf(session.key, id) === undefined)
  const { elsewhere, unmarked } = alikeOf(free, cr, markedBy, context.installation)
  const told = [
    ...elsewhere.slice(0, SHOWN).map(({ id, installation }) => {
      return `${id} carries the marker of this resource in another cluster (to take it over after that cluster is shut down, run Culvert with --installation ${installation})`
    }),
    ...unmarked.slice(0, SHOWN).map((id) => {
      return `${id} has the same ${descriptor.identity.markedBy} and is not managed by any resource here (to adopt it, set spec.externalID: ${id} and spec.managementPolicy: Manage)`
    }),
  ]
  if (told.length === 0) return
  const own = shortName(nameOf(cr))
  const message = `${told.join('; ')}. If this is the object of a former ${own}, a second object is created now`
  context.events.record(cr, { type: 'Warning', reason: 'PossibleDuplicate', message })
}

const SHOWN = 3
