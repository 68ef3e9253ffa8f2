import type { Episode } from '../../simulation/episodes.ts'
import { differences, type Oracle, type Picture, withoutChance } from '../../simulation/oracle.ts'
import { type Outcome, play } from '../../simulation/play.ts'
import type { Laboratory, SimulatedWorld } from '../../simulation/world.ts'
import type { WatchFault } from './watch-faults.ts'
import type { WatchStory } from './watch-story.ts'
import { WatchTrouble } from './watch-trouble.ts'

/**
 * The operator has acted on the change within this time, whatever happened to the watch: a silent watch is abandoned
 * after 150 s, a failure of 30 s may have to wait for a pause of 30 s, and the account is polled every 60 s. Virtual
 * milliseconds.
 */
const ARRIVES_MS = 300_000
/** The same for a change without a fault. */
const ARRIVES_AFTERWARDS_MS = 60_000

export interface WatchOutcome {
  readonly problems: readonly string[]
  readonly picture: Picture
  /** The account once the change has arrived. */
  readonly midway: Picture
  /** Frames of the watched collection with objects, up to the end of the fault. */
  readonly frames: number
}

export type WatchReference = Omit<WatchOutcome, 'problems'>

/** The story without a fault, twice: any difference is chance. @throws Error when even that does not end well */
export async function referenceOfStory(laboratory: Laboratory, story: WatchStory): Promise<WatchReference> {
  const first = await playStory(laboratory, story, { seed: 11 })
  const second = await playStory(laboratory, story, { seed: 12 })
  const problems = [...first.problems, ...second.problems]
  if (problems.length > 0) throw new Error(`${story.title} fails without a fault:\n${problems.join('\n')}`)
  const common = (name: 'picture' | 'midway'): Picture => withoutChance(first[name], second[name]) as Picture
  return { picture: common('picture'), midway: common('midway'), frames: first.frames }
}

interface StoryOptions {
  readonly seed?: number
  readonly fault?: WatchFault
  /** Which frame meets it. */
  readonly at?: number
  readonly reference?: WatchReference
}

/**
 * Plays the story: the change, while its frames meet the fault; another change without a fault; and the deletion of
 * everything.
 */
export async function playStory(
  laboratory: Laboratory,
  story: WatchStory,
  { seed = 1, fault, at = 1, reference }: StoryOptions,
): Promise<WatchOutcome> {
  const problems: string[] = []
  let [judge, trouble]: [Oracle?, WatchTrouble?] = []
  let [midway, frames]: [Picture, number] = [{}, 0]
  const episode: Episode = { ...story.episode, act: () => Promise.resolve(), isUnseen: false }
  const meanwhile = async (world: SimulatedWorld): Promise<void> => {
    if (judge === undefined || trouble === undefined) throw new Error('nothing was made for this world')
    await story.prepare?.(world)
    trouble.begin(story.path(world))
    await story.change(world, judge)
    await world.advance(ARRIVES_MS)
    frames = trouble.frames
    trouble.end()
    if (fault?.loses) {
      story.touch?.(world)
      await world.advance(ARRIVES_MS)
    }
    const isRest = story.isRestless ? [] : await unrestOf(judge, world)
    problems.push(...isRest.map((each) => `the change has not arrived: ${each}`))
    if (!(story.hasArrived?.(world) ?? true)) problems.push('the operator has not acted on the change')
    midway = await judge.picture()
    if (reference !== undefined) problems.push(...differences(reference.midway, midway))
    await story.afterwards(world, judge)
    await world.advance(ARRIVES_AFTERWARDS_MS)
    problems.push(...(await unrestOf(judge, world)).map((each) => `the other change has not arrived: ${each}`))
    if (!(story.hasArrivedAfterwards?.(world) ?? true)) problems.push('the operator has not acted on the other change')
  }
  const played: Outcome = await play(laboratory, episode, {
    seed,
    trouble: (world, oracle) => {
      judge = oracle
      if (fault?.looksRestored) oracle.excuseReversions()
      trouble = new WatchTrouble({ world, fault, at })
      return trouble
    },
    meanwhile,
    ...(reference === undefined ? {} : { reference: { writes: [], requests: [], picture: reference.picture } }),
  })
  return { problems: [...problems, ...played.problems], picture: played.picture, midway, frames }
}

/** Resources that are not at rest now, or come to rest only later. */
async function unrestOf(oracle: Oracle, world: SimulatedWorld): Promise<readonly string[]> {
  const { now } = world.time
  const unrest = await oracle.untilRest()
  if (unrest.length > 0) return unrest
  return world.time.now === now ? [] : [`it came to rest ${world.time.now - now} ms later`]
}
