const FORM = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:)(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/
/** The point and nine digits: more than a nanosecond the Kubernetes API server does not read. */
const FRACTION = 10

/**
 * A time in any form of RFC 3339, in the form that the Kubernetes API server and `Date.parse` read: `T` and `Z` as
 * capitals, at most nine digits of a second, and a leap second as the second before. Undefined for any other text.
 */
export function rfc3339Of(text: string): string | undefined {
  const parts = FORM.exec(text)
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
