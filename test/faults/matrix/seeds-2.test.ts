import { test } from 'vitest'
import { runSeeds } from './seeds/run.ts'

test('stories of edits and troubles end as if there had been no trouble, part 2 of 4', async () => {
  await runSeeds(2)
})
