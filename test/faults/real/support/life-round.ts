import type { FaultMatch } from '../../../../src/emulator/faults/fault-spec.ts'
import type { JournalEntry } from '../../../../src/emulator/http/journal.ts'
import { managed } from '../../../cluster/support/cases.ts'
import { LaneFinder } from '../../../cluster/support/priorities.ts'
import { until } from '../../../cluster/support/wait.ts'
import type { Resource, World } from '../../../cluster/support/world.ts'
import type { Case } from '../../support/case-list.ts'
import type { ListTrouble, Trouble } from './api-troubles.ts'
import { type Act, after, type Life, type Living, living } from './lives.ts'
import type { Made } from './made.ts'

/** A life with the current state of its resource. */
interface Lived {
  readonly life: Life
  now: Living
  gone: boolean
}

/** A resource that takes part in an act, with its CR before the act. */
interface Taking {
  readonly lived: Lived
  readonly act: Act
  readonly cr: Resource | undefined
}

/** Selects some of the resources, by number. */
type Part = (index: number) => boolean
const everyOne: Part = () => true

/** The outcome of the request stays unknown. */
const LOST = { type: 'commit-then-drop' } as const

/** One resource of each life; all go through the acts together. */
export class LifeRound {
  readonly #world: World
  readonly #made: Made
  readonly #lived: readonly Lived[]
  readonly #finder: LaneFinder

  constructor(world: World, made: Made, lives: readonly Life[], suffix: string) {
    this.#world = world
    this.#made = made
    this.#lived = lives.map((life) => ({ life, now: living(life, `${life.name}-${suffix}`), gone: false }))
    this.#finder = new LaneFinder(world)
  }

  /** The existing resources, in their wanted state. */
  get subjects(): readonly Living[] {
    return this.#lived.filter(({ gone }) => !gone).map(({ now }) => now)
  }

  /** Names of all acts, in the order of the lives. */
  get acts(): readonly string[] {
    const names = this.#lived.flatMap(({ life }) => life.acts.map(({ name }) => name))
    // Every life ends with a deletion.
    return [...new Set(names.filter((name) => name !== 'delete')), 'delete']
  }

  /** Creates the dependencies of the resources. */
  async begin(): Promise<void> {
    const needs = this.#lived.flatMap(({ life, now }) => life.needs(now.specName))
    for (const need of needs) await this.#made.apply(need)
    for (const { kind, name } of needs) await this.#world.ready(kind, name, 120_000)
  }

  /**
   * Every resource that has this act goes through it, while the first write that it sends for each object meets the
   * fault.
   * @param part which of the resources, by number, take part. Default: all. @param among which of these meet the fault.
   * @returns the writes that met it
   */
  async live(
    name: string,
    { act: fault, ...trouble }: Trouble,
    part: Part = everyOne,
    among: Part = everyOne,
  ): Promise<readonly Case[]> {
    const { admin } = this.#world.emulator
    const all = (await this.#taking(name)).filter((_taking, index) => part(index))
    const met = all.filter((_taking, index) => among(index))
    await this.#harm(all)
    const mark = this.#world.mark()
    const matches = grouped(met.flatMap(({ lived, act, cr }) => matchesOf(lived.now, act, cr)))
    const faults = new Set(matches.map((match) => admin.addFault({ match, act: fault }).id))
    await this.#begin(all)
    await this.#untilOver(all)
    for (const id of faults) admin.deleteFault(id)
    this.#finish(all)
    const hits = this.#world.journal(mark).filter((entry) => entry.fault !== null && faults.has(entry.fault))
    return hits.flatMap((hit) => {
      const told = this.#tell(hit, all)
      return told === undefined ? [] : [{ write: writeOf(told.life, name, told.sort), ...trouble }]
    })
  }

  /**
   * The same while the lists of the resources' collections meet a fault: those that check the outcome of a create, or
   * those of a resync of the account that must find the change made by hand.
   */
  async liveWithLists(name: string, { act, fault, ...nth }: ListTrouble): Promise<readonly Case[]> {
    const { admin } = this.#world.emulator
    const all = await this.#taking(name)
    await this.#harm(all)
    const paths = [...new Set(all.map(({ lived }) => `/${lived.now.path}`))]
    const isCreated = all.some((taking) => taking.act.begin === undefined)
    const lost = isCreated ? paths.map((path) => ({ match: { method: 'POST', path }, act: LOST })) : []
    const faults = new Map(
      paths.map((path) => [path, admin.addFault({ match: { method: 'GET', path, ...nth }, act }).id]),
    )
    const others = lost.map((spec) => admin.addFault(spec).id)
    if (isCreated) {
      await this.#begin(all)
      await this.#untilOver(all)
    } else await this.#world.resync()
    const met = all.filter(({ lived }) => admin.fault(faults.get(`/${lived.now.path}`) ?? '').hits > 0)
    for (const id of [...faults.values(), ...others]) admin.deleteFault(id)
    if (!isCreated) {
      // The lists now show what they did not during the fault.
      await this.#world.resync()
      await this.#begin(all)
      await this.#untilOver(all)
    }
    this.#finish(all)
    return met.map(({ lived: { life, now } }) => ({
      write: writeOf(life, name, `API GET /${now.path}`),
      point: 'list',
      fault,
    }))
  }

  /** Deletes the dependencies of the resources. */
  async end(): Promise<void> {
    const needs = this.#lived.flatMap(({ life, now }) => life.needs(now.specName)).toReversed()
    for (const { kind, name } of needs) await this.#world.delete(kind, name)
    for (const { kind, name } of needs) await this.#world.gone(kind, name, 60_000)
  }

  /**
   * Whose write it was. A body that was not read says nothing: then the write is counted for the resource whose objects
   * are created there.
   */
  #tell(
    { method, path, query, body }: JournalEntry,
    all: readonly Taking[],
  ): { readonly life: Life; readonly sort: string } | undefined {
    const text = body === null ? '' : JSON.stringify(body)
    const { priority, sort } = this.#finder.atApi({ method, path, query: new URLSearchParams(query), body: text }, '')
    const one = all.find(({ lived: { now } }) => (priority === '' ? `/${now.path}` === path : now.name === priority))
    return one === undefined ? undefined : { life: one.lived.life, sort }
  }

  /** The resources that have the act, in their state before it. */
  async #taking(name: string): Promise<readonly Taking[]> {
    const crs = new Map((await this.#crs()).map((cr) => [cr.metadata.name, cr]))
    return this.#lived.flatMap((lived) => {
      const act = lived.life.acts.find((each) => each.name === name)
      return act === undefined ? [] : [{ lived, act, cr: crs.get(lived.now.name) }]
    })
  }

  async #harm(all: readonly Taking[]): Promise<void> {
    for (const { lived, act, cr } of all) if (cr !== undefined) await act.harm?.(this.#world, lived.now, cr)
  }

  async #begin(all: readonly Taking[]): Promise<void> {
    const each = async ({ lived: { now }, act, cr }: Taking): Promise<void> => {
      if (act.begin === undefined) return this.#made.apply(now)
      if (cr === undefined) throw new Error(`${now.kind}/${now.name} is not there`)
      if (act.makesAnother) this.#made.another(now.kind)
      await act.begin(this.#world, now, cr)
    }
    await Promise.all(all.map(each))
  }

  async #untilOver(all: readonly Taking[]): Promise<void> {
    const left = async () => {
      const byName = new Map((await this.#crs()).map((now) => [now.metadata.name, now]))
      return all.filter(({ lived, act, cr }) => !act.isOver(byName.get(lived.now.name), cr?.status?.id))
    }
    const describe = async (): Promise<unknown> => {
      const names = (await left()).map(({ lived }) => lived.now.name)
      const crs = (await this.#crs()).filter(({ metadata }) => names.includes(metadata.name))
      return [names, crs.slice(0, 3), this.#world.operator.log.split('\n').slice(-30)]
    }
    const isOver = async (): Promise<boolean> => (await left()).length === 0
    await until('every resource is through the act', isOver, { timeoutMs: 240_000, describe })
  }

  #finish(all: readonly Taking[]): void {
    for (const { lived, act } of all) {
      const next = after(lived.now, act)
      if (next === undefined) lived.gone = true
      else lived.now = next
    }
  }

  async #crs(): Promise<readonly Resource[]> {
    const kinds = [...new Set(this.#lived.map(({ now }) => now.kind))]
    return (await Promise.all(kinds.map((kind) => this.#world.list(kind)))).flat()
  }
}

function writeOf(life: Life, act: string, sort: string): string {
  return `${life.kind} ${life.title} / ${act} / ${sort}`
}

/** Path of the collection that holds the parts of the kind's objects. */
function childrenOf(kind: string): string | undefined {
  return managed.find(({ definition }) => definition.kind === kind)?.children?.collection.path
}

/** The first write of each sort that the act causes. @param cr as before the act */
function matchesOf({ kind, path }: Living, act: Act, cr: Resource | undefined): readonly FaultMatch[] {
  const children = childrenOf(kind)
  const own = `/${path}/${cr?.status?.id}`
  const isMade = act.begin === undefined || act.makesAnother
  const creates = isMade ? [path, ...(children === undefined ? [] : [children])] : []
  const made = creates.map((collection) => ({ method: 'POST', path: `/${collection}` }))
  if (act.rules !== undefined && children !== undefined) {
    const each = ['PATCH', 'DELETE'].map((method) => ({ method, path: `/${children}/*` }))
    return [{ method: 'POST', path: `/${children}` }, ...each]
  }
  if (isMade)
    return act.begin === undefined || act.harm !== undefined ? made : [...made, { method: 'DELETE', path: own }]
  const isDeleted = act.isOver(undefined, undefined)
  return [{ method: isDeleted ? 'DELETE' : 'PATCH', path: own }]
}

/** Each match once, for as many requests as it occurs. */
function grouped(matches: readonly FaultMatch[]): readonly FaultMatch[] {
  const groups = Map.groupBy(matches, ({ method, path }) => `${method} ${path}`)
  return [...groups.values()].map((same) => ({ ...same[0], times: same.length }))
}
