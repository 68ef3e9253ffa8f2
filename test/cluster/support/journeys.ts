import type { Stage } from './stage.ts'
import type { Stop } from './stops.ts'
import { until } from './wait.ts'
import { conditionOf, type Resource, type World } from './world.ts'

type Fields = Record<string, unknown>

/** A resource to create, and what then causes the replacement of its object. */
export interface Story {
  readonly name: string
  readonly kind: string
  readonly spec: Fields
  readonly change?: Change
}

interface Change {
  readonly spec?: Fields
  readonly annotations?: Readonly<Record<string, string>>
  /** Whether a resource at rest meets the precondition. Default: always. */
  isRipe?(cr: Resource): boolean
}

/** Where to stop a resource of the story, on its way to its first object or to the next. */
export interface Aim {
  readonly story: Story
  readonly phase: 'create' | 'change'
  readonly stop: Stop
}

/** On a busy machine a resource sometimes goes another way: each is tried this often, each time with another name. */
const TRIES = 4
/** Resources of each story that are recorded; a write seen only once is discarded. */
const WITNESSES = 3

/**
 * The aims of the stories: the writes of undisturbed resources. At a read the state is the same as after the write
 * before it.
 */
export async function aimsOf({ world, stops }: Stage, stories: readonly Story[]): Promise<readonly Aim[]> {
  const all = stories.flatMap((story) => {
    return Array.from({ length: WITNESSES }, (_, index) => ({ story, name: `${story.name}-witness-${index}` }))
  })
  const aims: Aim[] = []
  const note = (phase: Aim['phase']): void => {
    for (const story of stories) {
      const passed = all.filter((each) => each.story === story).flatMap(({ name }) => stops.passed(name))
      aims.push(...shared(passed).map((stop) => ({ story, phase, stop })))
    }
    stops.mark()
  }
  for (const { story, name } of all) await world.apply(story.kind, name, story.spec)
  const former = new Map<string, unknown>()
  for (const { story, name } of all)
    former.set(name, (await world.until(story.kind, name, 'rests', isAtRest)).status?.id)
  note('create')
  const changed = all.filter(({ story }) => story.change !== undefined)
  for (const { story, name } of changed) {
    await world.until(story.kind, name, 'is ripe', (cr) => isRipe(story, cr))
    await change(world, story, name)
  }
  for (const { story, name } of changed) {
    const isOther = (cr: Resource): boolean => isAtRest(cr) && cr.status?.id !== former.get(name)
    await world.until(story.kind, name, 'rests with another object', isOther)
  }
  note('change')
  for (const { story, name } of all) await world.delete(story.kind, name)
  return aims
}

/** The writes among the stops that more than one resource has passed. */
export function shared(passed: readonly Stop[]): readonly Stop[] {
  const counts = new Map<string, { readonly stop: Stop; count: number }>()
  for (const stop of passed) {
    const key = `${stop.when} ${stop.request}`
    const known = counts.get(key) ?? { stop, count: 0 }
    counts.set(key, { stop, count: known.count + 1 })
  }
  return [...counts.values()].filter(({ stop, count }) => stop.isWrite && count > 1).map(({ stop }) => stop)
}

async function change(world: World, { kind, change: { spec, annotations } = {} }: Story, name: string): Promise<void> {
  if (spec !== undefined) await world.apply(kind, name, spec)
  if (annotations !== undefined) await world.annotate(kind, name, annotations)
}

function isRipe({ change }: Story, cr: Resource): boolean {
  return change?.isRipe?.(cr) ?? true
}

/** Whether it is Ready and Synced for its current spec, without a former object next to it. */
export function isAtRest(cr: Resource): boolean {
  const isMet = ['Ready', 'Synced'].every((type) => {
    const condition = conditionOf(cr, type)
    return condition?.status === 'True' && condition.observedGeneration === cr.metadata.generation
  })
  return isMet && cr.status?.internal?.superseded === undefined
}

/** A resource on its way to its stop. */
export class Journey {
  readonly aim: Aim
  readonly #stage: Stage
  readonly #base: string
  readonly #stuck: boolean
  #tries = 0
  #name = ''
  #state: 'made' | 'changed' | 'there' | 'missed' = 'missed'
  #former: unknown

  constructor(stage: Stage, aim: Aim, base: string, stuck: boolean) {
    this.#stage = stage
    this.aim = aim
    this.#base = base
    this.#stuck = stuck
  }

  get name(): string {
    return this.#name
  }

  get isThere(): boolean {
    return this.#state === 'there'
  }

  /** Whether it is at its stop, or has missed it as often as it may. */
  get isOver(): boolean {
    return this.isThere || this.#state === 'missed'
  }

  /** Creates the resource, with a new name. */
  async begin(): Promise<void> {
    const { story, phase, stop } = this.aim
    this.#name = `${this.#base}-${++this.#tries}`
    this.#state = 'made'
    if (phase === 'create') this.#stage.stops.arm(this.#name, stop)
    await this.#stage.world.apply(story.kind, this.#name, story.spec)
  }

  /** @param crs the resources' state a moment ago, by name. */
  async step(crs: ReadonlyMap<string, Resource>): Promise<void> {
    const { aim, name } = this
    const { stops, world } = this.#stage
    if (this.isOver) return
    if (stops.reached(name, this.#stuck)) {
      this.#state = 'there'
      return
    }
    const cr = crs.get(name)
    if (cr === undefined || !isAtRest(cr)) return
    if (aim.phase === 'change' && this.#state === 'made') {
      if (!isRipe(aim.story, cr)) return
      this.#former = cr.status?.id
      this.#state = 'changed'
      stops.arm(name, aim.stop)
      return change(world, aim.story, name)
    }
    if (stops.isMet(name) || (aim.phase === 'change' && cr.status?.id === this.#former)) return
    // It has missed its stop.
    stops.release(name)
    await world.delete(aim.story.kind, name)
    this.#state = 'missed'
    if (this.#tries < TRIES) await this.begin()
  }
}

/** How many resources are stopped at once. */
export interface Room {
  readonly atKube: number
  readonly atApi: number
}

/** A held request keeps its slot among the operator's 20 in flight at the apiserver, or 8 at an account. */
const ROOM: Room = { atKube: 14, atApi: 6 }

/**
 * Parts of the aims, each small enough for the operator to continue while all of them are held. @param room the size of
 * a part.
 */
export function wavesOf<Stopped extends Pick<Aim, 'stop'>>(
  aims: readonly Stopped[],
  room: Room = ROOM,
): readonly (readonly Stopped[])[] {
  const waves: Stopped[][] = []
  const parts = [
    { of: aims.filter(({ stop }) => !isAtApi(stop)), room: room.atKube },
    { of: aims.filter(({ stop }) => isAtApi(stop)), room: room.atApi },
  ]
  for (const { of, room } of parts) {
    const count = Math.ceil(of.length / room)
    // Neighbours in one story are separated, so that similar ones run at different times.
    for (const [index, aim] of of.entries()) {
      const wave = waves[index % count] ?? []
      wave.push(aim)
      waves[index % count] = wave
    }
  }
  return waves
}

export function isAtApi({ sort }: Stop): boolean {
  return sort.startsWith('API ')
}

/**
 * Takes a resource to each aim. @param how part of their names. @param stuck whether the operator should have given up
 * the request at which it is stopped.
 * @returns those at their stops
 */
export async function bring(
  stage: Stage,
  how: string,
  aims: readonly Aim[],
  stuck = false,
): Promise<readonly Journey[]> {
  const { world } = stage
  const all = aims.map((aim, index) => new Journey(stage, aim, `${aim.story.name}-${how}-${index}`, stuck))
  for (const journey of all) await journey.begin()
  const kinds = [...new Set(aims.map(({ story }) => story.kind))]
  const look = async (): Promise<boolean> => {
    const crs = (await Promise.all(kinds.map((kind) => world.list(kind)))).flat()
    const byName = new Map(crs.map((cr) => [cr.metadata.name, cr]))
    for (const journey of all) await journey.step(byName)
    return all.every(({ isOver }) => isOver)
  }
  const describe = async (): Promise<unknown> => {
    const open = all.filter(({ isOver }) => !isOver)
    const crs = await Promise.all(open.slice(0, 3).map(({ name, aim }) => world.get(aim.story.kind, name)))
    return [open.map(({ name, aim }) => [name, aim.phase, aim.stop]), crs, world.operator.log.split('\n').slice(-30)]
  }
  await until('every resource has reached its stop', look, { timeoutMs: 120_000, describe })
  return all.filter(({ isThere }) => isThere)
}

/** Aims that no journey has reached: the request counts and its stage, rather than the way there. */
export function notShown(aims: readonly Aim[], journeys: readonly Journey[]): readonly string[] {
  const shown = new Set(journeys.map(({ aim }) => textOf(aim)))
  return [...new Set(aims.map(textOf))].filter((text) => !shown.has(text))
}

function textOf({ story, phase, stop }: Aim): string {
  return `${story.name} during ${phase}: ${stop.when} ${stop.sort}`
}
