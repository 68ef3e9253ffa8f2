import { Laboratory } from '../../simulation/world.ts'
import { CaseList } from '../../support/case-list.ts'
import { IS_WHOLE } from '../../support/size.ts'
import { Fresh } from './fresh.ts'
import { shrink } from './shrink.ts'
import { tell } from './stage.ts'
import { type Story, storyOf, wordsOf } from './story.ts'

/** Seeds of one file in the whole matrix. */
const WHOLE = 2_500
/** So many are run of each file: few in a short run. */
const COUNT = Number(process.env.CULVERT_SEEDS ?? (IS_WHOLE ? WHOLE : 40))
/** Run this one alone: what a failure says. */
const ONE = process.env.CULVERT_SEED
/** Seeds begin here: others than those of every day. */
const FROM = Number(process.env.CULVERT_SEEDS_FROM ?? 0)
/** So many failures are enough to look at. */
const MOST_FAILURES = 3

/** Tells the stories of the seeds of one file out of several. @throws Error with the seeds that failed, each as the shortest story that still fails */
export async function runSeeds(file: number): Promise<void> {
  const laboratory = await Laboratory.open()
  const fresh = new Fresh(laboratory)
  const seeds = seedsOf(file)
  const list = new CaseList(`seeds ${file}`, 'simulation', { least: seeds.length, seeds: seeds.length })
  const trial = async (story: Story): Promise<readonly string[]> => {
    try {
      return (await tell(laboratory, fresh, story)).problems
    } catch (error) {
      return [error instanceof Error ? (error.stack ?? error.message) : String(error)]
    }
  }
  const began = { wall: performance.now(), cpu: process.cpuUsage() }
  let failures = 0
  for (const seed of seeds) {
    const story = storyOf(seed)
    const problems = await trial(story)
    const what = { write: `seed ${seed}: ${castIn(story)}`, point: pointsIn(story), fault: faultsIn(story) }
    if (problems.length === 0) list.passed(what)
    else list.failed(what, await shortest(story, problems, trial))
    if (problems.length > 0) failures += 1
    if (failures === MOST_FAILURES) break
  }
  report(file, seeds.length, began)
  await list.end()
}

function seedsOf(file: number): readonly number[] {
  if (ONE !== undefined) return file === 1 ? [Number(ONE)] : []
  return Array.from({ length: COUNT }, (_, index) => FROM + (file - 1) * WHOLE + index)
}

async function shortest(
  story: Story,
  problems: readonly string[],
  trial: (story: Story) => Promise<readonly string[]>,
): Promise<string> {
  const shrunk = await shrink(story, problems, trial)
  return `again with CULVERT_SEED=${story.seed}; the shortest that fails:\n${wordsOf(shrunk.story)}\n${shrunk.problems.join('\n')}`
}

function castIn({ cast }: Story): string {
  return cast.map(({ kind, name }) => `${kind} ${name}`).join(', ')
}

function pointsIn({ steps }: Story): string {
  return `${steps.length} steps, ${steps.reduce((sum, { after }) => sum + after, 0)} ms`
}

function faultsIn({ steps }: Story): string {
  const faults = steps.map((step) => (step.does === 'plague' ? `${step.plague} ${step.servers}` : step.does))
  return faults.filter((fault) => !['apply', 'rest'].includes(fault)).join(', ')
}

function report(file: number, count: number, began: { readonly wall: number; readonly cpu: NodeJS.CpuUsage }): void {
  const wall = (performance.now() - began.wall) / 60_000
  const { user, system } = process.cpuUsage(began.cpu)
  const cpu = (user + system) / 60_000_000
  const rate = (minutes: number): number => Math.round(count / minutes)
  process.stdout.write(`seeds ${file}: ${count} seeds, ${rate(cpu)} a minute of CPU, ${rate(wall)} a minute\n`)
}
