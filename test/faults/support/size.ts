/** Whether the whole matrix is run, as by `npm run test:faults`; else a part of each suite that takes seconds. */
export const IS_WHOLE: boolean = process.env.CULVERT_FAULTS === 'all'

/** How many cases a suite has at least, that has so many when the whole matrix is run. */
export function leastOf(whole: number): number {
  return IS_WHOLE ? whole : 1
}

/** Cases and episodes that are tried where they are looked for by their words; undefined: all. */
const FOCUS = process.env.CULVERT_FAULTS_FOCUS ? new RegExp(process.env.CULVERT_FAULTS_FOCUS) : undefined

/** Whether a suite is not to have as many cases as it should. */
export const IS_FOCUSED: boolean = FOCUS !== undefined

/** Which share of a short run is enough. */
const SHARE = Number(process.env.CULVERT_FAULTS_SHARE ?? 1)

/** Whether a suite ends with its first failure: whoever breaks the operator on purpose wants no more. */
export const ENDS_AT_FIRST: boolean = process.env.CULVERT_FAULTS_END === 'first'

/** Every world of the matrix then meets a server of other choices (`src/emulator/choices`), drawn by this seed and that of the world. */
export const CONTRARY_SEED: string | undefined = process.env.CULVERT_FAULTS_CONTRARY

/** All of them, or, in a short run, `few` of them from all over. */
export function some<T>(all: readonly T[], few: number): readonly T[] {
  return IS_WHOLE ? focused(all) : spread(focused(all), Math.ceil(few * SHARE))
}

/** Those that are looked for, where any of these is among them. */
function focused<T>(all: readonly T[]): readonly T[] {
  const found = FOCUS === undefined ? [] : all.filter((each) => FOCUS.test(wordsOf(each)))
  return found.length === 0 ? all : found
}

/** `Backend group / create`, or that with what befalls it. */
function wordsOf(each: unknown): string {
  const { title = '', what } = each as { readonly title?: string; readonly what?: Readonly<Record<string, string>> }
  return what === undefined ? title : Object.values(what).join(' | ')
}

/** So many of them at most, from all over. */
export function spread<T>(all: readonly T[], few: number): readonly T[] {
  if (all.length <= few) return all
  return Array.from({ length: few }, (_, index) => all[Math.floor((index * all.length) / few)] as T)
}
