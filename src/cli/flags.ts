import { InvalidArgumentError } from 'commander'

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Reads the duration of a flag, `500ms`, `1.5s`, `2m` or `1h`, into milliseconds. */
export function duration(value: string): number {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(value)
  if (match === null) throw new InvalidArgumentError('write a duration such as 500ms, 10s or 2m')
  return Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? 0)
}

/** Reads a whole number of at least one. */
export function positive(value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new InvalidArgumentError('give a whole number of at least 1')
  return Number(value)
}

/** Gathers the values of a flag that may be given several times. */
export function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value]
}
