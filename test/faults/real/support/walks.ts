import { isAtRest, shared } from '../../../cluster/support/journeys.ts'
import type { Stage } from '../../../cluster/support/stage.ts'
import type { Stop } from '../../../cluster/support/stops.ts'
import { until } from '../../../cluster/support/wait.ts'
import type { Resource, World } from '../../../cluster/support/world.ts'
import type { Case } from '../../support/case-list.ts'
import { type Act, after, type Life, type Living, living } from './lives.ts'
import type { Made } from './made.ts'

/** A point in a life at which to kill the operator. */
export interface Aim {
  readonly life: Life
  readonly act: Act
  /** Which of the act's writes, from 1. */
  readonly number: number
  readonly stop: Stop
}

/** On a busy machine a resource sometimes goes another way: each is tried this often, each time with another name. */
const TRIES = 3
/**
 * Resources of each act that are recorded: a write seen only once is discarded, and a resource that went another way is
 * outvoted.
 */
const WITNESSES = 3
const SETTLED_MS = 240_000
/** Far more than three attempts take on a busy machine. Resources at their stops wait for the others meanwhile. */
const REACH_MS = 120_000
const WHENS: readonly Stop['when'][] = ['before', 'after', 'answered']

/** The list entry of an aim's case. */
export function caseOf({ life, act, number, stop }: Aim): Case {
  const write = `${life.kind} ${life.title} / ${act.name} / ${stop.request} (write ${number})`
  return { write, point: stop.when, fault: 'SIGKILL' }
}

/**
 * Goes through each act undisturbed, and numbers the operator's writes: stops before, after and once answered for each.
 */
export async function record(stage: Stage, made: Made, lives: readonly Life[]): Promise<readonly Aim[]> {
  const { stops } = stage
  const ways = lives.flatMap((life) => life.acts.map((act, at) => ({ life, act, at })))
  const witnesses = ways.flatMap(({ life, act, at }) => {
    return Array.from({ length: WITNESSES }, (_, index) => {
      return new Walk(stage, made, { life, act, number: 0, stop: undefined }, `${life.name}-${at}-${index}`)
    })
  })
  await Promise.all(witnesses.map((walk) => walk.begin()))
  await settle(stage.world, witnesses, (walk, cr) => walk.isMade(cr))
  const aims: Aim[] = []
  const note = (which: (act: Act) => boolean): void => {
    for (const { life, act } of ways.filter((way) => which(way.act))) {
      const own = witnesses.filter(({ aim }) => aim.life === life && aim.act === act)
      const passed = shared(own.flatMap(({ name }) => stops.passed(name))).filter(({ when }) => when === 'after')
      aims.push(
        ...passed.flatMap((stop, index) =>
          WHENS.map((when) => ({ life, act, number: index + 1, stop: { ...stop, when } })),
        ),
      )
    }
    stops.mark()
  }
  note(({ begin }) => begin === undefined)
  await settle(stage.world, witnesses, (walk, cr) => walk.act(cr))
  await settle(stage.world, witnesses, (walk, cr) => walk.isOver(cr))
  note(({ begin }) => begin !== undefined)
  await leave(stage.world, witnesses)
  return aims
}

/**
 * Takes a resource to each aim. One that does not reach its stop in time counts as having gone another way. @returns
 * those at their stops
 */
export async function bring(walks: readonly Walk[], world: World): Promise<readonly Walk[]> {
  await Promise.all(walks.map((walk) => walk.begin()))
  const { left } = await settled(world, walks, (walk, cr) => walk.step(cr), REACH_MS)
  for (const walk of left) walk.giveUp()
  return walks.filter(({ isThere }) => isThere)
}

type Look = (walk: Walk, cr: Resource | undefined) => boolean | Promise<boolean>

/**
 * Waits until each walk accepts its CR, and does not ask it again afterwards. @throws Error naming those that do not in
 * time
 */
async function settle(world: World, walks: readonly Walk[], look: Look): Promise<void> {
  const { why } = await settled(world, walks, look)
  if (why !== undefined) throw why
}

/** The same; returns those that have not finished in time, and their state. */
export async function settled(
  world: World,
  walks: readonly Walk[],
  look: Look,
  timeoutMs: number = SETTLED_MS,
): Promise<{ readonly left: readonly Walk[]; readonly why?: Error }> {
  const open = new Set(walks)
  const all = async (): Promise<boolean> => {
    const kinds = [...new Set([...open].map(({ aim }) => aim.life.kind))]
    const crs = (await Promise.all(kinds.map((kind) => world.list(kind)))).flat()
    const byName = new Map(crs.map((cr) => [cr.metadata.name, cr]))
    for (const walk of [...open]) if (await look(walk, byName.get(walk.name))) open.delete(walk)
    return open.size === 0
  }
  const describe = async (): Promise<unknown> => {
    const left = [...open]
    const crs = await Promise.all(left.slice(0, 3).map(({ name, aim }) => world.get(aim.life.kind, name)))
    return [left.map(({ name, aim }) => [name, aim.act.name, aim.stop]), crs, world.operator.log.split('\n').slice(-30)]
  }
  try {
    await until('every resource is that far', all, { timeoutMs, describe })
    return { left: [] }
  } catch (error) {
    // A failed request to a server concerns all of them.
    if (open.size === 0 || !(error instanceof Error)) throw error
    return { left: [...open], why: error }
  }
}

/** Deletes the walks' CRs and their dependencies, and waits until they are gone. */
export async function leave(world: World, walks: readonly Walk[]): Promise<void> {
  const all = walks.flatMap((walk) => walk.applied)
  await Promise.all(all.map(({ kind, name }) => world.delete(kind, name).catch(() => undefined)))
  const kinds = [...new Set(all.map(({ kind }) => kind))]
  const names = new Set(all.map(({ kind, name }) => `${kind}/${name}`))
  const left = async (): Promise<readonly Resource[]> => {
    const crs = (await Promise.all(kinds.map((kind) => world.list(kind)))).flat()
    return crs.filter(({ kind, metadata }) => names.has(`${kind}/${metadata.name}`))
  }
  const describe = async (): Promise<unknown> => [(await left()).slice(0, 3), world.operator.log.split('\n').slice(-30)]
  await until('every resource is gone', async () => (await left()).length === 0, { timeoutMs: 240_000, describe })
}

/** A resource on its way through an act to its stop. */
export class Walk {
  readonly aim: Omit<Aim, 'stop'> & { readonly stop: Stop | undefined }
  /** Everything applied for it, including earlier attempts. */
  readonly applied: { readonly kind: string; readonly name: string }[] = []
  readonly #stage: Stage
  readonly #made: Made
  readonly #base: string
  #tries = 0
  #state: 'made' | 'acted' | 'there' | 'missed' = 'made'
  #living: Living
  #former: unknown

  constructor(stage: Stage, made: Made, aim: Walk['aim'], base: string) {
    this.#stage = stage
    this.#made = made
    this.aim = aim
    this.#base = base
    this.#living = living(aim.life, base)
  }

  get name(): string {
    return this.#living.name
  }

  /** Whether it is at its stop. */
  get isThere(): boolean {
    return this.#state === 'there'
  }

  /** The resource's wanted state after the act; undefined if it should be gone. */
  get comesTo(): Living | undefined {
    return after(this.#living, this.aim.act)
  }

  /** Creates the resource's dependencies and then the resource, with a new name. */
  async begin(): Promise<void> {
    const { life, act, stop } = this.aim
    const { world, stops } = this.#stage
    this.#living = living(life, `${this.#base}-${++this.#tries}`)
    const needs = life.needs(this.name)
    for (const need of needs) await this.#made.apply(need)
    this.applied.push(...needs, this.#living)
    for (const { kind, name } of needs) await world.ready(kind, name, 120_000)
    this.#state = act.begin === undefined ? 'acted' : 'made'
    if (act.begin === undefined && stop !== undefined) stops.arm(this.name, stop)
    await this.#made.apply(this.#living)
  }

  /** Whether the CR has been created and is at rest. */
  isMade(cr: Resource | undefined): boolean {
    return cr !== undefined && isAtRest(cr)
  }

  /** Starts the act once the CR is at rest. */
  async act(cr: Resource | undefined): Promise<boolean> {
    const { act, stop } = this.aim
    if (this.#state !== 'made') return true
    if (cr === undefined || !this.isMade(cr)) return false
    this.#former = cr.status?.id
    this.#state = 'acted'
    if (stop !== undefined) this.#stage.stops.arm(this.name, stop)
    if (act.makesAnother) this.#made.another(cr.kind)
    await act.harm?.(this.#stage.world, this.#living, cr)
    await act.begin?.(this.#stage.world, this.#living, cr)
    return true
  }

  /** Whether the operator has finished the act. */
  isOver(cr: Resource | undefined): boolean {
    return this.aim.act.isOver(cr, this.#former)
  }

  /** Cancels its stop. */
  giveUp(): void {
    this.#stage.stops.release(this.name)
    this.#state = 'missed'
  }

  /** Continues towards the stop. Whether it exists, or has missed it as often as it may. */
  async step(cr: Resource | undefined): Promise<boolean> {
    const { stops } = this.#stage
    if (this.#state === 'made') {
      await this.act(cr)
      return false
    }
    const reached = stops.reached(this.name)
    const passed = this.isOver(cr)
    // Nothing need follow the last answer of an act.
    if (reached || (passed && this.aim.stop?.when === 'answered' && stops.isMet(this.name))) {
      this.#state = 'there'
      return true
    }
    const isLost = stops.isLost(this.name)
    if (!isLost && (!passed || stops.isMet(this.name))) return false
    this.giveUp()
    if (this.#tries === TRIES) return true
    await this.begin()
    return false
  }
}
