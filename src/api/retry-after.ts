/** The longest `Retry-After` that is honoured. A server that asks for more gets the next request after this time. */
export const MAX_RETRY_AFTER_MS = 10 * 60_000

/**
 * Milliseconds that a `Retry-After` header asks to wait: whole seconds or an HTTP date (RFC 9110 § 10.2.3), at most ten
 * minutes. Undefined when absent or unreadable; 0 for a date in the past.
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim()
  if (text === undefined || text === '') return undefined
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_AFTER_MS)
  // Date.parse alone would also read "-5" or "1.5" as a date.
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), MAX_RETRY_AFTER_MS)
}
