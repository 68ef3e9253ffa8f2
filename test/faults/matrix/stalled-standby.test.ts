import { expect, test } from 'vitest'
import { Laboratory } from '../simulation/world.ts'
import { CaseList } from '../support/case-list.ts'
import { IS_WHOLE, leastOf, some, turnAmong } from '../support/size.ts'
import { accountStories, secretStories } from './watches/shared-stories.ts'
import { type End, playTakeOver, type Stalled } from './watches/stalled-standby.ts'
import { referenceOfStory } from './watches/watch-play.ts'
import { ownStories, referenceStories } from './watches/watch-story.ts'

const ends: readonly End[] = [
  'killed at rest',
  'told to stop at rest',
  'killed before its first write',
  'killed after its first write',
]
const stalls: readonly Stalled[] = ['one', 'all']
const ways: readonly Way[] = stalls.flatMap((stalled) => ends.map((end) => ({ stalled, end })))
/** The number of ways in which each story is played; the stories of a kind cover all of them. */
const WAYS = 3

interface Way {
  readonly stalled: Stalled
  readonly end: End
}

test('a replica whose watches were silent takes over and sends nothing from its stale copies', {
  tags: 'nightly',
}, async () => {
  const list = new CaseList('stalled standby', 'simulation', { least: leastOf(300) })
  const laboratory = await Laboratory.open()
  let turn = turnAmong(ways.length)
  const stories = [
    ...some(ownStories, 4),
    ...some(referenceStories, 2),
    ...some(secretStories, 1),
    ...some(accountStories, 1),
  ]
  for (const story of stories) {
    const reference = await referenceOfStory(laboratory, story)
    for (let count = 0; count < (IS_WHOLE ? WAYS : 2); count++) {
      const way = ways[turn++ % ways.length] as Way
      const problems = await playTakeOver(laboratory, story, { ...way, reference })
      list.add({ write: story.title, point: way.end, fault: `${way.stalled} of its watches silent` }, problems)
    }
  }
  await list.end()
})

test('a process that finds the Lease free lists each kind once, and one that takes over lists each once more', async () => {
  const world = (await Laboratory.open()).world({ kinds: new Set(['Backend']), replicas: 1 })
  const lists: string[] = []
  world.trouble = {
    request: ({ server, method, path, query, process }) => {
      const isCollection = /\/v1[a-z0-9]*\/[a-z]+$/.test(path)
      if (server === 'kubernetes' && method === 'GET' && isCollection && !query.has('watch')) {
        lists.push(`${process.name} ${path}`)
      }
      return undefined
    },
  }
  await world.advance(30_000)
  const [first] = world.operators
  const listed = (name: string | undefined): readonly string[] => lists.filter((list) => list.startsWith(`${name} `))
  expect(listed(first?.process.name).length).toBeGreaterThan(3)
  expect(new Set(lists).size).toBe(lists.length)
  const second = world.startOperator()
  await world.advance(30_000)
  first?.stop()
  await world.until(() => world.leader?.startsWith(`${second.process.name}_`) ?? false, 10_000)
  await world.advance(1_000)
  const count = (list: string): number => lists.filter((other) => other === list).length
  expect(new Set(listed(second.process.name).map(count))).toEqual(new Set([2]))
  world.down()
})
