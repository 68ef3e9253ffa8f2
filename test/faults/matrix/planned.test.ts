import { expect, test } from 'vitest'
import { type Episode, episodes } from '../simulation/episodes.ts'
import { play } from '../simulation/play.ts'
import { References } from '../simulation/suite.ts'
import { Laboratory } from '../simulation/world.ts'
import { befalls, numbered, writesAmong } from '../simulation/writes.ts'

const laboratory = await Laboratory.open()

function titled(title: string): Episode {
  const found = episodes.find((episode) => episode.title === title)
  if (found === undefined) throw new Error(`there is no ${title}`)
  return found
}

// The account may be read before or after an object counts as gone, so there may be one write more or less.
test.each([
  ['Edge tls / deleted by somebody', 0],
  ['Edge tls / deleted by somebody', 2],
  ['Backend group / deleted by somebody', 2],
])('cases of %s with %i replicas are planned from a run of the same life cycle', async (title, replicas) => {
  const episode = titled(title)
  const { writes } = await new References(laboratory).of(episode, replicas)
  const { requests } = await play(laboratory, episode, { replicas })
  expect(writesAmong(requests)).toEqual(numbered(writes))
})

test('a case whose fault never occurs fails', async () => {
  const fault = { type: 'kill', when: 'after' } as const
  const trouble = () => befalls([{ at: 99, fault }])
  const { problems } = await play(laboratory, titled('Backend group / create'), { trouble })
  expect(problems).toEqual(['there was no request 99'])
})
