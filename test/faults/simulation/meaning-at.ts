import { configMapType, secretType } from '../../../src/managed/inputs.ts'
import { markerOf } from '../../../src/managed/marker.ts'
import type { Resource } from '../../builders/contract/api-client.ts'
import type { Shown } from '../../builders/emulated-life.ts'
import { meaningOf } from '../../builders/meaning.ts'
import { headersOf, KEY } from './api-server.ts'
import type { SimulatedWorld } from './world.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * What has come of the spec that a resource has: what its object means by the contract, what was put into Secrets and ConfigMaps, and
 * the conditions. Two resources with one spec have this in common, whatever they were before; how the API is told the same may differ (a
 * module that is taken out is disabled, since no update can remove it).
 */
export async function meaningAt(world: SimulatedWorld, kind: string, name: string): Promise<unknown> {
  const cr = world.get(kind, name)
  const place = cr === undefined ? undefined : world.placeOf(cr)
  if (cr === undefined || place === undefined) return 'no object'
  const path = `/${place.path}/${place.id}`
  const { status, body } = await world.api.answer({ method: 'GET', path, headers: headersOf(KEY), body: '' })
  if (status !== 200) return `no object: ${body}`
  const object = JSON.parse(body) as Resource
  const children = await childrenOf(world, kind, place.id)
  const { uid } = cr.metadata
  const shown = { object: unmarked(object, uid), children: children.map((child) => unmarked(child, uid)) }
  const meaning = {
    ...(meaningOf(cr.spec as Fields, shown) as Fields),
    ...('target' in object ? { target: storedTarget(world, place) } : {}),
    outputs: outputsOf(world, uid),
    conditions: cr.status?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`).toSorted(),
  }
  return withNames(world, meaning)
}

async function childrenOf(world: SimulatedWorld, kind: string, parent: string): Promise<Shown['children']> {
  const { children } = world.kinds.managedKind(kind) ?? {}
  if (children === undefined) return []
  const { path, listKey } = children.collection
  const all = (await world.api.ask('GET', `/${path}?limit=100`))[listKey] as Shown['children']
  return all.filter((child) => children.parentId(child) === parent)
}

/** With what no answer shows. */
function storedTarget(world: SimulatedWorld, { path, id }: { readonly path: string; readonly id: string }): unknown {
  const { accounts } = world.api.emulator.admin.snapshot()
  const stored = Object.values(accounts).flatMap(({ objects }) => objects[path] ?? [])
  return stored.find((object) => object.id === id)?.target
}

/** Which keys the resource has filled, and in what. */
function outputsOf(world: SimulatedWorld, uid: string): readonly string[] {
  return [secretType, configMapType]
    .flatMap((type) => world.kube.list(type).items)
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
    .map(({ kind, metadata, data }) => `${kind}/${metadata.name}: ${Object.keys(data ?? {}).join()}`)
    .toSorted()
}

/** With names in the place of ids. */
function withNames(world: SimulatedWorld, value: unknown): unknown {
  let text = JSON.stringify(value)
  for (const cr of world.all()) {
    const id = world.placeOf(cr)?.id
    if (id !== undefined) text = text.replaceAll(id, `${cr.kind}/${cr.metadata.name}`)
  }
  // Such as the user that a key belongs to.
  return JSON.parse(text.replaceAll(/\b([a-z]+)_[0-9A-Za-z]{27}\b/g, '$1_…'))
}

/** With a word in the place of the mark, which tells attempts apart. */
function unmarked(object: Resource, uid: string): Resource {
  const marker = markerOf(object)
  if (marker === undefined) return object
  const owner = marker.uid === uid ? '' : `${marker.uid}, in place of `
  return { ...object, metadata: `mark of ${owner}${marker.kind}/${marker.name}` }
}
