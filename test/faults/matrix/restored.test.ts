import { test } from 'vitest'
import { backups } from '../simulation/restore/backups.ts'
import { clusters } from '../simulation/restore/clusters.ts'
import { copies } from '../simulation/restore/copies.ts'
import { keys } from '../simulation/restore/keys.ts'
import { stripped } from '../simulation/restore/stripped.ts'
import type { Trial } from '../simulation/restore/trial.ts'
import { exported, lostAmid, rollbacks } from '../simulation/restore/turns.ts'
import { Laboratory } from '../simulation/world.ts'
import { CaseList } from '../support/case-list.ts'
import { leastOf, some } from '../support/size.ts'
import { restoredAmidLists } from './restored-lists.ts'

/** Grouped by event. */
const groups: readonly (readonly Trial[])[] = [
  copies,
  backups,
  stripped,
  restoredAmidLists,
  rollbacks,
  lostAmid,
  exported,
  clusters,
  keys,
]

/** Number of each group in a short run. */
const FEW = 8

test('after a restore, a rollback, a copy, another account’s key, or next to another cluster, each resource has its own object only', async () => {
  const laboratory = await Laboratory.open()
  const list = new CaseList('restored', 'simulation', { least: leastOf(200) })
  for (const trials of groups) {
    for (const { what, run } of some(trials, FEW)) {
      const problems = await run(laboratory)
      if (problems !== undefined) list.add(what, problems)
    }
  }
  await list.end()
})
