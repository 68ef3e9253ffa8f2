/** Whether the whole matrix is run, as by `npm run test:faults`; else a part of each suite that takes seconds. */
export const IS_WHOLE: boolean = process.env.CULVERT_FAULTS === 'all'

/** All of them, or, in a short run, `few` of them from all over. */
export function some<T>(all: readonly T[], few: number): readonly T[] {
  return IS_WHOLE ? all : spread(all, few)
}

/** So many of them at most, from all over. */
export function spread<T>(all: readonly T[], few: number): readonly T[] {
  if (all.length <= few) return all
  return Array.from({ length: few }, (_, index) => all[Math.floor((index * all.length) / few)] as T)
}
