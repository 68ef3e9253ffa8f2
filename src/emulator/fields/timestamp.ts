import { invalid } from '../errors.ts'
import { rfc3339 } from '../json.ts'
import { type Reader, reader } from './field.ts'
import { TIMESTAMP } from './json-schema.ts'

const FORM = /^(\d{4}-\d\d-\d\d)T((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.\d+)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i
const YEAR_10000 = Date.UTC(10_000, 0)

/**
 * An RFC 3339 time from 1970 to 9999, returned in UTC with whole seconds like all times (`api-decisions.md § Values`);
 * a fraction is dropped.
 */
export const timestamp: Reader<string> = reader(TIMESTAMP, (value, at) => {
  if (typeof value !== 'string') throw invalid(at, 'must be a string')
  const [, day = '', time = '', zone = ''] = FORM.exec(value) ?? []
  if (!isCalendarDay(day)) throw invalid(at, `${JSON.stringify(value)} is not an RFC 3339 time`)
  const milliseconds = Date.parse(`${day}T${time}${zone.toUpperCase()}`)
  if (milliseconds < 0 || milliseconds >= YEAR_10000) throw invalid(at, 'must be from 1970 to 9999')
  return rfc3339(milliseconds)
})

/** `Date.parse` reads 30 February as 2 March. */
function isCalendarDay(day: string): boolean {
  const milliseconds = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(milliseconds) && rfc3339(milliseconds).startsWith(day)
}
