/** Whether the whole matrix is run, as by `npm run test:faults`; else a part of each suite that takes seconds. */
export const IS_WHOLE: boolean = process.env.CULVERT_FAULTS === 'all'

/** All of them, or, in a short run, `few` of them from all over. */
export function some<T>(all: readonly T[], few: number): readonly T[] {
  if (IS_WHOLE || all.length <= few) return all
  return Array.from({ length: few }, (_, index) => all[Math.floor((index * all.length) / few)] as T)
}
