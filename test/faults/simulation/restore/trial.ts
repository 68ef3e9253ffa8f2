import { type Case, CaseList } from '../../support/case-list.ts'
import { leastOf } from '../../support/size.ts'
import { Laboratory } from '../world.ts'

/** A case that brings a life of its own, and how it is tried: what was wrong, or undefined where there is no such moment. */
export interface Trial {
  readonly what: Case
  readonly run: (laboratory: Laboratory) => Promise<readonly string[] | undefined>
}

/**
 * Plays the trials as a suite, those that have no such moment left out.
 * @param least fewer cases than this are a failure when the whole matrix is run
 * @throws Error naming the cases that failed
 */
export async function tryAll(suite: string, trials: readonly Trial[], least: number): Promise<void> {
  const laboratory = await Laboratory.open()
  const list = new CaseList(suite, 'simulation', { least: leastOf(least) })
  for (const { what, run } of trials) {
    const problems = await run(laboratory)
    if (problems !== undefined) list.add(what, problems)
  }
  await list.end()
}

/** One of so many, from all over. Prime to how they are ordered, so that each of everything is among them. */
export function oneOf(count: number, trials: readonly Trial[]): readonly Trial[] {
  return trials.filter((_, index) => index % count === 0)
}
