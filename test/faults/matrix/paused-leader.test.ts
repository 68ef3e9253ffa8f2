import { test } from 'vitest'
import { type Episode, episodes } from '../simulation/episodes.ts'
import type { When } from '../simulation/faults.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { Laboratory, type SimulatedWorld } from '../simulation/world.ts'
import { numbered } from '../simulation/writes.ts'
import type { Case } from '../support/case-list.ts'
import { partOf, some } from '../support/size.ts'
import { type Cut, CutOff, OUTLIVES_THE_LEASE_MS, type Pause, Pauses } from './pauses/pauses.ts'

/** One leader and one standby. */
const REPLICAS = 2
const MOMENTS: readonly When[] = ['before', 'after']
/** Shorter than a leader may be silent; and longer than that, but shorter than the others wait. */
const SHORT_MS: readonly number[] = [5_000, 12_000]
/** During a pause that outlives the Lease, after another replica has taken over. */
const AMID_MS = 24_000
const CUT_MS = 40_000
/** By then the replica that woke has restarted and waited for the Lease. */
const LONGER_MS = 60_000

/** The episodes of life cycles, without those that create every possible spec. */
const lives = episodes.slice(0, 1 + episodes.findLastIndex(({ title }) => title.endsWith('/ delete')))

test('a leader that is stopped at any write and wakes while another one leads writes nothing more', async () => {
  const stage = await Stage.open()
  for (const episode of some(episodes, 12)) {
    await stage.atEveryWrite(episode, 'SIGSTOP beyond the Lease', (at, when) => [outliving(at, when)])
  }
  await stage.play('paused leader', 24, 200)
})

test('a leader that is stopped for a while, twice, or together with the standby leaves everything correct', {
  tags: 'nightly',
}, async () => {
  const stage = await Stage.open()
  for (const episode of some(lives.filter(isMadeOrDeleted), 6)) {
    for (const ms of SHORT_MS) {
      await stage.atEveryWrite(episode, `SIGSTOP for ${ms} ms`, (at, when) => [{ at, when, ms }])
    }
    await stage.atEveryWrite(episode, 'SIGSTOP of both', (at, when) => [{ at, when, ms: CUT_MS, othersMs: AMID_MS }])
    await stage.atEveryPair(episode)
  }
  await stage.play('paused leaders, otherwise', 24, 150)
})

test('a leader that is cut off from its Lease, from Kubernetes or from the API hands over or continues', async () => {
  const stage = await Stage.open()
  for (const episode of some(lives, 8)) {
    for (const from of ['lease', 'kubernetes', 'api'] as const) await stage.cutOff(episode, from)
  }
  await stage.play('leaders that are cut off', 16, 100)
})

test('a resource that is deleted while the leader sleeps leaves at most a reported orphan', async () => {
  const stage = await Stage.open()
  for (const episode of some(lives.filter(isMade), 6)) {
    const meanwhile = async (world: SimulatedWorld): Promise<void> => {
      await world.advance(AMID_MS)
      world.delete(episode.kind, episode.name)
    }
    await stage.atEveryWrite(
      episode,
      'SIGSTOP, deleted meanwhile',
      (at, when) => [outliving(at, when)],
      // Deletions after that had no owner: the remote object is left to people.
      { meanwhile, orphans: 1 },
    )
  }
  await stage.play('paused leaders, deleted meanwhile', 12, 30)
})

function isMade({ title }: Episode): boolean {
  return title.endsWith('/ create')
}

function isMadeOrDeleted(episode: Episode): boolean {
  return isMade(episode) || episode.title.endsWith('/ delete')
}

function outliving(at: number, when: When): Pause {
  return { at, when, ms: OUTLIVES_THE_LEASE_MS }
}

/** Collects cases and plays them. */
class Stage {
  readonly #laboratory: Laboratory
  readonly #references: References
  readonly #cases: Planned[] = []

  private constructor(laboratory: Laboratory) {
    this.#laboratory = laboratory
    this.#references = new References(laboratory)
  }

  static async open(): Promise<Stage> {
    return new Stage(await Laboratory.open())
  }

  /** Adds a case before and one after each write. */
  async atEveryWrite(
    episode: Episode,
    fault: string,
    pauses: (at: number, when: When) => readonly Pause[],
    options: Partial<Planned> | undefined = undefined,
  ): Promise<void> {
    const reference = await this.#references.of(episode, REPLICAS)
    for (const [at, write] of numbered(reference.writes).entries()) {
      for (const when of MOMENTS)
        this.#pause(episode, { write, point: when, fault }, pauses(at, when), options ?? { reference })
    }
  }

  /** Pauses the leader, and then the next leader at its first write. */
  async atEveryPair(episode: Episode): Promise<void> {
    const reference = await this.#references.of(episode, REPLICAS)
    for (const [at, write] of numbered(reference.writes).slice(0, -1).entries()) {
      for (const when of MOMENTS) {
        const what = { write, point: `${when}, then ${when}`, fault: 'SIGSTOP beyond the Lease, twice' }
        this.#pause(episode, what, [outliving(at, when), { at: at + 1, when, ms: LONGER_MS }], { reference })
      }
    }
  }

  #pause(episode: Episode, what: Case, pauses: readonly Pause[], options: Partial<Planned>): void {
    this.#cases.push({
      ...options,
      episode,
      what: { ...what, write: `${episode.title}: ${what.write}` },
      replicas: REPLICAS,
      trouble: (world) => new Pauses(world, pauses),
    })
  }

  /** From the first write on, and from before any write. */
  async cutOff(episode: Episode, from: Cut['from']): Promise<void> {
    const reference = await this.#references.of(episode, REPLICAS)
    for (const [when, at] of MOMENTS.flatMap(
      (each) =>
        [
          [each, undefined],
          [each, 0],
        ] as const,
    )) {
      const write = at === undefined ? 'every write' : (numbered(reference.writes)[at] ?? 'none')
      const what = { write: `${episode.title}: ${write}`, point: when, fault: `no answer from ${from}` }
      const cut: Cut = { ...(at === undefined ? {} : { at }), ms: CUT_MS, from, when }
      this.#cases.push({ episode, what, reference, replicas: REPLICAS, trouble: (world) => new CutOff(world, cut) })
    }
  }

  /**
   * Plays a quarter of them, or `few` in a short run; the full run must have at least `least`. Two replicas take twice
   * the time of one operator: the next runs play the others.
   */
  async play(suite: string, few: number, least: number): Promise<void> {
    await playAll(suite, this.#laboratory, some(partOf(this.#cases, 4), few), least)
  }
}
