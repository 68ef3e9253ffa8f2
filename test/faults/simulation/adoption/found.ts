import type { RemoteObject } from '../../../../src/api/types.ts'
import { type CustomResource, statusOf } from '../../../../src/managed/cr.ts'
import { markerOf } from '../../../../src/managed/markers/marker.ts'
import type { Manifest } from '../../../kinds/kind-test-data.ts'
import type { SpecCase } from '../../../kinds/lookup.ts'
import { SEED } from '../../../kinds/shared/account.ts'
import { headersOf, KEY } from '../api-server.ts'
import { childrenOf } from '../meaning-at.ts'
import { Oracle } from '../oracle.ts'
import { wipe } from '../restore/life.ts'
import type { Laboratory, SimulatedWorld, WorldOptions } from '../world.ts'

type Fields = Readonly<Record<string, unknown>>

/** The resource whose spec the object was created from. */
const MAKER = 'maker'
/** Time until everything is created. */
const MADE_MS = 120_000

/** A world with an object of the kind made by hand, and with the dependencies of a spec for it. */
export interface FoundObject {
  readonly world: SimulatedWorld
  readonly oracle: Oracle
  readonly id: string
  /** The spec that the object matches. */
  readonly spec: Fields
  readonly path: string
  /**
   * Whether it is a key that may be the account's own, and that is deleted only after the bot that owns it, which
   * cannot be deleted first.
   */
  readonly isGuarded: boolean
}

export function isGuarded({ kind, needs }: Pick<SpecCase, 'kind' | 'needs'>): boolean {
  return kind === 'APIKey' && needs(MAKER).length > 0
}

/**
 * A resource creates the object; then the resource is removed from the cluster by hand, and the marker from the object.
 */
export async function findObject(
  laboratory: Laboratory,
  { kind, spec, needs }: SpecCase,
  options: WorldOptions = {},
): Promise<FoundObject> {
  const kinds = new Set([kind, ...needs(MAKER).map((need) => need.kind)])
  const world = laboratory.world({ kinds, ...options })
  world.api.emulator.admin.seed(SEED)
  const oracle = await Oracle.watch(world)
  for (const need of needs(MAKER)) world.apply(need.kind, need.name, need.spec)
  const place = await leaveObject(world, { kind, name: MAKER, spec: spec(MAKER) })
  const path = `/${place.path}/${place.id}`
  return { world, oracle, id: place.id, spec: spec(MAKER), path, isGuarded: isGuarded({ kind, needs }) }
}

/**
 * A resource creates an object; then the resource is removed from the cluster by hand, and the marker from the object:
 * it no longer has a known owner.
 */
export async function leaveObject(
  world: SimulatedWorld,
  { kind, name, spec }: Manifest,
): Promise<{ readonly path: string; readonly id: string }> {
  world.apply(kind, name, spec)
  const isMade = await world.until(() => isReady(world.get(kind, name)), MADE_MS)
  const cr = world.get(kind, name)
  const place = cr === undefined ? undefined : world.placeOf(cr)
  if (!isMade || cr === undefined || place === undefined)
    throw new Error(`${kind} was not made: ${JSON.stringify(cr?.status)}`)
  await world.advance(1_000)
  world.down()
  wipe(world, [cr])
  for (const { metadata, kind: holder } of world.kube.everything()) {
    if (holder !== 'Secret' || !metadata.ownerReferences?.some(({ uid }) => uid === cr.metadata.uid)) continue
    world.deleteSecret(metadata.name)
  }
  const path = `/${place.path}/${place.id}`
  const object = (await world.api.ask('GET', path)) as unknown as RemoteObject
  if (markerOf(object) !== undefined) await world.api.ask('PATCH', path, { metadata: 'made by hand' })
  for (const child of await childrenOf(world, kind, place.id)) {
    const isMarked = markerOf(child as unknown as RemoteObject) !== undefined
    if (isMarked) await world.api.ask('PATCH', `/${childPath(world, kind)}/${String(child.id)}`, { metadata: '' })
  }
  world.up()
  await world.advance(1_000)
  return place
}

function childPath(world: SimulatedWorld, kind: string): string {
  return world.kinds.managedKind(kind)?.children?.collection.path ?? ''
}

/** The object in the account; undefined: it is gone. */
export async function objectAt({ world, path }: FoundObject): Promise<Fields | undefined> {
  const { status, body } = await world.api.answerPlainly({ method: 'GET', path, headers: headersOf(KEY), body: '' })
  return status === 200 ? (JSON.parse(body) as Fields) : undefined
}

function isReady(cr: CustomResource | undefined): boolean {
  const conditions = statusOf(cr ?? ({} as CustomResource)).conditions ?? []
  const isTrue = (type: string): boolean => conditions.some((each) => each.type === type && each.status === 'True')
  return (
    isTrue('Ready') && isTrue('Synced') && statusOf(cr as CustomResource).observedGeneration === cr?.metadata.generation
  )
}

/** Why a resource does not match its object: reason and message. */
export function refusalOf(cr: CustomResource | undefined): { readonly reason: string; readonly message: string } {
  const { reason = '', message = '' } = cr?.status?.conditions?.find(({ type }) => type === 'Synced') ?? {}
  return { reason, message }
}
