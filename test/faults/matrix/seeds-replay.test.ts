import { expect, test } from 'vitest'
import { Laboratory } from '../simulation/world.ts'
import { some } from '../support/size.ts'
import { Fresh } from './seeds/fresh.ts'
import { shrink, type Trial } from './seeds/shrink.ts'
import { tell } from './seeds/stage.ts'
import { storyOf, wordsOf } from './seeds/story.ts'

/** Far from the matrix's seeds. */
const SEEDS = Array.from({ length: 48 }, (_, index) => 1_200_000 + index)

test('a seed leads to the same requests at the same times, whatever was played before', async () => {
  const [first, second] = [await Laboratory.open(), await Laboratory.open()]
  const [firstFresh, secondFresh] = [new Fresh(first), new Fresh(second)]
  const seeds = some(SEEDS, 12)
  const traces = new Map<number, readonly string[]>()
  for (const seed of seeds) traces.set(seed, (await tell(first, firstFresh, storyOf(seed))).trace)
  for (const seed of seeds.toReversed()) {
    const { trace } = await tell(second, secondFresh, storyOf(seed))
    expect(trace.length).toBeGreaterThan(10)
    expect(trace, wordsOf(storyOf(seed))).toEqual(traces.get(seed))
  }
  expect([...traces.values()].flat().length / seeds.length).toBeGreaterThan(20)
})

test('another seed leads to other requests', async () => {
  const laboratory = await Laboratory.open()
  const story = storyOf(1_000_000)
  const { trace } = await tell(laboratory, new Fresh(laboratory), story)
  const other = await tell(laboratory, new Fresh(laboratory), { ...story, seed: 1 })
  expect(other.trace).not.toEqual(trace)
})

test('a failing story is reported in the shortest form that fails', async () => {
  // As if an operator that is killed after an edit lost it.
  const trial: Trial = ({ steps }) => {
    const edited = steps.findIndex((step) => step.does === 'apply' && step.version > 0)
    const killed = steps.findIndex(({ does }, at) => does === 'kill' && at > edited)
    return Promise.resolve(edited >= 0 && killed >= 0 ? ['the edit was lost'] : [])
  }
  const failing = Array.from({ length: 200 }, (_, seed) => storyOf(seed))
  let count = 0
  for (const story of failing) {
    const problems = await trial(story)
    if (problems.length === 0) continue
    count += 1
    const shrunk = await shrink(story, problems, trial)
    expect(shrunk.story.steps.map(({ does }) => does)).toEqual(['apply', 'kill'])
    expect(shrunk.story.steps.every(({ after }) => after === 0)).toBe(true)
    expect(shrunk.story.cast).toHaveLength(1)
    expect(shrunk.problems).toEqual(['the edit was lost'])
  }
  expect(count).toBeGreaterThan(10)
})
