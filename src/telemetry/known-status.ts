import { STATUS_CODES } from 'node:http'

/** Replaces an unregistered status. */
const OTHER = 'other'

/**
 * An HTTP status, made safe for a label, or for an attribute that collectors turn into labels: a server chooses its
 * status, but must not decide how many time series there are. Our own codes, such as `Timeout`, are kept.
 */
export function knownStatus(status: number | string): string {
  const text = String(status)
  return /^\d/.test(text) && STATUS_CODES[text] === undefined ? OTHER : text
}
