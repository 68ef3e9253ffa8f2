import type { RemoteObject } from '../../../../src/api/types.ts'
import type { KubeObject } from '../../../../src/kube/types.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import { markerOf } from '../../../../src/managed/markers/marker.ts'
import { parseOwnership } from '../../../../src/managed/markers/sealed-note.ts'
import { REMOTE_ID } from '../../../../src/managed/names.ts'
import { events } from '../../../../src/runtime/events.ts'
import type { Oracle } from '../oracle.ts'
import { NAMESPACE, type SimulatedWorld } from '../world.ts'
import { nameOf } from './life.ts'

/** Reasons of a resource that waits until people say which object it should have, or waits for such a resource. */
export const ASKING = ['AlreadyExists', 'ReferenceNotReady'] as const
/** The longest chain of resources that ask one after the other. */
const ROUNDS = 4

export interface Advice {
  /** Returns another object than the one that the resource asks about; null: it should have a new one. */
  readonly answer?: (cr: CustomResource) => string | null | undefined
  /** Ids of objects that no resource should have in the end. */
  readonly left?: ReadonlySet<string>
  /** Further reasons for which resources may wait, also in the end. */
  readonly refused?: readonly string[]
  /** The maximum number of reported orphans: unfinished creates from before, and rules of policies left behind. */
  readonly orphans?: number
}

/**
 * Waits until a restored cluster is at rest, and answers each resource that asks about its object as its condition
 * advises. Violations are writes while resources wait, and all that `Oracle.judge` finds, in the end without a waiting
 * resource. An unmarked object may remain next to a second one if an Event names it (docs/restore.md).
 */
export async function takeBack(world: SimulatedWorld, oracle: Oracle, advice: Advice = {}): Promise<readonly string[]> {
  const left = new Set(advice.left)
  const refused = [...ASKING, ...(advice.refused ?? [])]
  excuseSecrets(world, oracle)
  for (let round = 0; round < ROUNDS; round += 1) {
    oracle.allow({ refused })
    await oracle.untilRest()
    const claimed = world.all().flatMap((cr) => claimOf(cr) ?? [])
    oracle.allow({ refused, others: new Set([...left, ...claimed, ...(await doubles(world)).map(({ id }) => id)]) })
    const problems = round === 0 ? await oracle.judge(undefined, advice.orphans) : await oracle.untilRest()
    if (problems.length > 0) return problems
    const asking = world.all().filter((cr) => reasonOf(cr) === 'AlreadyExists')
    if (asking.length === 0) break
    for (const cr of asking) {
      const claim = claimOf(cr)
      if (claim === undefined) return [`${nameOf(cr)} asks about no object`]
      const answer = advice.answer?.(cr)
      if (answer === null) left.add(claim)
      else if (answer !== undefined && answer !== claim) left.add(claim)
      answerTo(world, cr, answer === undefined ? claim : answer)
    }
    // Until they are reconciled, they keep their former conditions.
    await world.advance(5_000)
  }
  oracle.allow({
    refused: advice.refused ?? [],
    others: new Set([...left, ...(await doubles(world)).map(({ id }) => id)]),
  })
  return await oracle.judge(undefined, advice.orphans)
}

/** If the API does not show a field and the status that recorded it is lost, nobody can tell whether it has changed. */
function excuseSecrets(world: SimulatedWorld, oracle: Oracle): void {
  const blind = world.kinds.managed.filter(({ fields }) => fields.secret.length > 0)
  const paths = blind.flatMap(({ identity: { collections } }) => collections.map(({ path }) => `/${path}/`))
  const { trouble } = world.network
  world.trouble = {
    request: (sighting) => {
      if (sighting.method === 'PATCH' && paths.some((path) => sighting.path.startsWith(path))) oracle.excuse(sighting)
      return trouble.request(sighting)
    },
  }
}

/** Unmarked objects without an owner which resources reported as possibly theirs, besides those that they created. */
export async function doubles(
  world: SimulatedWorld,
): Promise<readonly { readonly path: string; readonly id: string }[]> {
  const notes = world.kube
    .list<KubeObject>(events)
    .items.filter(({ reason }) => reason === 'PossibleDuplicate')
    .map(({ note }) => String(note))
  return (await unmarked(world)).filter(({ id }) => notes.some((note) => note.includes(id)))
}

/** Unmarked objects without an owner. */
export async function unmarked(
  world: SimulatedWorld,
): Promise<readonly { readonly path: string; readonly id: string }[]> {
  const held = new Set(world.all().map(({ status }) => status?.id))
  const found: { path: string; id: string }[] = []
  for (const { path, listKey } of world.kinds.managed.flatMap(({ identity: { collections } }) => collections)) {
    const { [listKey]: objects } = await world.api.ask('GET', `/${path}?limit=100`)
    for (const object of objects as readonly RemoteObject[]) {
      if (markerOf(object) === undefined && !held.has(object.id)) found.push({ path, id: object.id })
    }
  }
  return found
}

function answerTo(world: SimulatedWorld, cr: CustomResource, id: string | null): void {
  const key = { namespace: cr.metadata.namespace ?? NAMESPACE, name: cr.metadata.name }
  const patch =
    id === null
      ? { metadata: { annotations: { [REMOTE_ID]: null } } }
      : // A resource taken back by hand retains its object when deleted, unless told otherwise.
        { spec: { externalID: id, managementPolicy: 'Manage', deletionPolicy: 'Delete' } }
  world.server.patch(world.typeOf(cr.kind), key, patch)
}

/** The object named in the message of a resource without one. */
function claimOf(cr: CustomResource): string | undefined {
  return cr.status?.id === undefined ? parseOwnership(cr.metadata.annotations?.[REMOTE_ID])?.id : undefined
}

/** Why a resource does, or does not, match its object. */
export function reasonOf({ status }: CustomResource): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Synced')?.reason
}
