import { test } from 'vitest'
import { runSeeds } from './seeds/run.ts'

test('stories of edits and faults end as if nothing had failed, part 3 of 4', { tags: 'nightly' }, async () => {
  await runSeeds(3)
})
