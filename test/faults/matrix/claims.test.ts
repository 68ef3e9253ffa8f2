import { test } from 'vitest'
import { type Episode, episodes } from '../simulation/episodes.ts'
import type { Fault } from '../simulation/faults.ts'
import { type PlayOptions, play, type Reference, referenceOf } from '../simulation/play.ts'
import type { Planned } from '../simulation/suite.ts'
import { playMovedServices } from '../simulation/tunnels/services.ts'
import { Laboratory } from '../simulation/world.ts'
import { numbered } from '../simulation/writes.ts'
import { CaseList } from '../support/case-list.ts'
import { IS_WHOLE, leastOf, partOf, some } from '../support/size.ts'
import { dividedWorld, moveTo, OnlyClaimant } from './claims/divided.ts'
import { type Move, Moves } from './claims/stories.ts'

const divided: PlayOptions = { world: dividedWorld('red') }
/** The episodes of life cycles, without those that create every possible spec. */
const lives = episodes.slice(0, 1 + episodes.findLastIndex(({ title }) => title.endsWith('/ delete')))
const WHEN = ['before', 'after'] as const
/** The connection breaks, and the API carries the request out after another operator could have the account. */
const LATE: Fault = { type: 'late', ms: 3_000 }

test('an account moves at any write of any life cycle step, and everything is as if it had stayed', async () => {
  const stage = await Stage.open()
  for (const episode of some(lives, 12)) {
    await stage.atEveryWrite(episode, 'the label changes', (at, when) => ({ at, when, to: 'blue' }))
  }
  await stage.play('claims, accounts that move', 24, 150)
})

test('an account moves while a request of its former operator is still on its way', async () => {
  const stage = await Stage.open()
  for (const episode of some(lives, 16)) {
    await stage.atEveryWrite(
      episode,
      'the label changes, the write comes late',
      (at) => ({ at, when: 'before', to: 'blue', fault: LATE }),
      true,
    )
  }
  await stage.play('claims, late writes', 24, 30)
})

test('an account moves although either operator is killed at it', async () => {
  const stage = await Stage.open()
  for (const killed of ['former before', 'former after', 'next before', 'next after'] as const) {
    for (const episode of some(lives, 4)) {
      await stage.atEveryWrite(episode, `SIGKILL of the ${killed} its claim`, (at, when) => ({
        at,
        when,
        to: 'blue',
        killed,
      }))
    }
  }
  await stage.play('claims, killed at a move', 16, 100, 16)
})

test('an account that two operators select is taken over from one that dies permanently', async () => {
  const stage = await Stage.open()
  for (const episode of some(lives, 8)) {
    await stage.atEveryWrite(episode, 'SIGKILL permanently', (at, when) => ({
      at,
      when,
      to: 'both',
      killed: 'former, permanently',
    }))
  }
  await stage.play('claims, taken over from the dead', 12, 30, 8)
})

test('an account that comes back at once, or while it is handed over, is worked on again', async () => {
  const stage = await Stage.open()
  for (const backMs of [1, 8, 15, 40, 1_000]) {
    for (const episode of some(lives, 4)) {
      await stage.atEveryWrite(episode, `the label changes for ${backMs} ms`, (at, when) => ({
        at,
        when,
        to: 'blue',
        backMs,
      }))
    }
  }
  await stage.play('claims, accounts that come back', 16, 100, 16)
})

test('a Service stays restricted and complete while its account moves at any write', { tags: 'nightly' }, async () => {
  await playMovedServices('claims, Services', dividedWorld('red'), (world) => moveTo(world, 'blue'))
})

/** Collects cases and plays them. */
class Stage {
  readonly #laboratory: Laboratory
  readonly #references = new Map<Episode, Reference>()
  readonly #cases: Planned[] = []

  private constructor(laboratory: Laboratory) {
    this.#laboratory = laboratory
  }

  static async open(): Promise<Stage> {
    return new Stage(await Laboratory.open())
  }

  /** Adds a case for each write and moment. @param isApiOnly leaves out writes to Kubernetes */
  async atEveryWrite(
    episode: Episode,
    fault: string,
    move: (at: number, when: Move['when']) => Omit<Move, 'next'>,
    isApiOnly = false,
  ): Promise<void> {
    const reference = await this.#referenceOf(episode)
    for (const [at, write] of numbered(reference.writes).entries()) {
      // A late POST makes the most trouble: only lists show what it made.
      if (isApiOnly && !write.startsWith(IS_WHOLE ? 'api ' : 'api POST')) continue
      for (const when of isApiOnly ? (['before'] as const) : WHEN) {
        const { to, ...rest } = move(at, when)
        const next = rest.backMs === undefined ? 'blue' : 'red'
        this.#cases.push({
          ...divided,
          episode,
          reference,
          what: { write: `${episode.title}: ${write}`, point: when, fault },
          trouble: (world) => new OnlyClaimant(world, new Moves(world, { ...rest, to, next })),
          meanwhile: (world) => Moves.untilMoved(world, next, rest.backMs),
        })
      }
    }
  }

  /** Plays a part of them in each run: two operators take twice the time of one. */
  async play(suite: string, few: number, least: number, parts = 4): Promise<void> {
    const list = new CaseList(suite, 'simulation', { least: leastOf(least) })
    for (const { what, episode, ...options } of some(partOf(this.#cases, parts), few)) {
      const { problems } = await play(this.#laboratory, episode, options)
      list.add(what, problems)
    }
    await list.end()
  }

  async #referenceOf(episode: Episode): Promise<Reference> {
    const known = this.#references.get(episode)
    if (known !== undefined) return known
    const made = await referenceOf(this.#laboratory, episode, 0, (options) => ({ ...options, ...divided }))
    this.#references.set(episode, made)
    return made
  }
}
