import { parseObject } from '../../../src/managed/descriptor/metadata.ts'
import { markerOf } from '../../../src/managed/markers/marker.ts'
import type { Resource } from '../../builders/contract/api-client.ts'
import type { Shown } from '../../builders/emulated-life.ts'
import { meaningOf } from '../../builders/meaning.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import { headersOf, KEY } from './api-server.ts'
import type { SimulatedWorld } from './world.ts'

/**
 * The result of the resource's spec: its object's meaning by the contract, the content of Secrets and ConfigMaps, and
 * the conditions. It is equal for two resources with one spec, whatever they were before; they may only differ in how
 * the API expresses it (a removed module is disabled, since no update can remove it).
 */
export async function meaningAt(world: SimulatedWorld, { kind, name, spec }: Manifest): Promise<unknown> {
  const cr = world.get(kind, name)
  const place = cr === undefined ? undefined : world.placeOf(cr)
  if (cr === undefined || place === undefined) return 'no object'
  const path = `/${place.path}/${place.id}`
  const answer = await world.api.answerPlainly({ method: 'GET', path, headers: headersOf(KEY), body: '' })
  if (answer.status !== 200) return `no object: ${answer.body}`
  const object = JSON.parse(answer.body) as Resource
  const children = await childrenOf(world, kind, place.id)
  const { uid } = cr.metadata
  const shown = { object: unmarked(object, uid), children: children.map((child) => unmarked(child, uid)) }
  const target = 'target' in object ? storedTarget(world, place) : undefined
  const { named, beside } = (await withNames(world, { named: shown, beside: [target, outputsOf(world, uid)] })) as {
    readonly named: Shown
    readonly beside: unknown
  }
  // A certificate that the spec does not mention is in use only where a policy was before.
  const isOwn = (type: string): boolean => type !== 'CertificateReady' || spec.certificate !== undefined
  const conditions = cr.status?.conditions
    ?.filter(({ type }) => isOwn(type))
    .map(({ type, status, reason }) => `${type} ${status} ${reason}`)
  return { ...(meaningOf(spec, named) as Manifest['spec']), beside, conditions: conditions?.toSorted(byText) }
}

/** Children of the object, such as the rules of a policy. */
export async function childrenOf(world: SimulatedWorld, kind: string, parent: string): Promise<Shown['children']> {
  const { children } = world.kinds.managedKind(kind) ?? {}
  if (children === undefined) return []
  const { path, listKey } = children.collection
  const all = (await world.api.ask('GET', `/${path}?limit=100`))[listKey] as Shown['children']
  return all.filter((child) => children.parentId(child) === parent)
}

/**
 * Ids of rules that a policy has although its spec takes rules from elsewhere: earlier rules stay (`api-decisions.md`).
 */
export async function keptRules(world: SimulatedWorld, kind: string, name: string): Promise<readonly string[]> {
  const cr = world.get(kind, name)
  const { rulesSource } = (cr?.spec ?? {}) as { readonly rulesSource?: unknown }
  const place = cr === undefined || rulesSource !== 'IPPolicyRules' ? undefined : world.placeOf(cr)
  const kept = place === undefined ? [] : await childrenOf(world, kind, place.id)
  return kept.map(({ id }) => String(id))
}

/** Includes what no answer shows. */
function storedTarget(world: SimulatedWorld, { path, id }: { readonly path: string; readonly id: string }): unknown {
  const { accounts } = world.api.emulator.admin.snapshot()
  const stored = Object.values(accounts).flatMap(({ objects }) => objects[path] ?? [])
  return stored.find((object) => object.id === id)?.target
}

/** The keys that the resource has filled in its outputs, and the other objects next to it. */
function outputsOf(world: SimulatedWorld, uid: string): readonly unknown[] {
  return world.kube
    .everything()
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
    .map(({ kind, metadata, data, spec }) => [
      `${kind}/${metadata.name}`,
      Object.keys(data ?? {}).toSorted(byText),
      spec,
    ])
    .toSorted(([left], [right]) => byText(String(left), String(right)))
}

/** With names instead of ids, and of values that the service derives from an id. */
async function withNames(world: SimulatedWorld, value: unknown): Promise<unknown> {
  let text = JSON.stringify(value)
  const { reserved_addrs: addresses } = await world.api.ask('GET', '/reserved_addrs?limit=100')
  for (const { id, addr } of addresses as readonly Resource[]) {
    text = text.replaceAll(String(addr), `address of ${id}`)
  }
  for (const cr of world.all()) {
    const id = world.placeOf(cr)?.id
    if (id !== undefined) text = text.replaceAll(id, `${cr.kind}/${cr.metadata.name}`)
  }
  return JSON.parse(
    text.replaceAll(
      /usr_[0-9A-Za-z-]{27,}|\b\d{59}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g,
      'the administrator',
    ),
  )
}

/** With a word instead of the marker, which differs between attempts; the keys next to it stay. */
function unmarked(object: Resource, uid: string): Resource {
  const marker = markerOf(object)
  if (marker === undefined) return object
  const owner = marker.uid === uid ? '' : `${marker.uid}, instead of `
  const word = `mark of ${owner}${marker.kind}/${marker.name}`
  return { ...object, metadata: JSON.stringify({ ...parseObject(String(object.metadata)), culvert: word }) }
}

function byText(left: string, right: string): number {
  return left < right ? -1 : Number(left > right)
}
