/** Number of seeds in a run of the whole matrix. */
const SEEDS_OF_A_RUN = 10_000
/** Stories are drawn from numbers that are distinct up to 2^32. */
const BASES = Math.floor(2 ** 32 / SEEDS_OF_A_RUN)

/**
 * The first seed of a run. Two runs have the same seeds, or none in common. @param drawn from 0 inclusive to 1
 * exclusive
 */
export function drawBase(drawn: number): number {
  return Math.floor(drawn * BASES) * SEEDS_OF_A_RUN
}

/**
 * The number of a run of the matrix, by its first seed: suites that play a part of their cases take another one each
 * time.
 */
export function runFrom(firstSeed: number): number {
  return Math.floor(firstSeed / SEEDS_OF_A_RUN)
}
