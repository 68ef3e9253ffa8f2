import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Aim, Mutant } from './seam.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs')
const PRELOAD = new URL('./preload.ts', import.meta.url).href
/** A mutant may loop forever. */
const LIMIT_MS = 600_000

/** Why a run of a suite failed; undefined if it passed. */
export type Failure = string | undefined

/** Runs the cases up to the first failure, with the mutant or, to see whether they pass at all, without one. */
export async function trial(aim: Aim, mutant?: Mutant): Promise<Failure> {
  const folder = await mkdtemp(join(tmpdir(), 'culvert-mutant-'))
  try {
    const report = join(folder, 'report.json')
    const options = ['--project', 'simulation', '--bail', '1', '--no-file-parallelism']
    const output = ['--reporter', 'json', '--outputFile', report]
    const args = [VITEST, 'run', ...options, ...output, `test/faults/matrix/${aim.suite}.test.ts`]
    const isOver = await ended(args, { ...environmentOf(aim), ...(mutant === undefined ? {} : breaking(mutant)) })
    if (!isOver) return `no end in ${LIMIT_MS / 1000} s`
    return failureIn(await readFile(report, 'utf8'))
  } finally {
    await rm(folder, { recursive: true })
  }
}

function environmentOf({ cases, isWhole }: Aim): Readonly<Record<string, string>> {
  return {
    CULVERT_FAULTS_END: 'first',
    ...(cases === undefined ? {} : { CULVERT_FAULTS_FOCUS: cases }),
    ...(isWhole ? { CULVERT_FAULTS: 'all' } : {}),
  }
}

function breaking({ title, seams }: Mutant): Readonly<Record<string, string>> {
  const functions = seams.flatMap((seam) => (seam.type === 'function' ? [seam.name] : []))
  return {
    CULVERT_MUTANT: title,
    CULVERT_MUTANT_FUNCTIONS: functions.join(','),
    NODE_OPTIONS: `--import=${PRELOAD}`,
  }
}

/** @returns whether it ended in time. */
function ended(args: readonly string[], env: Readonly<Record<string, string>>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const options = { cwd: ROOT, env: { ...process.env, ...env }, stdio: 'ignore', detached: true } as const
    const child = spawn(process.execPath, args, options)
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      // Kills its workers as well.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, LIMIT_MS)
    child.on('error', reject)
    child.on('exit', () => {
      clearTimeout(timer)
      resolve(!isLate)
    })
  })
}

interface Report {
  readonly success: boolean
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message?: string
    readonly assertionResults: readonly { readonly failureMessages?: readonly string[] }[]
  }[]
}

/** @throws Error if the tests could not be collected: that says nothing about the mutant. */
function failureIn(text: string): Failure {
  const { success, testResults } = JSON.parse(text) as Report
  if (success) return undefined
  const failed = testResults.find(({ status }) => status === 'failed')
  const [why] = failed?.assertionResults.flatMap((each) => each.failureMessages ?? []) ?? []
  if (why === undefined) throw new Error(`no test ran: ${failed?.message ?? text.slice(0, 600)}`)
  return why
}
