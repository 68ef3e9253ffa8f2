const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:)(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/
/** The point and nine digits: more than a nanosecond the Kubernetes API server does not read. */
const FRACTION = 10

/**
 * A time in any form of RFC 3339, in the form that the Kubernetes API server and `Date.parse` read: `T` and `Z` as
 * capitals, at most nine digits of a second, and a leap second as the second before. Undefined for any other text.
 */
export function rfc3339Of(text: string): string | undefined {
  const parts = RFC3339.exec(text)
  if (parts === null) return undefined
  const [, date = '', minute = '', second = '', fraction = '', zone = ''] = parts
  const time = `${date}T${minute}${second === '60' ? '59' : second}${fraction.slice(0, FRACTION)}${zone.toUpperCase()}`
  return Number.isNaN(Date.parse(time)) ? undefined : time
}

/** A value of a response as milliseconds since 1970; undefined for anything that is not an RFC 3339 time. */
export function timeInMs(value: unknown): number | undefined {
  const time = typeof value === 'string' ? rfc3339Of(value) : undefined
  return time === undefined ? undefined : Date.parse(time)
}

/** In the order in which a duration names them. */
const UNITS = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const

const COUNT = String.raw`(\d{1,9}(?:\.\d{1,3})?)`
const DURATION = new RegExp(`^(?=\\d)${UNITS.map(([unit]) => `(?:${COUNT}${unit})?`).join('')}$`)

/**
 * Reads a duration as people write it: hours, minutes, seconds and milliseconds in this order, each at most once, with
 * up to three decimals: `90s`, `1h30m`, `1.5s`, `500ms`.
 *
 * @returns whole milliseconds; undefined when the text is not a duration.
 */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text)
  if (match === null) return undefined
  return Math.round(UNITS.reduce((sum, [, ms], index) => sum + Number(match[index + 1] ?? 0) * ms, 0))
}

/** Milliseconds of a duration that was validated before. @throws RangeError when it was not. */
export function durationMs(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new RangeError(`${JSON.stringify(text)} is not a duration: write it as 90s or 1h30m`)
  return ms
}

/** Wall time as Kubernetes' MicroTime: exactly six fractional digits, or the server rejects it. */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z')
}

/** Wall time as Kubernetes' Time: RFC 3339 in UTC, cut to whole seconds. */
export function secondsTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}
