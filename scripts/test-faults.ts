import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { setPriority, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { drawBase } from '../test/faults/matrix/seeds/base.ts'
import { asMarkdown, asText, countsOf, rowsOf, type SuiteList, type VitestReport } from './fault-table.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const VITEST = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
/** What others of the machine leave over is enough for what runs in a time of its own. */
const LOW_PRIORITY = 10

/** Where the seeds of this run begin: no run repeats the last one by itself. */
const SEEDS_FROM = process.env.CULVERT_SEEDS_FROM ?? String(drawBase(Math.random()))

/** A run of vitest. */
interface Run {
  /** Of its report, `vitest-<name>.json`. */
  readonly name: string
  readonly args: readonly string[]
  readonly workers?: number
  readonly isPatient?: boolean
}

/** Models of the servers, without a clock of the machine's: as many at a time as there are cores. */
const simulation: Run = { name: 'simulation', args: ['--project', 'simulation'], workers: 2, isPatient: true }
/** Of what `npm test` runs on real servers, the suites that are of the matrix too. */
const PARTS_OF_CLUSTER = ['releases.test.ts', 'kinds/edits.test.ts', 'restore'].map((path) => `test/cluster/${path}`)
/** Real servers. */
const real: readonly Run[] = [
  { name: 'faults', args: ['--project', 'faults'] },
  { name: 'cluster', args: ['--project', 'cluster', ...PARTS_OF_CLUSTER] },
]

/**
 * `npm run test:faults`: runs the whole matrix of faults and the other tests of `faults`, prints what each suite came to, and ends with
 * the line `N passed, N failed`. The simulation runs beside the real servers, which wait for times of leases, requests and processes for
 * half of their time and go first when they do not. `--folder` names the folder that keeps the lists of cases. The exit code is 1
 * when anything failed or a suite is missing.
 */
async function main(folder: string): Promise<number> {
  console.log(`the lists of cases are kept in ${folder}`)
  console.log(`the seeds are those from ${SEEDS_FROM} on: CULVERT_SEEDS_FROM=${SEEDS_FROM} repeats them`)
  await empty(folder)
  const codes = await Promise.all([run(simulation, folder), inTurn(real, folder)])
  const rows = rowsOf(await listsIn(folder), await reportsIn(folder))
  const { passed, failed } = countsOf(rows)
  // What belongs to no test and no case shows in the exit code alone.
  const unseen = failed === 0 && codes.flat().some((code) => code !== 0) ? 1 : 0
  await writeFile(join(folder, 'matrix.md'), asMarkdown(rows))
  console.log(`\n${asText(rows)}\n`)
  if (unseen > 0) console.log('a run failed outside of its tests: see above')
  console.log(`${passed} passed, ${failed + unseen} failed`)
  return passed > 0 && failed + unseen === 0 ? 0 : 1
}

async function inTurn(runs: readonly Run[], folder: string): Promise<readonly number[]> {
  const codes: number[] = []
  for (const each of runs) codes.push(await run(each, folder))
  return codes
}

async function run({ name, args, workers, isPatient = false }: Run, folder: string): Promise<number> {
  const reporters = ['--reporter', 'default', '--reporter', 'json', `--outputFile.json=${join(folder, reportOf(name))}`]
  const child = spawn(process.execPath, [VITEST, 'run', ...args, ...reporters], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      CULVERT_FAULTS: 'all',
      CULVERT_SEEDS_FROM: SEEDS_FROM,
      CULVERT_MATRIX_FOLDER: folder,
      ...(workers === undefined ? {} : { VITEST_MAX_WORKERS: String(workers) }),
    },
  })
  if (isPatient && child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY)
  // A terminal tells children itself; whoever else ends this process means them too.
  const end = (): boolean => child.kill('SIGTERM')
  process.once('SIGTERM', end)
  const [code] = (await once(child, 'exit')) as [number | null]
  process.off('SIGTERM', end)
  return code ?? 1
}

function reportOf(name: string): string {
  return `vitest-${name}.json`
}

/** Takes away what an earlier run has left: a suite that is missing is to be noticed. */
async function empty(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const old = (await readdir(folder)).filter((file) => /^(real|simulation|vitest)-.*\.json$|^matrix\.md$/.test(file))
  for (const file of old) await rm(join(folder, file))
}

async function listsIn(folder: string): Promise<readonly SuiteList[]> {
  return (await contentsOf(folder, /^(real|simulation)-.*\.json$/)) as readonly SuiteList[]
}

async function reportsIn(folder: string): Promise<readonly VitestReport[]> {
  return (await contentsOf(folder, /^vitest-.*\.json$/)) as readonly VitestReport[]
}

async function contentsOf(folder: string, names: RegExp): Promise<readonly unknown[]> {
  const files = (await readdir(folder)).filter((file) => names.test(file)).toSorted()
  return Promise.all(files.map(async (file) => JSON.parse(await readFile(join(folder, file), 'utf8')) as unknown))
}

// Operators are started hundreds of times: what Node made of their sources is kept from one start to the next.
process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules/.cache/culvert-compile')

const { values } = parseArgs({ options: { folder: { type: 'string' } } })
process.exitCode = await main(
  values.folder === undefined ? await mkdtemp(join(tmpdir(), 'culvert-matrix-')) : resolve(values.folder),
)
