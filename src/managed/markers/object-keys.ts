import type { ObjectKeys } from '../../api/object-index.ts'
import type { Collection, RemoteObject } from '../../api/types.ts'
import type { ResourceName } from '../cr.ts'
import type { KindsRegistry } from '../kinds-registry.ts'
import { markerOf } from './marker.ts'

/**
 * Keys by which reconciles find objects in the account cache (`SessionCache.find`), so that none walks a collection.
 * A key may find more than is asked for, never less: callers check what they find.
 *
 * The keys that every object has are joined, not concatenated: V8 keeps a concatenation with all of its parts, in twice
 * the memory, until something compares it.
 */

/** Objects with the marker of the CR of this UID, in any installation. */
export function bearerKey(uid: string): string {
  return ['bearer', uid].join(' ')
}

/** Objects with the marker of a CR of this kind, namespace and name, in any installation and with any UID. */
export function namesakeKey({ kind, namespace, name }: ResourceName): string {
  return ['namesake', kind, namespace, name].join('/')
}

/** Objects without a marker, by the text that is in its place. */
export function unmarkedKey(text: string): string {
  return `unmarked ${text.slice(0, LONGEST_TEXT)}`
}

/** Texts may take 4 KiB each; their beginnings distinguish nearly all of them. */
const LONGEST_TEXT = 128

/** Children of an object. */
export function childKey(parentId: string): string {
  return `child ${parentId}`
}

/** Objects that refer to an object of that kind by its id. */
export function referrerKey(kind: string, id: string): string {
  return `referrer ${kind} ${id}`
}

/** Objects of that kind to which others refer by the value. */
export function valueKey(kind: string, value: string): string {
  return `value ${kind} ${value}`
}

/** Objects that refer to an object of that kind by the value. */
export function valueUserKey(kind: string, value: string): string {
  return `value user ${kind} ${value}`
}

/** An object to which another refers, by its id or by a value that it has. */
export interface ReferredObject {
  readonly kind: string
  readonly by: 'id' | 'value'
  readonly text: string
}

/** What the key of a referring object names; undefined for keys of other sorts. */
export function referredBy(key: string): ReferredObject | undefined {
  const [, sort, kind, text] = /^(referrer|value user) (\S+) (.*)$/s.exec(key) ?? []
  if (kind === undefined || text === undefined) return undefined
  return { kind, by: sort === 'referrer' ? 'id' : 'value', text }
}

/** The object of that kind that has a name which only one may have, as `uniqueNames` returns it. */
export function uniqueNameKey(kind: string, name: string): string {
  return `unique ${kind} ${name}`
}

/** The keys of the objects of a collection. */
export function objectKeys({ managed }: KindsRegistry): (collection: Collection) => ObjectKeys {
  return ({ path }) => {
    const own = managed.filter(({ identity }) => identity.collections.some((collection) => collection.path === path))
    const parents = managed.flatMap(({ children }) => (children?.collection.path === path ? [children] : []))
    const references = own.flatMap((descriptor) => descriptor.references.kinds)
    const valued = own.flatMap(({ definition: { kind }, identity: { valuesOf } }) => {
      return valuesOf === undefined ? [] : [{ kind, valuesOf }]
    })
    const named = own.flatMap(({ definition, fields: { observe }, identity: { uniqueNames } }) => {
      return uniqueNames === undefined ? [] : [{ kind: definition.kind, observe, uniqueNames }]
    })
    return (object) => [
      ...markerKeys(object),
      ...parents.flatMap((children) => children.parentId(object) ?? []).map(childKey),
      ...references.flatMap(({ kind, idsIn }) => idsIn(object).map((id) => referrerKey(kind, id))),
      ...references.flatMap(({ kind, valuesIn }) => {
        return (valuesIn?.(object) ?? []).map((value) => valueUserKey(kind, value))
      }),
      ...valued.flatMap(({ kind, valuesOf }) => valuesOf(object).map((value) => valueKey(kind, value))),
      ...named.flatMap(({ kind, observe, uniqueNames }) => {
        return uniqueNames(observe(object)).map((name) => uniqueNameKey(kind, name))
      }),
    ]
  }
}

function markerKeys(object: RemoteObject): readonly string[] {
  const marker = markerOf(object)
  if (marker !== undefined) return [bearerKey(marker.uid), namesakeKey(marker)]
  const texts = [object.metadata, object.name].filter((text) => typeof text === 'string' && text !== '')
  return texts.map((text) => unmarkedKey(text as string))
}
