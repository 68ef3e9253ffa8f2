import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { drawBase, runFrom } from '../test/faults/matrix/seeds/base.ts'
import { asMarkdown, asText, countsOf, rowsOf, type SuiteList, type VitestReport } from './fault-table.ts'
import { programForTests } from './program-for-tests.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const VITEST = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))

/** The first seed of this run: a run does not repeat the previous one unless asked to. */
const SEEDS_FROM = process.env.CULVERT_SEEDS_FROM ?? String(drawBase(Math.random()))

/** Draws the choices of the servers that 2,000 of the seeds meet. */
const MIX = process.env.CULVERT_FAULTS_MIX ?? randomBytes(4).toString('hex')

/** A run of vitest. */
interface Run {
  /** Names its report, `vitest-<name>.json`. */
  readonly name: string
  readonly args: readonly string[]
  readonly workers?: number
}

/** Suites of `npm test` on real servers that are also part of the matrix. */
const PARTS_OF_CLUSTER = ['releases.test.ts', 'kinds/edits.test.ts', ...restoresOf(SEEDS_FROM)].map(
  (path) => `test/cluster/${path}`,
)
/**
 * Models of the servers with virtual time, then real servers. One after another: worlds of the simulation cost twice
 * their CPU time next to real servers.
 */
const runs: readonly Run[] = [
  { name: 'simulation', args: ['--project', 'simulation'], workers: 2 },
  // Two files at a time: one alone waits for its processes a quarter of the time.
  { name: 'faults', args: ['--project', 'faults', 'test/faults/real'], workers: 2 },
  { name: 'cluster', args: ['--project', 'cluster', ...PARTS_OF_CLUSTER] },
]

/**
 * `npm run test:faults`: runs the whole matrix of faults, prints the result of each suite, and ends with the line
 * `N passed, N failed`. `--folder` names the folder that keeps the lists of cases, the table (`matrix.md`), and the
 * writes at rest for each kind with each choice of the contrary server (`contrary.md`). The exit code is 1 if anything
 * failed or a suite is missing.
 */
async function main(folder: string): Promise<number> {
  console.log(`the lists of cases are kept in ${folder}`)
  console.log(`the seeds are those from ${SEEDS_FROM} on: CULVERT_SEEDS_FROM=${SEEDS_FROM} repeats them`)
  console.log(`every fifth of them meets a server with choices drawn by CULVERT_FAULTS_MIX=${MIX}`)
  await empty(folder)
  const codes: number[] = []
  const stop = new AbortController()
  process.once('SIGTERM', () => stop.abort())
  for (const each of runs) if (!stop.signal.aborted) codes.push(await run(each, folder, stop.signal))
  const rows = rowsOf(await listsIn(folder), await reportsIn(folder))
  const { passed, failed } = countsOf(rows)
  // Failures outside tests and cases appear only in the exit code.
  const unseen = failed === 0 && codes.some((code) => code !== 0) ? 1 : 0
  await writeFile(join(folder, 'matrix.md'), asMarkdown(rows))
  console.log(`\n${asText(rows)}\n`)
  if (unseen > 0) console.log('a run failed outside of its tests: see above')
  console.log(`${passed} passed, ${failed + unseen} failed`)
  return passed > 0 && failed + unseen === 0 ? 0 : 1
}

/** Half of the restores on real servers, the other half in the next run: the simulation plays all of them. */
function restoresOf(firstSeed: string): readonly string[] {
  const isEven = runFrom(Number(firstSeed)) % 2 === 0
  return (isEven ? ['restored', 'copied'] : ['again', 'two-clusters']).map((name) => `restore/${name}.test.ts`)
}

async function run({ name, args, workers }: Run, folder: string, signal: AbortSignal): Promise<number> {
  const reporters = ['--reporter', 'default', '--reporter', 'json', `--outputFile.json=${join(folder, reportOf(name))}`]
  const child = spawn(process.execPath, [VITEST, 'run', ...args, ...reporters], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      CULVERT_FAULTS: 'all',
      CULVERT_SEEDS_FROM: SEEDS_FROM,
      CULVERT_FAULTS_MIX: MIX,
      CULVERT_MATRIX_FOLDER: folder,
      ...(workers === undefined ? {} : { VITEST_MAX_WORKERS: String(workers) }),
    },
  })
  // A terminal signals children itself; any other signal to this process is meant for them too.
  const end = (): boolean => child.kill('SIGTERM')
  signal.addEventListener('abort', end, { once: true })
  const [code] = (await once(child, 'exit')) as [number | null]
  signal.removeEventListener('abort', end)
  return code ?? 1
}

function reportOf(name: string): string {
  return `vitest-${name}.json`
}

/** Removes the results of an earlier run, so that a missing suite is noticed. */
async function empty(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const old = (await readdir(folder)).filter((file) =>
    /^(real|simulation|vitest)-.*\.json$|^(matrix|contrary)\.md$/.test(file),
  )
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

await using program = await programForTests()
Object.assign(process.env, program.env)

const { values } = parseArgs({ options: { folder: { type: 'string' } } })
process.exitCode = await main(
  values.folder === undefined ? await mkdtemp(join(tmpdir(), 'culvert-matrix-')) : resolve(values.folder),
)
