import { test } from 'vitest'
import { runSeeds } from './seeds/run.ts'

test('stories of edits and faults end as if nothing had failed, part 1 of 4', async () => {
  await runSeeds(1)
})
