import { test } from 'vitest'
import { EDIT_SEED } from '../../kinds/shared/account.ts'
import { type Episode, episodes } from '../simulation/episodes.ts'
import { Laboratory } from '../simulation/world.ts'
import { CaseList } from '../support/case-list.ts'
import { some } from '../support/size.ts'
import { RealSide } from './support-traces/real-side.ts'
import { SimulatedSide } from './support-traces/simulated-side.ts'
import { differences, lengthOf } from './support-traces/transcript.ts'
import { transcribe } from './support-traces/turns.ts'

/** Number in a short run; the whole matrix plays all. */
const FEW = 50

test('the operator sends the models the same calls as the real servers, and gets the same answers', {
  timeout: 1_200_000,
}, async () => {
  const list = new CaseList('traces equal to the simulation', 'real', { least: FEW })
  const simulated = new SimulatedSide(await Laboratory.open(), EDIT_SEED)
  await using real = await RealSide.open(EDIT_SEED)
  const chosen = some(episodes, FEW)
  // Requests that an operator sends once, at startup, have their own timing.
  await compare(simulated, real, chosen[0] as Episode, 0)
  for (const [index, episode] of chosen.entries()) {
    const { problems, calls } = await compare(simulated, real, episode, index + 1)
    list.add({ write: episode.title, point: `${calls} calls`, fault: 'none' }, problems)
  }
  simulated.end()
  await list.end()
})

/** Plays an episode on both sides. */
async function compare(simulated: SimulatedSide, real: RealSide, episode: Episode, number: number) {
  const expected = await transcribe(simulated, episode, number)
  const calls = lengthOf(expected)
  return { calls, problems: differences(expected, await transcribe(real, episode, number, calls)) }
}
