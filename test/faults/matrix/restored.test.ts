import { test } from 'vitest'
import { backups } from '../simulation/restore/backups.ts'
import type { Trial } from '../simulation/restore/trial.ts'
import { exported, lostAmid, rollbacks } from '../simulation/restore/turns.ts'
import { Laboratory } from '../simulation/world.ts'
import { CaseList } from '../support/case-list.ts'
import { IS_WHOLE, some } from '../support/size.ts'

const groups: readonly (readonly Trial[])[] = [backups, rollbacks, lostAmid, exported]

test('restored, rolled back, copied, with another account’s key, or beside another cluster: each resource has its own object, and no other', async () => {
  const laboratory = await Laboratory.open()
  const list = new CaseList('restored', 'simulation', { least: IS_WHOLE ? 200 : 1 })
  for (const trials of groups) {
    for (const { what, run } of some(trials, Number(process.env.FEW ?? 60))) {
      const problems = await run(laboratory)
      if (problems !== undefined) list.add(what, problems)
    }
  }
  await list.end()
})
