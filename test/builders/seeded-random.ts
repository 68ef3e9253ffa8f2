import type { Random } from '../../src/util/random.ts'

/** A small generator (mulberry32): the same seed gives the same numbers. */
export function seededRandom(seed: number): Random {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const byte = (): string =>
    Math.floor(next() * 256)
      .toString(16)
      .padStart(2, '0')
  return { next, hex: (bytes) => Array.from({ length: bytes }, byte).join('') }
}
