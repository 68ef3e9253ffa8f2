import { parseAddress } from '../fields/cidr.ts'
import { type Reader, reader } from '../fields/field.ts'
import { anyObject, boolean, bytes, exactlyOne, integer, listOf, nonEmptyString, object } from '../fields/readers.ts'
import { publicKeyLine } from '../ssh/public-key.ts'
import type { JsonObject } from '../values/json.ts'
import { invalid } from '../values/request-error.ts'
import { binding } from './admission.ts'
import { release } from './agent-updates.ts'

const DAY = 86_400

const sourceAddress: Reader<string> = reader(
  { type: 'string', description: 'An IPv4 or IPv6 address.' },
  (value, at) => {
    const address = typeof value === 'string' ? parseAddress(value) : undefined
    if (address === undefined) throw invalid(at, 'must be an IPv4 or IPv6 address')
    return address.toString()
  },
)

const form = object({
  token: { read: nonEmptyString, absent: null },
  sshCredential: { read: nonEmptyString, absent: null },
  publicKey: { read: publicKeyLine, absent: null },
  account: { read: nonEmptyString, absent: null },
  tunnels: { read: listOf(binding), absent: [] },
  metadata: { read: bytes(4096), absent: '' },
  region: { read: nonEmptyString, absent: 'us' },
  os: { read: nonEmptyString, absent: 'linux' },
  ip: { read: sourceAddress, absent: '127.0.0.1' },
  agentVersion: { read: nonEmptyString, absent: null },
  availableVersions: { read: listOf(release), absent: [] },
  updateChecks: { read: boolean, absent: true },
  restartSeconds: { read: integer(0, DAY), absent: 1 },
  updateSeconds: { read: integer(0, DAY), absent: 5 },
})

/**
 * How an agent connects: exactly one of `token` (of a tunnel credential), `sshCredential` (an id) and `publicKey`, the
 * latter two in `account` (default: the one the emulator started with); the rest has defaults.
 */
export const connectForm: Reader<JsonObject> = reader(form.schema, (value, at) => {
  const read = form(value, at)
  exactlyOne(read, ['token', 'sshCredential', 'publicKey'], at)
  return read
})

const bulkForm = object({
  agent: { read: anyObject, absent: null },
  count: { read: integer(0, 100_000), absent: 0 },
  disconnect: { read: integer(0, 1_000_000), absent: 0 },
  account: { read: nonEmptyString, absent: null },
})

/**
 * Many agents at once: first the oldest `disconnect` agents of `account` disconnect, then `count` connect like `agent`.
 */
export const bulkConnectForm: Reader<JsonObject> = reader(bulkForm.schema, (value, at) => {
  const read = bulkForm(value, at)
  if (read.count !== 0 && read.agent === null) throw invalid(`${at}.agent`, 'is needed to connect any')
  return read
})
