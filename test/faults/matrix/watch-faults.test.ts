import { test } from 'vitest'
import { Laboratory } from '../simulation/world.ts'
import { CaseList } from '../support/case-list.ts'
import { IS_WHOLE, leastOf, some } from '../support/size.ts'
import { accountStories, secretStories } from './watches/shared-stories.ts'
import { type WatchFault, watchFaults } from './watches/watch-faults.ts'
import { playStory, referenceOfStory } from './watches/watch-play.ts'
import { ownStories, referenceStories, type WatchStory } from './watches/watch-story.ts'

/** Each story meets this many faults, a different choice for each; the stories of a kind cover all of them. */
const plans: readonly { readonly stories: readonly WatchStory[]; readonly faults: number; readonly few: number }[] = [
  { stories: ownStories, faults: 4, few: 5 },
  { stories: referenceStories, faults: 5, few: 2 },
  { stories: secretStories, faults: 16, few: 2 },
  { stories: accountStories, faults: 10, few: 2 },
]

function faultAt(turn: number): WatchFault {
  return watchFaults[turn % watchFaults.length] as WatchFault
}

test('whatever happens to a watch, a change, the next change and the deletion arrive', async () => {
  const list = new CaseList('watch faults', 'simulation', { least: leastOf(500) })
  const laboratory = await Laboratory.open()
  let turn = 0
  for (const { stories, faults, few } of plans) {
    for (const story of some(stories, few)) {
      const reference = await referenceOfStory(laboratory, story)
      for (let count = 0; count < (IS_WHOLE ? faults : 3); count++, turn++) {
        // A lost frame is made good by the next one about the object.
        while (faultAt(turn).loses && story.touch === undefined) turn++
        const fault = faultAt(turn)
        // The first frames report the change by hand, the next ones the operator's reaction.
        const at = 1 + (Math.floor(turn / watchFaults.length) % Math.min(2, reference.frames))
        const { problems } = await playStory(laboratory, story, { fault, at, reference })
        list.add({ write: story.title, point: `frame ${at}`, fault: fault.name }, problems)
      }
    }
  }
  await list.end()
})
