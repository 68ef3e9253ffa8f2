import { isDeepStrictEqual } from 'node:util'
import { configMapType, secretType } from '../../../src/kube/core-types.ts'
import { type CustomResource, internalOf, isDeleting, isObserved, isPaused, statusOf } from '../../../src/managed/cr.ts'
import { markerOf } from '../../../src/managed/markers/marker.ts'
import { exclusiveFields } from '../../../src/schema/rules.ts'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { declaredParts } from '../../builders/declared/parts.ts'
import type { Declared, Held, Resolved } from '../../builders/declared/types.ts'
import { outputIn } from '../../builders/output-of-spec.ts'
import { testsOf } from '../../kinds/lookup.ts'
import type { SimulatedWorld } from './world.ts'

type Fields = Readonly<Record<string, unknown>>
type RemoteObject = Fields & { readonly id: string }

/** Occurs in no value of a spec or an object, and stays whatever the form in which a part is compared. */
const NOT_THERE = 'culvertnotthere'
/** Instead of what a dependency would give: text, a key or a certificate. */
const ABSENT = `-----BEGIN CERTIFICATE-----${NOT_THERE}`

/** The API's objects, by path of the collection. */
export type HeldObjects = readonly (readonly [path: string, objects: readonly RemoteObject[]])[]

/**
 * Differences between the account and what the resources declare: for every resource, its declared object is computed
 * again from the current cluster and compared with the API's actual object. An operator's knowledge and plans play no
 * part.
 * @param resources those to compare; others may be referred to
 */
export function unlikeDeclared(
  world: SimulatedWorld,
  resources: readonly CustomResource[],
  held: HeldObjects,
): readonly string[] {
  const objects = new Map(held.flatMap(([path, found]) => found.map((object) => [`${path}/${object.id}`, object])))
  return resources.flatMap((cr) => {
    // People asked for a resource to be left alone, or only observed.
    if (isDeleting(cr) || isObserved(cr) || isPaused(cr)) return []
    const place = world.placeOf(cr)
    const object = place && objects.get(`${place.path}/${place.id}`)
    // A missing object is reported elsewhere.
    if (place === undefined || object === undefined) return []
    const shown: Held = {
      object,
      stored: storedObject(world, place.path, object),
      children: childrenOf(world, cr, held),
    }
    const at = `${cr.kind}/${cr.metadata.name}`
    const parts = [
      ...markOf(cr, object),
      ...partsOf(world, cr, shown, objects),
      ...outputsOf(world, cr, object, objects),
    ]
    return parts
      .filter(([, wanted, found]) => !isDeepStrictEqual(wanted, found))
      .map(([part, wanted, found]) => `${at}: ${part} is ${textOf(found)} instead of ${textOf(wanted)}`)
  })
}

/** Objects made by Culvert carry the marker of their resource, unless `rawMetadata` replaces it. */
function markOf(cr: CustomResource, object: RemoteObject): readonly Declared[] {
  const { adopted } = statusOf(cr)
  const { create } = internalOf(cr)
  if (cr.kind === 'BotUser' || cr.spec.rawMetadata !== undefined || adopted || create === undefined) return []
  const { kind, namespace, name } = markerOf(object) ?? {}
  return [['mark', [cr.kind, cr.metadata.namespace, cr.metadata.name].join('/'), [kind, namespace, name].join('/')]]
}

/** What the resource's spec declares now, part by part, with the API's state of each; nothing if there is no object. */
export function partsDeclared(world: SimulatedWorld, cr: CustomResource, held: HeldObjects): readonly Declared[] {
  const objects = new Map(held.flatMap(([path, found]) => found.map((object) => [`${path}/${object.id}`, object])))
  const place = world.placeOf(cr)
  const object = place && objects.get(`${place.path}/${place.id}`)
  if (place === undefined || object === undefined) return []
  const shown: Held = { object, stored: storedObject(world, place.path, object), children: childrenOf(world, cr, held) }
  return partsOf(world, cr, shown, objects)
}

function partsOf(
  world: SimulatedWorld,
  cr: CustomResource,
  held: Held,
  objects: ReadonlyMap<string, RemoteObject>,
): readonly Declared[] {
  const resolved = resolvedFor(world, cr, objects)
  const parts = declaredParts(cr.kind, cr.spec as Fields, held, resolved).filter(isKnown)
  if (!leavesAlone(cr)) return parts
  // Values of an adopted object are its own where its spec says no more than a bare one.
  const kind = world.kinds.managedKind(cr.kind)
  const spec = kind === undefined ? {} : bareSpec(toStructural(kind.definition.spec, 'spec'), cr.spec as Fields)
  const bare = declaredParts(cr.kind, spec, held, resolved)
  const defaults = new Map(bare.map(([part, wanted]) => [part, wanted]))
  return parts.filter(([part, wanted]) => !isDeepStrictEqual(wanted, defaults.get(part)))
}

/**
 * A dependency may be gone: the part that names it then keeps what it was created with, and all others are compared.
 */
function isKnown([, wanted]: Declared): boolean {
  return wanted === undefined || !JSON.stringify(wanted).includes(NOT_THERE)
}

function leavesAlone(cr: CustomResource): boolean {
  return statusOf(cr).adopted === true || internalOf(cr).applied !== undefined
}

/** The spec without all optional fields; the member of a union stays. */
function bareSpec(
  { properties = {}, required = [], 'x-kubernetes-validations': rules = [] }: SchemaNode,
  spec: Fields,
) {
  const members = new Set(rules.flatMap(exclusiveFields))
  const kept = Object.entries(spec).flatMap(([field, value]): readonly (readonly [string, unknown])[] => {
    if (required.includes(field)) return [[field, value]]
    const node = properties[field]
    const isMember = node?.type === 'object' && members.has(field)
    return isMember ? [[field, bareSpec(node, value as Fields)]] : []
  })
  return Object.fromEntries(kept)
}

function resolvedFor(
  world: SimulatedWorld,
  { metadata: { namespace } }: CustomResource,
  objects: ReadonlyMap<string, RemoteObject>,
): Resolved {
  const id: Resolved['id'] = (kind, ref) => {
    if (ref.id !== undefined) return ref.id
    const target = world.get(kind, ref.name ?? '', namespace)
    const found = target && statusOf(target).id
    return found ?? ABSENT
  }
  return {
    id,
    field: (kind, ref, field) => {
      const wanted = id(kind, ref)
      const object = [...objects.values()].find((each) => each.id === wanted)
      return object === undefined ? ABSENT : object[field]
    },
    input: (source, { name, key }) => {
      const type = source === 'Secret' ? secretType : configMapType
      const data = world.kube.get(type, { ...(namespace === undefined ? {} : { namespace }), name })?.data as
        | Readonly<Record<string, string>>
        | undefined
      const value = data?.[key]
      if (value === undefined) return ABSENT
      return source === 'Secret' ? Buffer.from(value, 'base64').toString() : value
    },
  }
}

function childrenOf(world: SimulatedWorld, cr: CustomResource, held: HeldObjects): Held['children'] {
  const { children } = world.kinds.managedKind(cr.kind) ?? {}
  if (children === undefined) return []
  const all = held.find(([path]) => path === children.collection.path)?.[1] ?? []
  const own = all.filter((child) => children.parentId(child) === statusOf(cr).id)
  return statusOf(cr).adopted === true ? own.map((child) => asAdopted(cr, child)) : own
}

/** What another resource made, such as a former one of that name, is adopted like what people made. */
function asAdopted({ metadata: { uid } }: CustomResource, child: RemoteObject): RemoteObject {
  const owner = markerOf(child)?.uid
  if (owner === undefined || owner === uid) return child
  const { culvert: _, ...others } = JSON.parse(String(child.metadata)) as Fields
  return { ...child, metadata: JSON.stringify(others) }
}

/** Only event destinations have fields that no answer shows. */
function storedObject(world: SimulatedWorld, path: string, object: RemoteObject): Fields {
  if (!('target' in object)) return object
  const { accounts } = world.api.emulator.admin.snapshot()
  const stored = Object.values(accounts).flatMap(({ objects }) => objects[path] ?? [])
  return stored.find(({ id }) => id === object.id) ?? object
}

/** The content of Secrets and ConfigMaps that the spec asks for. Tokens are tested elsewhere. */
function outputsOf(
  world: SimulatedWorld,
  cr: CustomResource,
  object: RemoteObject,
  objects: ReadonlyMap<string, RemoteObject>,
): readonly Declared[] {
  const place = outputIn(cr.spec)
  const wanted = testsOf(cr.kind).publishes?.(cr.spec as Fields, object, (at) => objects.get(at))
  if (place === undefined || wanted === undefined) return []
  const { namespace = '' } = cr.metadata
  const target = world.kube.get(place.kind === 'ConfigMap' ? configMapType : secretType, {
    namespace,
    name: place.name,
  })
  const data = (target?.data ?? {}) as Readonly<Record<string, string>>
  const found = Object.entries(data).map(([key, value]) => {
    return [key, place.kind === 'ConfigMap' ? value : Buffer.from(value, 'base64').toString()]
  })
  return [[`output ${place.name}`, wanted, Object.fromEntries(found)]]
}

function textOf(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}
