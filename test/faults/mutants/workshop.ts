import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Aim, type Mutant, mutated } from './mutant.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** The files that the simulation needs. */
const COPIED = ['src', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts'] as const
/** A mutant may loop forever. */
const LIMIT_MS = 300_000

/** The outcome of one run of suites. */
export type Verdict =
  | { readonly type: 'survived' }
  | { readonly type: 'killed'; readonly suite: string; readonly why: string }

/** A copy of the sources in which one mutant at a time is tried. */
export class Workshop {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  static async open(): Promise<Workshop> {
    const folder = await mkdtemp(join(tmpdir(), 'culvert-mutants-'))
    for (const name of COPIED) await cp(join(ROOT, name), join(folder, name), { recursive: true })
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    return new Workshop(folder)
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true })
  }

  /** Runs `act` while the mutant is in the sources. */
  async with<T>(mutant: Mutant, act: () => Promise<T>): Promise<T> {
    const path = join(this.#folder, mutant.file)
    const source = await readFile(path, 'utf8')
    await writeFile(path, mutated(source, mutant))
    try {
      return await act()
    } finally {
      await writeFile(path, source)
    }
  }

  /**
   * Runs short parts of suites, up to the first failure.
   * @param aim the part to try. Default: half of a short part, evenly spread
   */
  async run(suites: readonly string[], aim?: Omit<Aim, 'suite'>): Promise<Verdict> {
    const report = join(this.#folder, 'report.json')
    await rm(report, { force: true })
    const files = suites.map((suite) => `test/faults/matrix/${suite}.test.ts`)
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
    const options = ['--project', 'simulation', '--bail', '1', '--no-file-parallelism', '--no-isolate']
    const output = ['--reporter', 'json', '--outputFile', report]
    const isOver = await this.#spawn([vitest, 'run', ...options, ...output, ...files], {
      CULVERT_FAULTS_END: 'first',
      ...(aim === undefined ? { CULVERT_FAULTS_SHARE: '0.5' } : { CULVERT_FAULTS_FOCUS: aim.cases }),
      ...(aim?.isWhole ? { CULVERT_FAULTS: 'all' } : {}),
    })
    if (!isOver) return { type: 'killed', suite: suites.join(', '), why: `no end in ${LIMIT_MS / 1000} s` }
    return verdictOf(await readFile(report, 'utf8').catch(() => undefined), suites)
  }

  /** @returns whether it ended in time. */
  #spawn(args: readonly string[], env: Readonly<Record<string, string>>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const options = { cwd: this.#folder, env: { ...process.env, ...env }, stdio: 'ignore', detached: true } as const
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
}

interface Report {
  readonly success: boolean
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message?: string
    readonly assertionResults: readonly { readonly status: string; readonly failureMessages?: readonly string[] }[]
  }[]
}

function verdictOf(text: string | undefined, suites: readonly string[]): Verdict {
  // Without a report, the tests could not even be collected.
  if (text === undefined) return { type: 'killed', suite: suites[0] ?? '', why: 'the operator could not be loaded' }
  const { success, testResults } = JSON.parse(text) as Report
  if (success) return { type: 'survived' }
  const failed = testResults.find(({ status }) => status === 'failed')
  const [why = failed?.message ?? ''] = failed?.assertionResults.flatMap((each) => each.failureMessages ?? []) ?? []
  const suite = failed === undefined ? suites.join(', ') : (/([^/]+)\.test\.ts$/.exec(failed.name)?.[1] ?? failed.name)
  return { type: 'killed', suite, why }
}
