import type { Spec } from '../../builders/schema-specs.ts'
import { type Case, CaseList } from '../support/case-list.ts'
import { leastOf } from '../support/size.ts'
import { FamilyWorld } from './family-world.ts'
import type { Fault } from './faults.ts'
import { differences } from './oracle.ts'
import type { Family } from './spec-families.ts'
import type { Laboratory } from './world.ts'
import { befalls } from './writes.ts'

/** A route through specs of a family, by index: from the first to the second, to the third, and back to the first. */
export type Way = readonly [first: number, second: number, third: number]

/** How the specs of a way follow each other. */
export interface Pace {
  readonly point: string
  readonly fault: string
  /** The fault of the writes after each change; undefined: none. */
  readonly hurt?: { readonly at: number; readonly fault: Fault }
  /** Each spec but the last is replaced once that many writes were sent for it; undefined: once it is at rest. */
  readonly afterWrites?: number
  /** No operator runs while one spec replaces another. */
  readonly isDown?: boolean
}

/** A route taken at a pace. */
export interface Walk {
  readonly family: Family
  readonly way: Way
  readonly pace: Pace
}

/** Longer than an undisturbed operator needs for one change: no more writes will come. */
const PATIENCE_MS = 3_000

/** Longer than the account's `resyncInterval` plus the delay of a late write. */
const LATE_MS = 80_000

/** The results of specs of families for a fresh resource in a quiet world; each computed once. */
class Fresh {
  readonly #laboratory: Laboratory
  readonly #known = new Map<string, unknown>()

  constructor(laboratory: Laboratory) {
    this.#laboratory = laboratory
  }

  async of(family: Family, number: number): Promise<unknown> {
    const key = `${family.title} ${number}`
    if (!this.#known.has(key)) this.#known.set(key, await this.#made(family, number))
    return this.#known.get(key)
  }

  async #made(family: Family, number: number): Promise<unknown> {
    const spec = family.specs[number] ?? {}
    const stage = await FamilyWorld.open(this.#laboratory, family, 500 + number)
    try {
      stage.apply(spec)
      const unrest = await stage.untilRest()
      if (unrest.length > 0) throw new Error(`${family.title}: ${unrest.join('\n')}\n${JSON.stringify(spec)}`)
      await stage.world.advance(1_000)
      return await stage.shown(spec)
    } finally {
      stage.world.down()
    }
  }
}

/** Takes every walk, and lists the result of each of its transitions. @throws Error naming those that failed */
export async function walkAll(
  suite: string,
  laboratory: Laboratory,
  walks: readonly Walk[],
  least: number,
): Promise<void> {
  const fresh = new Fresh(laboratory)
  const list = new CaseList(suite, 'simulation', { least: leastOf(least) })
  for (const [index, walk] of walks.entries()) {
    const problems = await walked(laboratory, walk, fresh, 1_000 + index)
    for (const what of transitions(walk)) list.add(what, problems)
  }
  await list.end()
}

function transitions({ family, way: [first, second, third], pace: { point, fault } }: Walk): readonly Case[] {
  const steps = [
    [first, second],
    [second, third],
    [third, first],
  ]
  return steps.map(([from, to]) => ({ write: `${family.title}: spec ${from} to ${to}`, point, fault }))
}

/** Violations on the way; empty if all is as if the last spec had been the only one. */
async function walked(laboratory: Laboratory, walk: Walk, fresh: Fresh, seed: number): Promise<readonly string[]> {
  const { family, way, pace } = walk
  const expected = new Map<number, unknown>()
  for (const number of way) expected.set(number, await fresh.of(family, number))
  const stage = await FamilyWorld.open(laboratory, family, seed)
  const { world } = stage
  try {
    const [first, ...others] = [...way, way[0]]
    stage.apply(family.specs[first] ?? {})
    const problems: string[] = [...(await stage.untilRest())]
    for (const [index, number] of others.entries()) {
      if (problems.length > 0) break
      const { hurt, afterWrites, isDown = false } = pace
      world.trouble = hurt === undefined ? { request: () => undefined } : befalls([hurt])
      stage.apply(family.specs[number] ?? {})
      if (isDown) world.up()
      const isLast = index === others.length - 1
      if (afterWrites !== undefined && !isLast) await stage.untilWrites(afterWrites, PATIENCE_MS)
      else {
        // A write that takes effect late may undo later changes: that is drift, corrected once observed.
        if (hurt?.fault.type === 'late') await world.advance(LATE_MS)
        problems.push(...(await restedAs(stage, family.specs[number] ?? {}, expected.get(number))))
      }
      if (isDown && !isLast) world.down()
    }
    world.calm()
    if (problems.length === 0) problems.push(...(await stage.judge()))
    if (problems.length === 0) {
      stage.deleteAll()
      problems.push(...(await stage.judge()))
    }
    return problems.length === 0 ? [] : [...problems, ...way.map((number) => short(family.specs[number]))]
  } finally {
    world.down()
  }
}

async function restedAs(stage: FamilyWorld, spec: Spec, expected: unknown): Promise<readonly string[]> {
  const unrest = await stage.untilRest()
  if (unrest.length > 0) return unrest
  // Follow-up work within the second after rest, such as removing unused objects, is part of it.
  await stage.world.advance(1_000)
  return differences(expected, await stage.shown(spec), 'the object')
}

/** In words for failure messages. */
function short(spec: Spec | undefined): string {
  return JSON.stringify(spec, (_key, value: unknown) => {
    return typeof value === 'string' && value.length > 200 ? `${value.slice(0, 20)}… (${value.length})` : value
  })
}
