import { runFrom } from '../matrix/seeds/base.ts'

/** Whether the whole matrix is run, as by `npm run test:faults`; otherwise a part of each suite that takes seconds. */
export const IS_WHOLE: boolean = process.env.CULVERT_FAULTS === 'all'

/**
 * The number of this run of the whole matrix, drawn with its seeds: suites that play a part of their cases play another
 * part in each run, and the runs cover all of them between them. A short run always plays the same.
 */
const RUN = IS_WHOLE ? runFrom(Number(process.env.CULVERT_SEEDS_FROM ?? 0)) : 0

/** This run's turn among `count` runs, from 0. */
export function turnAmong(count: number): number {
  return RUN % count
}

/** One of `count` parts of them, another in each run. */
export function partOf<T>(all: readonly T[], count: number): readonly T[] {
  return all.filter((_, index) => index % count === turnAmong(count))
}

/** The minimum number of cases of a suite that has `whole` in the whole matrix. */
export function leastOf(whole: number): number {
  return IS_WHOLE ? whole : 1
}

/** Cases and episodes to try, matched by their words; undefined: all. */
const FOCUS = process.env.CULVERT_FAULTS_FOCUS ? new RegExp(process.env.CULVERT_FAULTS_FOCUS) : undefined

/** Whether a suite may have fewer cases than usual. */
export const IS_FOCUSED: boolean = FOCUS !== undefined

/** The fraction of `few` cases that a short run plays: 1 for a longer one. */
const SHARE = Number(process.env.CULVERT_FAULTS_SHARE ?? 0.5)

/** Whether a suite ends with its first failure, which is enough for mutants. */
export const ENDS_AT_FIRST: boolean = process.env.CULVERT_FAULTS_END === 'first'

/**
 * If set, every world of the matrix meets a server with other choices (`src/emulator/choices`), drawn from this seed
 * and that of the world.
 */
export const CONTRARY_SEED: string | undefined = process.env.CULVERT_FAULTS_CONTRARY

/**
 * If set, every fifth story of the seeds meets such a server too, drawn from this seed and that of the story: 2,000 of
 * a whole run, which draws another one each time.
 */
export const MIX_SEED: string | undefined = process.env.CULVERT_FAULTS_MIX

/** All of them or, in a short run, `few` of them, evenly spread. */
export function some<T>(all: readonly T[], few: number): readonly T[] {
  return IS_WHOLE ? focused(all) : spread(focused(all), Math.ceil(few * SHARE))
}

/** The matching ones, if any match. */
function focused<T>(all: readonly T[]): readonly T[] {
  const found = FOCUS === undefined ? [] : all.filter((each) => FOCUS.test(wordsOf(each)))
  return found.length === 0 ? all : found
}

/** `Backend group / create`, or that with its fault. */
function wordsOf(each: unknown): string {
  const { title = '', what } = each as { readonly title?: string; readonly what?: Readonly<Record<string, string>> }
  return what === undefined ? title : Object.values(what).join(' | ')
}

/** At most `few` of them, evenly spread. */
export function spread<T>(all: readonly T[], few: number, turn: (count: number) => number = () => 0): readonly T[] {
  if (all.length <= few) return all
  const parts = Math.ceil(all.length / few)
  const offset = turn(parts) / parts
  return Array.from({ length: few }, (_, index) => all[Math.floor(((index + offset) * all.length) / few)] as T)
}
