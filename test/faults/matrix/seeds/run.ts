import { Laboratory } from '../../simulation/world.ts'
import { type Case, CaseList } from '../../support/case-list.ts'
import { IS_WHOLE, MIX_SEED } from '../../support/size.ts'
import { drawBase } from './base.ts'
import { failedStories } from './failed.ts'
import { Fresh } from './fresh.ts'
import { keptFrom, storyFrom } from './kept.ts'
import { shrink } from './shrink.ts'
import { tell } from './stage.ts'
import { type Story, storyOf, wordsOf } from './story.ts'

/** Seeds of one file in the whole matrix. */
const WHOLE = 2_500
/** Seeds to run of each file; few in a short run. */
const COUNT = Number(process.env.CULVERT_SEEDS ?? (IS_WHOLE ? WHOLE : 40))
/** Run only this one; a failure message names it. */
const ONE = process.env.CULVERT_SEED
/** The first seed. A short run always has the same seeds; each run of the whole matrix has others. */
const FROM = Number(process.env.CULVERT_SEEDS_FROM ?? (IS_WHOLE ? drawBase(Math.random()) : 0))
/** Stop after this many failures. */
const MOST_FAILURES = 3

/**
 * Plays the stories of the seeds of one file out of several. @throws Error with the seeds that failed, each as the
 * shortest story that still fails
 */
export async function runSeeds(file: number): Promise<void> {
  const seeds = seedsOf(file)
  const list = new CaseList(`seeds ${file}`, 'simulation', { least: seeds.length, seeds: seeds.length })
  const teller = await Teller.open()
  const began = { wall: performance.now(), cpu: process.cpuUsage() }
  let failures = 0
  for (const seed of seeds) {
    if (!(await teller.isGood(list, storyOf(seed)))) failures += 1
    if (failures === MOST_FAILURES) break
  }
  report(file, seeds, began)
  await list.end()
}

/** Plays every story that ever failed. @throws Error with those that fail again */
export async function runStories(): Promise<void> {
  const stories = failedStories.map(storyFrom)
  const list = new CaseList('seeds that ever failed', 'simulation', { least: stories.length, seeds: stories.length })
  const teller = await Teller.open()
  for (const story of stories) await teller.isGood(list, story)
  await list.end()
}

/** Plays stories one after the other, and lists how each ended. */
class Teller {
  readonly #laboratory: Laboratory
  readonly #fresh: Fresh

  private constructor(laboratory: Laboratory) {
    this.#laboratory = laboratory
    this.#fresh = new Fresh(laboratory)
  }

  static async open(): Promise<Teller> {
    return new Teller(await Laboratory.open())
  }

  async isGood(list: CaseList, story: Story): Promise<boolean> {
    const problems = await this.#problemsOf(story)
    if (problems.length === 0) list.passed(caseOf(story))
    else list.failed(caseOf(story), await shortest(story, problems, (each) => this.#problemsOf(each)))
    return problems.length === 0
  }

  async #problemsOf(story: Story): Promise<readonly string[]> {
    try {
      return (await tell(this.#laboratory, this.#fresh, story)).problems
    } catch (error) {
      return [error instanceof Error ? (error.stack ?? error.message) : String(error)]
    }
  }
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
  return [
    `again with ${MIX_SEED === undefined ? '' : `CULVERT_FAULTS_MIX=${MIX_SEED} `}CULVERT_SEED=${story.seed}; the shortest that fails:`,
    wordsOf(shrunk.story),
    ...shrunk.problems,
    `to be kept in test/faults/matrix/seeds/failed.ts: ${JSON.stringify(keptFrom(shrunk.story))}`,
  ].join('\n')
}

function caseOf(story: Story): Case {
  return { write: `seed ${story.seed}: ${castIn(story)}`, point: pointsIn(story), fault: faultsIn(story) }
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

function report(
  file: number,
  seeds: readonly number[],
  began: { readonly wall: number; readonly cpu: NodeJS.CpuUsage },
): void {
  const wall = (performance.now() - began.wall) / 60_000
  const { user, system } = process.cpuUsage(began.cpu)
  const cpu = (user + system) / 60_000_000
  const rate = (minutes: number): number => Math.round(seeds.length / minutes)
  const which = `${seeds.length} seeds from ${seeds[0]}, again with CULVERT_SEEDS_FROM=${FROM}`
  process.stdout.write(`seeds ${file}: ${which}; ${rate(cpu)} a minute of CPU, ${rate(wall)} a minute\n`)
}
