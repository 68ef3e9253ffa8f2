import { test } from 'vitest'
import { Laboratory } from '../simulation/world.ts'
import { CaseList } from '../support/case-list.ts'
import { leastOf, some } from '../support/size.ts'
import { byHand } from './references/by-hand.ts'
import { comingUsers, type Deletion, goingUsers, releasingUsers } from './references/deletions.ts'

test('a dependency that is deleted while a dependent appears stays or is deleted unused, by any name and from anywhere', async () => {
  await play('references', [...some(comingUsers, 36), ...some(goingUsers, 4), ...releasingUsers], 500)
})

test('changes by hand empty no policy in use, and whatever waits for a reference is woken', async () => {
  await play('references by hand', some(byHand, 10), 20)
})

async function play(suite: string, deletions: readonly Deletion[], least: number): Promise<void> {
  const laboratory = await Laboratory.open()
  const list = new CaseList(suite, 'simulation', { least: leastOf(least) })
  for (const { what, run } of deletions) list.add(what, await run(laboratory))
  await list.end()
}
