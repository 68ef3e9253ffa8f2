import type { Step, Story } from './story.ts'

/** Plays a story; returns its problems, or nothing if it succeeds. */
export type Trial = (story: Story) => Promise<readonly string[]>

export interface Shrunk {
  readonly story: Story
  readonly problems: readonly string[]
}

/** Maximum number of stories tried to find a shorter one. */
const MOST_TRIALS = 200

/**
 * The shortest story found that still fails: it drops steps, resources and the election, and waits as little as
 * possible.
 */
export async function shrink(story: Story, problems: readonly string[], trial: Trial): Promise<Shrunk> {
  let best: Shrunk = { story, problems }
  let trials = 0
  let wasShorter = true
  while (wasShorter && trials < MOST_TRIALS) {
    wasShorter = false
    for (const candidate of simpler(best.story)) {
      trials += 1
      const found = await trial(candidate)
      if (found.length > 0) {
        best = { story: candidate, problems: found }
        wasShorter = true
        break
      }
      if (trials >= MOST_TRIALS) break
    }
  }
  return best
}

/** Slightly simpler stories, the shortest first. */
function* simpler(story: Story): Generator<Story> {
  const { steps, cast, replicas } = story
  for (let length = steps.length >> 1; length >= 1; length >>= 1) {
    for (let from = 0; from + length <= steps.length; from += length) {
      yield { ...story, steps: [...steps.slice(0, from), ...steps.slice(from + length)] }
    }
  }
  if (cast.length > 1) for (const who of cast.keys()) yield without(story, who)
  if (replicas > 0) yield { ...story, replicas: 0 }
  if (story.isShared === true) yield { ...story, isShared: false }
  for (const [at, step] of steps.entries()) {
    if (step.after > 0) yield { ...story, steps: steps.with(at, { ...step, after: 0 }) }
  }
}

/** The story without one of its resources. */
function without(story: Story, who: number): Story {
  const kept = story.steps.filter((step) => !('who' in step) || step.who !== who)
  const steps = kept.map((step): Step => ('who' in step && step.who > who ? { ...step, who: step.who - 1 } : step))
  const adopters = (story.adopters ?? []).filter((each) => each !== who).map((each) => (each > who ? each - 1 : each))
  return { ...story, cast: story.cast.toSpliced(who, 1), steps, ...(story.adopters !== undefined && { adopters }) }
}
