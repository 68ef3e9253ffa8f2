import { STATUS_CODES } from 'node:http'

/** What takes the place of a status that nobody has registered. */
const OTHER = 'other'

/**
 * An HTTP status as it may stand in a label, or in an attribute that collectors make labels of: a server chooses what it answers, and
 * must not choose how many time series there are. A code of our own, such as `Timeout`, stays as it is.
 */
export function knownStatus(status: number | string): string {
  const text = String(status)
  return /^\d/.test(text) && STATUS_CODES[text] === undefined ? OTHER : text
}
