import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { protocolMutants } from '../test/faults/mutants/all.ts'
import { explained } from '../test/faults/mutants/explained.ts'
import { type Mutant, mutated } from '../test/faults/mutants/mutant.ts'
import { operatorMutants } from '../test/faults/mutants/operators.ts'
import { type Verdict, Workshop } from '../test/faults/mutants/workshop.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
/** The cores of a small machine. */
const AT_A_TIME = 2
/** Suites of the matrix, those that detect most first. */
const SUITES: readonly (readonly string[])[] = [
  ['undisturbed'],
  ['kills'],
  ['interrupted', 'api-faults-reads', 'api-faults-writes', 'kubernetes-faults'],
  ['paused-leader', 'restored', 'references', 'watch-faults'],
  ['adoption', 'old-manifests', 'sessions'],
]

/** Every suite that brings objects declared by specs to rest and judges them; the worlds of `sessions` have none. */
const AT_REST: readonly string[] = [
  ...SUITES.flat().filter((suite) => suite !== 'sessions'),
  'api-faults-pairs',
  'edited-meanwhile',
  'transitions-1',
  'transitions-2',
  'seeds-1',
]

interface Result {
  readonly mutant: Mutant
  readonly verdict: Verdict
  readonly seconds: number
}

/**
 * `npm run test:mutants`: breaks the operator in one place after the other, and checks that the simulation detects it.
 * Prints a table of what killed each mutant, survivors last. `--only` takes a pattern for titles. The exit code is 1 if
 * a survivor has no explanation.
 */
async function main(): Promise<void> {
  const { only = '' } = parseArgs({ options: { only: { type: 'string' } } }).values
  const sourceOf = (file: string): string => readFileSync(`${ROOT}${file}`, 'utf8')
  const all = [...protocolMutants, ...operatorMutants(sourceOf)]
  refuseUnknown(all)
  // A mutant that no longer matches the sources is reported at once rather than after minutes.
  for (const mutant of all) mutated(sourceOf(mutant.file), mutant)
  const mutants = all.filter(({ title }) => new RegExp(only).test(title))
  const workshops = await Promise.all(Array.from({ length: AT_A_TIME }, () => Workshop.open()))
  try {
    await refuseBroken(workshops)
    const results = await tryAll(workshops, mutants)
    print(results)
    if (results.some(isWrong)) process.exitCode = 1
  } finally {
    await Promise.all(workshops.map((workshop) => workshop.close()))
  }
}

/** A failure without a mutant would seem to kill every one. */
async function refuseBroken(workshops: readonly Workshop[]): Promise<void> {
  const aimed = protocolMutants.flatMap(({ first }) => (first === undefined ? [] : [first.suite]))
  const left = [...new Set([...AT_REST, ...aimed])].filter(isThere)
  const work = async (workshop: Workshop): Promise<void> => {
    for (let suite = left.shift(); suite !== undefined; suite = left.shift()) {
      const verdict = await workshop.run([suite])
      if (verdict.type === 'killed') throw new Error(`${suite} fails without a mutant: ${verdict.why}`)
    }
  }
  await Promise.all(workshops.map(work))
}

async function tryAll(workshops: readonly Workshop[], mutants: readonly Mutant[]): Promise<readonly Result[]> {
  const left = [...mutants]
  const results: Result[] = []
  const work = async (workshop: Workshop): Promise<void> => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      const began = performance.now()
      const verdict = await workshop.with(mutant, () => tried(workshop, mutant as Mutant))
      const result = { mutant, verdict, seconds: (performance.now() - began) / 1000 }
      results.push(result)
      console.log(rowOf(result))
      if (verdict.type === 'killed')
        console.log(`    ${verdict.why.split('\n').slice(0, 3).join('\n    ').slice(0, 600)}`)
    }
  }
  await Promise.all(workshops.map(work))
  return results
}

/**
 * First where it is likely to be detected, then everywhere, up to the first suite that detects it. An explained mutant
 * is tried only where it would most likely be detected: everywhere takes long.
 */
async function tried(workshop: Workshop, { title, first, isForAll }: Mutant): Promise<Verdict> {
  if (isForAll) return triedByAll(workshop)
  if (first !== undefined && isThere(first.suite)) {
    const verdict = await workshop.run([first.suite], first)
    if (verdict.type === 'killed') return verdict
  }
  const elsewhere = first === undefined ? SUITES.slice(0, 1) : []
  const everywhere = explained[title] === undefined ? SUITES : elsewhere
  for (const suites of everywhere.map((each) => each.filter(isThere))) {
    const verdict: Verdict = suites.length === 0 ? { type: 'survived' } : await workshop.run(suites)
    if (verdict.type === 'killed') return verdict
  }
  return { type: 'survived' }
}

/** Survives if one suite does not detect it; that suite is then named. */
async function triedByAll(workshop: Workshop): Promise<Verdict> {
  const killers: Extract<Verdict, { readonly type: 'killed' }>[] = []
  for (const suite of AT_REST.filter(isThere)) {
    const verdict = await workshop.run([suite])
    if (verdict.type === 'survived') console.log(`    ${suite} does not see it`)
    else killers.push(verdict)
  }
  const [first] = killers
  if (first === undefined || killers.length < AT_REST.filter(isThere).length) return { type: 'survived' }
  return { ...first, suite: `each of ${killers.length} suites` }
}

function isThere(suite: string): boolean {
  return existsSync(`${ROOT}test/faults/matrix/${suite}.test.ts`)
}

/** Refuses explanations of mutants that no longer exist. */
function refuseUnknown(all: readonly Mutant[]): void {
  const titles = all.map(({ title }) => title)
  const unknown = Object.keys(explained).filter((title) => !titles.includes(title))
  if (unknown.length > 0) throw new Error(`explained, but there is no such mutant: ${unknown.join('; ')}`)
  if (new Set(titles).size < titles.length) throw new Error('two mutants have the same title')
}

/** A survivor without an explanation, or an explanation of one that is detected. */
function isWrong({ mutant, verdict }: Result): boolean {
  return (verdict.type === 'survived') === (explained[mutant.title] === undefined)
}

function print(results: readonly Result[]): void {
  const rank = ({ verdict }: Result): number => (verdict.type === 'killed' ? 0 : 1)
  const sorted = results.toSorted((left, right) => rank(left) - rank(right))
  console.log(`\n| mutant | killed by | seconds |\n|---|---|---|`)
  for (const result of sorted) console.log(rowOf(result))
  const killed = results.filter(({ verdict }) => verdict.type === 'killed').length
  const wrong = results.filter(isWrong).length
  console.log(`\n${killed} killed, ${results.length - killed} survived, ${wrong} without or against an explanation`)
}

function rowOf({ mutant: { title }, verdict, seconds }: Result): string {
  const by = verdict.type === 'killed' ? verdict.suite : `nobody: ${explained[title] ?? 'not explained'}`
  return `| ${title} | ${by} | ${seconds.toFixed(0)} |`
}

await main()
