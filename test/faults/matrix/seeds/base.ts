/** Seeds that a run of the whole matrix tells. */
const SEEDS_OF_A_RUN = 10_000
/** The numbers from which stories are drawn are different up to 2^32. */
const BASES = Math.floor(2 ** 32 / SEEDS_OF_A_RUN)

/** Where the seeds of a run begin. Two runs have the same seeds, or none in common. @param drawn from 0 on and below 1 */
export function drawBase(drawn: number): number {
  return Math.floor(drawn * BASES) * SEEDS_OF_A_RUN
}
