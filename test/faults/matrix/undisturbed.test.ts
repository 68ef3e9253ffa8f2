import { test } from 'vitest'
import { episodes } from '../simulation/episodes.ts'
import { play } from '../simulation/play.ts'
import { Laboratory } from '../simulation/world.ts'
import { CaseList } from '../support/case-list.ts'

test('every life cycle step ends as written down when nothing fails', async () => {
  const laboratory = await Laboratory.open()
  const list = new CaseList('nothing fails', 'simulation', { least: 100 })
  for (const episode of episodes) {
    const what = { write: episode.title, point: 'none', fault: 'none' }
    const { problems } = await play(laboratory, episode, { isWritten: true })
    list.add(what, problems)
  }
  await list.end()
})
