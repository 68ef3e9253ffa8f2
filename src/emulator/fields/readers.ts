import { isJsonObject, type Json, type JsonObject, rfc3339 } from '../values/json.ts'
import { invalid } from '../values/request-error.ts'
import { isUnset, missingField, type Reader, reader, unknownField, unsettable } from './field.ts'
import { FLAG, type JsonSchema, list, TEXT, TIMESTAMP } from './json-schema.ts'

/** Any string. */
export const string: Reader<string> = reader(TEXT, (value, at) => {
  if (typeof value !== 'string') throw invalid(at, 'must be a string')
  return value
})

/** A string with at least one character. */
export const nonEmptyString: Reader<string> = reader({ type: 'string', minLength: 1 }, (value, at) => {
  const text = string(value, at)
  if (text === '') throw invalid(at, 'must not be empty')
  return text
})

/** A string of at most `limit` bytes of UTF-8. */
export function bytes(limit: number): Reader<string> {
  return reader({ type: 'string', maxLength: limit, 'x-maxBytes': limit }, (value, at) => {
    const text = string(value, at)
    const size = Buffer.byteLength(text)
    if (size > limit) throw invalid(at, `is ${size} bytes long, at most ${limit} are allowed`)
    return text
  })
}

/** A string of at most `limit` characters (Unicode code points). */
export function characters(limit: number): Reader<string> {
  return reader({ type: 'string', maxLength: limit }, (value, at) => {
    const text = string(value, at)
    const size = [...text].length
    if (size > limit) throw invalid(at, `is ${size} characters long, at most ${limit} are allowed`)
    return text
  })
}

export const boolean: Reader<boolean> = reader(FLAG, (value, at) => {
  if (typeof value !== 'boolean') throw invalid(at, 'must be true or false')
  return value
})

/** A whole number from `least` to `most`, both included. */
export function integer(least: number, most: number): Reader<number> {
  return reader({ type: 'integer', minimum: least, maximum: most }, (value, at) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least || value > most) {
      throw invalid(at, `must be a whole number from ${least} to ${most}`)
    }
    return value
  })
}

/** One of the given strings. */
export function oneOf<T extends string>(...allowed: readonly T[]): Reader<T> {
  return reader({ type: 'string', enum: [...allowed] }, (value, at) => {
    const match = allowed.find((option) => option === value)
    if (match === undefined) throw invalid(at, `must be one of ${allowed.join(', ')}`)
    return match
  })
}

export function listOf<T extends Json>(item: Reader<T>): Reader<T[]> {
  return reader(list(item.schema), (value, at) => {
    if (!Array.isArray(value)) throw invalid(at, 'must be a list')
    return value.map((entry, index) => item(entry, `${at}[${index}]`))
  })
}

/** A list; a single object is read as a list of one (`api-decisions.md § Values`). */
export function listOrOne<T extends Json>(item: Reader<T>): Reader<T[]> {
  const items = listOf(item)
  return reader({ anyOf: [items.schema, item.schema] }, (value, at) =>
    isJsonObject(value) ? [item(value, at)] : items(value, at),
  )
}

/** A list of distinct strings of the kind `item`. */
export function distinct(item: Reader<string>): Reader<string[]> {
  const entriesOf = listOf(item)
  return reader({ ...entriesOf.schema, uniqueItems: true }, (value, at) => {
    const entries = entriesOf(value, at)
    entries.forEach((entry, index) => {
      if (entries.indexOf(entry) !== index) throw invalid(`${at}[${index}]`, `${JSON.stringify(entry)} is named twice`)
    })
    return entries
  })
}

/** A map with any string keys, which are kept unchanged. */
export function mapOf<T extends Json>(item: Reader<T>): Reader<Record<string, T>> {
  return reader({ type: 'object', additionalProperties: item.schema }, (value, at) => {
    if (!isJsonObject(value)) throw invalid(at, 'must be an object')
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, item(entry, `${at}.${key}`)]))
  })
}

/** Anything. */
export const anything: Reader = reader({}, (value) => value)

/** Any JSON object, unchanged. */
export const anyObject: Reader<JsonObject> = reader({ type: 'object' }, (value, at) => {
  if (!isJsonObject(value)) throw invalid(at, 'must be an object')
  return value
})

interface Member {
  readonly read: Reader
  readonly absent?: Json
}

/**
 * An object with exactly these members. One without `absent` is mandatory; null counts as absent. An undeclared member
 * is refused by its full path.
 */
export function object(members: Readonly<Record<string, Member>>): Reader<JsonObject> {
  return reader(schemaOf(members), (value, at) => {
    if (!isJsonObject(value)) throw invalid(at, 'must be an object')
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(members, name)) throw unknownField(`${at}.${name}`)
    }
    const result: JsonObject = {}
    for (const [name, member] of Object.entries(members)) {
      const given = Object.hasOwn(value, name) ? value[name] : undefined
      const { absent, read } = member
      if (absent !== undefined && isUnset(given, read)) result[name] = absent
      else if (given === undefined || given === null) throw missingField(`${at}.${name}`)
      else result[name] = read(given, `${at}.${name}`)
    }
    return result
  })
}

function schemaOf(members: Readonly<Record<string, Member>>): JsonSchema {
  const entries = Object.entries(members)
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, { read, absent }]) => [
        name,
        absent === undefined ? read.schema : { ...unsettable(read), default: absent },
      ]),
    ),
    required: entries.filter(([, { absent }]) => absent === undefined).map(([name]) => name),
    additionalProperties: false,
  }
}

/** The one member of `value` among the allowed names that is neither absent nor null; anything else is refused. */
export function exactlyOne<T extends string>(value: JsonObject, allowed: readonly T[], at: string): T {
  const present = allowed.filter((name) => value[name] !== undefined && value[name] !== null)
  const [only] = present
  if (only === undefined || present.length > 1) {
    throw invalid(at, `must hold exactly one of ${allowed.join(', ')}, not ${present.length}`)
  }
  return only
}

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
