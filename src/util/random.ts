import { randomBytes } from 'node:crypto'

/** Source of randomness, injected so that a simulation replays exactly. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
  /** `bytes` random bytes as lower-case hexadecimal. */
  hex(bytes: number): string
}

export const systemRandom: Random = {
  next: () => Math.random(),
  hex: (bytes) => randomBytes(bytes).toString('hex'),
}

/** `value` changed by up to ±`fraction`, so that many equal waits do not end together. */
export function jitter(random: Random, value: number, fraction: number): number {
  return value * (1 + fraction * (2 * random.next() - 1))
}
