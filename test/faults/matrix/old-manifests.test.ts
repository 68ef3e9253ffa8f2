import { test } from 'vitest'
import { manifests } from '../simulation/restore/manifests.ts'
import { overlaps } from '../simulation/restore/overlaps.ts'
import type { Trial } from '../simulation/restore/trial.ts'
import { Laboratory } from '../simulation/world.ts'
import { CaseList } from '../support/case-list.ts'
import { leastOf, some } from '../support/size.ts'

/** One of so many pairs of moments, which are thousands: prime to how they are ordered. */
const ONE_OF = 3

/** Plays the trials, those that have no such moment left out. */
async function tryAll(suite: string, trials: readonly Trial[], least: number): Promise<void> {
  const laboratory = await Laboratory.open()
  const list = new CaseList(suite, 'simulation', { least: leastOf(least) })
  for (const { what, run } of trials) {
    const problems = await run(laboratory)
    if (problems !== undefined) list.add(what, problems)
  }
  await list.end()
}

test('annotations of before a replacement come back while the former object stays: both stay, and no third is made', async () => {
  await tryAll('old manifests in an overlap', some(overlaps, 18), 18)
})

test('a manifest of any earlier moment is applied at any later one, while nothing is at rest', async () => {
  await tryAll('old manifests', some(manifests.filter((_, index) => index % ONE_OF === 0), 60), 1_000)
})
