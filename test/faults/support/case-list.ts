import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ENDS_AT_FIRST, IS_FOCUSED } from './size.ts'

/** Folder in which every suite of the matrix lists its cases; undefined: no lists. */
const FOLDER = process.env.CULVERT_MATRIX_FOLDER

/** A case of the matrix: the write, the point on its way, and the fault there. */
export interface Case {
  /** The request that is hit, such as `IPPolicy minimal / create / POST ip_policies #1`. */
  readonly write: string
  /** `before`, `after`, `answered`, or another moment. */
  readonly point: string
  readonly fault: string
}

interface Failure {
  readonly what: Case
  readonly why: string
}

/**
 * Where a suite runs: over models of the servers with virtual time, or over a real kube-apiserver and an emulator
 * behind HTTP.
 */
export type Where = 'simulation' | 'real'

/** Keeps a text next to the lists of cases, if there is a folder for them. */
export async function keepBeside(file: string, text: string): Promise<void> {
  if (FOLDER === undefined) return
  await mkdir(FOLDER, { recursive: true })
  await writeFile(join(FOLDER, file), text)
}

/** The cases that a suite of the matrix has tried. A repeated triple counts once. */
export class CaseList {
  readonly #suite: string
  readonly #where: Where
  readonly #least: number
  readonly #seeds: number | undefined
  readonly #passed = new Map<string, Case>()
  readonly #failed = new Map<string, Failure>()

  /**
   * @param least fewer cases than this are a failure of the suite. @param seeds how many seeds were run, if seeds make
   * the cases.
   */
  constructor(suite: string, where: Where, { least, seeds }: { readonly least: number; readonly seeds?: number }) {
    this.#suite = suite
    this.#where = where
    this.#least = least
    this.#seeds = seeds
  }

  /** Adds the case with its problems; none: it passed. */
  add(what: Case, problems: readonly string[]): void {
    if (problems.length === 0) this.passed(what)
    else this.failed(what, problems.join('\n'))
  }

  passed(what: Case): void {
    this.#passed.set(keyOf(what), what)
  }

  failed(what: Case, why: string): void {
    this.#failed.set(keyOf(what), { what, why })
    if (ENDS_AT_FIRST) throw new Error(`${keyOf(what)}\n${why}`)
  }

  /** Lists the cases in the folder. @throws Error naming what failed, or that there were too few */
  async end(): Promise<void> {
    const failed = [...this.#failed.values()]
    const passed = [...this.#passed].filter(([key]) => !this.#failed.has(key)).map(([, what]) => what)
    const cases = passed.length + failed.length
    if (FOLDER !== undefined) {
      await mkdir(FOLDER, { recursive: true })
      const row = { suite: this.#suite, where: this.#where, cases, passed: passed.length, failed: failed.length }
      const content = { ...row, seeds: this.#seeds, least: this.#least, failures: failed, list: passed }
      await writeFile(join(FOLDER, `${fileName(this.#suite, this.#where)}.json`), `${JSON.stringify(content)}\n`)
    }
    if (failed.length > 0) {
      const shown = failed.slice(0, 5).map(({ what, why }) => `${keyOf(what)}\n${why}`)
      throw new Error(`${failed.length} of ${cases} cases failed, such as:\n${shown.join('\n\n')}`)
    }
    if (cases < this.#least && !IS_FOCUSED)
      throw new Error(`${this.#suite}: ${cases} cases, at least ${this.#least} are wanted`)
  }
}

function keyOf({ write, point, fault }: Case): string {
  return `${write} | ${point} | ${fault}`
}

function fileName(suite: string, where: Where): string {
  return `${where}-${suite}`.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase()
}
