/** In the order in which a duration names them. */
const UNITS = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const

const COUNT = String.raw`(\d{1,9}(?:\.\d{1,3})?)`
const FORM = new RegExp(`^(?=\\d)${UNITS.map(([unit]) => `(?:${COUNT}${unit})?`).join('')}$`)

/**
 * Reads a duration as people write it: hours, minutes, seconds and milliseconds in this order, each at most once, with
 * up to three decimals: `90s`, `1h30m`, `1.5s`, `500ms`.
 *
 * @returns whole milliseconds; undefined when the text is not a duration.
 */
export function parseDuration(text: string): number | undefined {
  const match = FORM.exec(text)
  if (match === null) return undefined
  return Math.round(UNITS.reduce((sum, [, ms], index) => sum + Number(match[index + 1] ?? 0) * ms, 0))
}

/** Milliseconds of a duration that was validated before. @throws RangeError when it was not. */
export function durationMs(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new RangeError(`${JSON.stringify(text)} is not a duration: use the form 90s or 1h30m`)
  return ms
}
