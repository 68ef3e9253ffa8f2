import { parseArgs } from 'node:util'
import { protocolMutants } from './all.ts'
import type { Aim, Mutant } from './seam.ts'
import { type Failure, trial } from './trial.ts'

/** The cores of a small machine. */
const AT_A_TIME = 2

interface Result {
  readonly mutant: Mutant
  readonly aim: Aim
  readonly failure: Failure
  readonly seconds: number
}

/**
 * `npm run test:mutants:protocol`: breaks one rule of the protocol after the other, and checks that each suite which
 * must detect it does. Prints a table, survivors last. `--only` takes a pattern for titles. The exit code is 1 if a
 * suite does not detect a mutant.
 */
async function main(): Promise<void> {
  const { only = '' } = parseArgs({ options: { only: { type: 'string' } } }).values
  const mutants = protocolMutants.filter(({ title }) => new RegExp(only).test(title))
  await refuseBroken(mutants.flatMap(({ killers }) => killers))
  const results = await inParallel(
    mutants.flatMap((mutant) => mutant.killers.map((aim) => ({ mutant, aim }))),
    tried,
  )
  print(results)
  if (results.length === 0 || results.some(hasSurvived)) process.exitCode = 1
}

/** A failure without a mutant would seem to kill every one. */
async function refuseBroken(aims: readonly Aim[]): Promise<void> {
  const different = [...new Map(aims.map((aim) => [wordsOf(aim), aim])).values()]
  await inParallel(different, async (aim) => {
    const failure = await trial(aim)
    if (failure !== undefined) throw new Error(`${wordsOf(aim)} fails without a mutant: ${failure}`)
  })
}

async function tried({ mutant, aim }: Pick<Result, 'mutant' | 'aim'>): Promise<Result> {
  const began = performance.now()
  const failure = await trial(aim, mutant)
  const result = { mutant, aim, failure, seconds: (performance.now() - began) / 1000 }
  console.log(rowOf(result))
  if (failure !== undefined) console.log(`    ${failure.split('\n').slice(0, 3).join('\n    ').slice(0, 600)}`)
  return result
}

async function inParallel<Task, Done>(tasks: readonly Task[], act: (task: Task) => Promise<Done>): Promise<Done[]> {
  const left = [...tasks]
  const done: Done[] = []
  const work = async (): Promise<void> => {
    for (let task = left.shift(); task !== undefined; task = left.shift()) done.push(await act(task))
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work))
  return done
}

function hasSurvived({ failure }: Result): boolean {
  return failure === undefined
}

function print(results: readonly Result[]): void {
  const sorted = results.toSorted((left, right) => Number(hasSurvived(left)) - Number(hasSurvived(right)))
  console.log('\n| mutant | suite | | seconds |\n|---|---|---|---|')
  for (const result of sorted) console.log(rowOf(result))
  const survived = results.filter(hasSurvived).length
  console.log(`\n${results.length - survived} killed, ${survived} survived`)
}

function rowOf(result: Result): string {
  const { mutant, aim, seconds } = result
  return `| ${mutant.title} | ${wordsOf(aim)} | ${hasSurvived(result) ? 'survived' : 'killed'} | ${seconds.toFixed(0)} |`
}

function wordsOf({ suite, cases = '', isWhole = false }: Aim): string {
  return `${suite}${cases === '' ? '' : `: \`${cases.replaceAll('|', '\\|')}\``}${isWhole ? ', whole' : ''}`
}

await main()
