import { cidr } from '../fields/cidr.ts'
import { type Reader, reader } from '../fields/field.ts'
import { listOf, mapOf, nonEmptyString, string } from '../fields/readers.ts'
import { invalid } from '../values/request-error.ts'

/** OpenSSH does not read a certificate with more. */
const MOST_PRINCIPALS = 256

/** OpenSSH's own extensions: flags without a value. */
const FLAGS = new Set([
  'no-touch-required',
  'permit-X11-forwarding',
  'permit-agent-forwarding',
  'permit-port-forwarding',
  'permit-pty',
  'permit-user-rc',
])

/** User names, or host names and addresses; an empty list means all (`management-api.md § SSH certificates`). */
export const principals: Reader<string[]> = reader(
  { ...listOf(nonEmptyString).schema, maxItems: MOST_PRINCIPALS },
  (value, at) => {
    const names = listOf(cString(nonEmptyString))(value, at)
    if (names.length > MOST_PRINCIPALS)
      throw invalid(at, `at most ${MOST_PRINCIPALS} principals fit, not ${names.length}`)
    return names
  },
)

/** `force-command` and `source-address`, the only two that are defined. */
export const criticalOptions: Reader<Record<string, string>> = reader(
  {
    type: 'object',
    properties: { 'force-command': nonEmptyString.schema, 'source-address': nonEmptyString.schema },
    additionalProperties: false,
  },
  (value, at) => {
    const options = mapOf(cString(nonEmptyString))(value, at)
    for (const [name, option] of Object.entries(options)) {
      if (name === 'source-address') checkAddresses(option, `${at}.${name}`)
      else if (name !== 'force-command') throw invalid(`${at}.${name}`, 'is not a critical option that is defined')
    }
    return options
  },
)

/** Extensions by name. Servers ignore unknown ones, but refuse a value where they expect none. */
export const extensions: Reader<Record<string, string>> = reader(mapOf(string).schema, (value, at) => {
  const given = mapOf(cString(string))(value, at)
  for (const [name, extension] of Object.entries(given)) {
    cString(nonEmptyString)(name, at)
    if (FLAGS.has(name) && extension !== '') throw invalid(`${at}.${name}`, 'has no value; leave it empty')
  }
  return given
})

/** Texts are stored in certificates as C strings. */
function cString(read: Reader<string>): Reader<string> {
  return reader(read.schema, (value, at) => {
    const text = read(value, at)
    if (text.includes('\0')) throw invalid(at, 'must not hold a NUL character')
    return text
  })
}

/** Addresses and ranges separated by commas, without spaces: the form that sshd reads. */
function checkAddresses(value: string, at: string): void {
  for (const address of value.split(',')) cidr(address, at)
}
