import { type Case, CaseList } from '../support/case-list.ts'
import { leastOf } from '../support/size.ts'
import type { Episode } from './episodes.ts'
import { type PlayOptions, play, type Reference, referenceOf } from './play.ts'
import type { Laboratory } from './world.ts'

/** A case of a suite, and how it is played. */
export interface Planned extends PlayOptions {
  readonly episode: Episode
  readonly what: Case
}

/** References of episodes, each worked out once. */
export class References {
  readonly #laboratory: Laboratory
  readonly #known = new Map<Episode, Reference>()

  constructor(laboratory: Laboratory) {
    this.#laboratory = laboratory
  }

  async of(episode: Episode): Promise<Reference> {
    const reference = this.#known.get(episode) ?? (await referenceOf(this.#laboratory, episode))
    this.#known.set(episode, reference)
    return reference
  }
}

/**
 * Plays every case, and lists what came of it.
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
