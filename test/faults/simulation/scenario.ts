import { DECIDED } from '../../../src/emulator/choices/choices.ts'
import { secretType } from '../../../src/kube/core-types.ts'
import type { CustomResource } from '../../../src/managed/cr.ts'
import type { Condition } from '../../../src/managed/descriptor/common.ts'
import type { DataObject } from '../../../src/managed/outputs/place.ts'
import { events } from '../../../src/runtime/events.ts'
import { Oracle, textOf } from './oracle.ts'
import type { RemoteObject } from './shaped-answers.ts'
import { isWrite, Laboratory, NAMESPACE, type SimulatedWorld, type WorldOptions } from './world.ts'

type Fields = Readonly<Record<string, unknown>>

/** A world in which a test plays one scenario, step by step. */
export interface Scene {
  readonly world: SimulatedWorld
  /** Notes every violation of what holds at all times. */
  readonly oracle: Oracle
  /** Every write that an operator sent, except Leases and Events: `api POST /backends/tunnel_group`. */
  readonly writes: readonly string[]
  /** Every GET at the API that an operator sent. */
  readonly reads: readonly string[]
}

const HOUR = 3_600_000
/** Opening an emulator takes longer than most scenarios: the files of a process share one. */
let laboratory: Promise<Laboratory> | undefined

/** Starts a world with an API that chooses as decided, since scenarios count requests. Ends the previous one. */
export async function begin(kinds: readonly string[], options: WorldOptions = {}): Promise<Scene> {
  laboratory ??= Laboratory.open()
  const world = (await laboratory).world({ choices: DECIDED, kinds: new Set(kinds), ...options })
  const oracle = await Oracle.watch(world)
  const writes: string[] = []
  const reads: string[] = []
  const { network } = world
  const { onSend } = network
  network.onSend = (sighting) => {
    onSend(sighting)
    if (isWrite(sighting)) writes.push(textOf(sighting))
    else if (sighting.server === 'api') reads.push(sighting.path)
  }
  return { world, oracle, writes, reads }
}

/** Advances time until `holds`. @param ms default: an hour. @throws Error if it does not hold by then */
export async function until(
  world: SimulatedWorld,
  what: string,
  holds: () => boolean | Promise<boolean>,
  ms: number = HOUR,
): Promise<void> {
  const end = world.time.now + ms
  let held = holds()
  if (typeof held === 'boolean') held = await world.until(holds as () => boolean, ms)
  // To ask the API takes longer than a step.
  for (; !(await held) && world.time.now < end; held = holds()) await world.advance(500)
  if (!(await held)) throw new Error(`${what} did not come to hold`)
}

/** A condition of a resource or account. */
export function conditionOf(cr: CustomResource | SimulatedWorld['account'], type: string): Condition | undefined {
  return cr?.status?.conditions?.find((each) => each.type === type)
}

/** Whether all these conditions are True for the current spec. Default: Ready and Synced. */
export function isReady(world: SimulatedWorld, kind: string, name: string, types = ['Ready', 'Synced']): boolean {
  const cr = world.get(kind, name)
  return types.every((type) => {
    const condition = conditionOf(cr, type)
    return condition?.status === 'True' && condition.observedGeneration === cr?.metadata.generation
  })
}

/** Advances time until the resource is Ready and Synced. Returns the id of its object. */
export async function ready(world: SimulatedWorld, kind: string, name: string, ms?: number): Promise<string> {
  await until(world, `${kind}/${name} is Ready`, () => isReady(world, kind, name), ms)
  return world.get(kind, name)?.status?.id ?? ''
}

/** Advances time until the condition has that reason. Returns its message. */
export async function reported(
  world: SimulatedWorld,
  cr: () => CustomResource | SimulatedWorld['account'],
  type: string,
  reason: string,
): Promise<string> {
  const hasCome = await world.until(() => conditionOf(cr(), type)?.reason === reason, HOUR)
  if (!hasCome) throw new Error(`${type} does not come to be ${reason}: ${JSON.stringify(cr()?.status?.conditions)}`)
  return conditionOf(cr(), type)?.message ?? ''
}

/** Advances time until the resource is gone. */
export async function gone(world: SimulatedWorld, kind: string, name: string, ms?: number): Promise<void> {
  await until(world, `${kind}/${name} is gone`, () => world.get(kind, name) === undefined, ms)
}

/** The account's objects in a collection, newest first, without the administrator's key. */
export async function objectsIn({ api }: SimulatedWorld, path: string): Promise<readonly RemoteObject[]> {
  const lists = Object.values(await api.ask('GET', `/${path}?limit=100`))
  const asked = api.emulator.admin.journal().at(-1)?.keyId
  return (lists.find(Array.isArray) as RemoteObject[]).filter(({ id }) => id !== asked)
}

/** Their ids. */
export async function idsIn(world: SimulatedWorld, path: string): Promise<readonly string[]> {
  return (await objectsIn(world, path)).map(({ id }) => id)
}

/** The content of a Secret, decoded; undefined without one. */
export function secretOf({ kube }: SimulatedWorld, name: string): Partial<Record<string, string>> | undefined {
  const data = kube.get<DataObject>(secretType, { namespace: NAMESPACE, name })?.data
  return data && Object.fromEntries(Object.entries(data).map(([key, value]) => [key, atob(value)]))
}

/** How many of the requests since the first `from` are these. */
export function countOf(requests: readonly string[], wanted: string, from = 0): number {
  return requests.slice(from).filter((each) => each === wanted).length
}

/** Every Event so far: `Backend/web Created`. */
export function eventsOf({ kube }: SimulatedWorld): readonly string[] {
  return kube.list(events).items.map((event) => {
    const { regarding, reason } = event as unknown as { readonly regarding: Fields; readonly reason: string }
    return `${regarding.kind}/${regarding.name} ${reason}`
  })
}

/** Patches a resource, like `kubectl patch`. */
export function patch(world: SimulatedWorld, kind: string, name: string, fields: Fields): void {
  world.server.patch(world.typeOf(kind), { namespace: NAMESPACE, name }, fields)
}

/** Sets an annotation of the account; null removes it. */
export function annotateAccount(
  { server, accountType, accountKey }: SimulatedWorld,
  name: string,
  value: string | null,
): void {
  server.patch(accountType, accountKey, { metadata: { annotations: { [name]: value } } })
}

/** Deletes the status of a resource. */
export function loseStatus(world: SimulatedWorld, kind: string, name: string): void {
  const key = { namespace: NAMESPACE, name }
  world.server.patch(world.typeOf(kind), key, { status: null }, { subresource: 'status' })
}

/** Restores a resource from a backup: with its spec, annotations and finalizers, but another uid and no status. */
export function recreate(world: SimulatedWorld, kind: string, name: string): void {
  const cr = world.get(kind, name)
  if (cr === undefined) throw new Error(`there is no ${kind}/${name}`)
  const { annotations, finalizers } = cr.metadata
  patch(world, kind, name, { metadata: { finalizers: [] } })
  world.delete(kind, name)
  world.apply(kind, name, { ...cr.spec }, { annotations, finalizers })
}
