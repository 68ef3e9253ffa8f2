import { type Case, CaseList } from '../support/case-list.ts'
import { leastOf } from '../support/size.ts'
import type { Episode } from './episodes.ts'
import { type PlayOptions, play, type Reference, referenceOf } from './play.ts'
import type { Laboratory } from './world.ts'

/** A case of a suite, and how to play it. */
export interface Planned extends PlayOptions {
  readonly episode: Episode
  readonly what: Case
}

/** References of episodes, each computed once for each number of replicas. */
export class References {
  readonly #laboratory: Laboratory
  readonly #known = new Map<number, Map<Episode, Reference>>()

  constructor(laboratory: Laboratory) {
    this.#laboratory = laboratory
  }

  /** @param replicas as in the cases: more processes draw more random values */
  async of(episode: Episode, replicas: number = 0): Promise<Reference> {
    const known = this.#known.get(replicas) ?? new Map<Episode, Reference>()
    this.#known.set(replicas, known)
    const reference = known.get(episode) ?? (await referenceOf(this.#laboratory, episode, replicas))
    known.set(episode, reference)
    return reference
  }
}

/**
 * Plays every case, and lists the results.
 * @param least fewer cases than this are a failure when the whole matrix is run
 * @throws Error naming the cases that failed
 */
export async function playAll(
  suite: string,
  laboratory: Laboratory,
  cases: readonly Planned[],
  least: number,
): Promise<void> {
  const list = new CaseList(suite, 'simulation', { least: leastOf(least) })
  for (const { what, episode, ...options } of cases) {
    const { problems } = await play(laboratory, episode, options)
    list.add(what, problems)
  }
  await list.end()
}
