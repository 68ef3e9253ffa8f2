import { cidr } from '../fields/cidr.ts'
import { type Reader, reader } from '../fields/field.ts'
import { listOf, mapOf, nonEmptyString, string } from '../fields/readers.ts'
import { invalid } from '../values/request-error.ts'
import type { AuthorityKey } from './authority-key.ts'
import type { SshPublicKey } from './public-key.ts'
import { SshReader, SshWriter } from './wire.ts'

/** What a certificate is for; the numbers are those of the format. */
export const CERTIFICATE_USE = { user: 1, host: 2 } as const

/** The content of an OpenSSH certificate (OpenSSH's PROTOCOL.certkeys). */
export interface CertificateContent {
  readonly use: keyof typeof CERTIFICATE_USE
  /** The key that is certified. */
  readonly subject: SshPublicKey
  /** Random bytes, so that nobody can predict what is signed. */
  readonly nonce: Buffer
  readonly serial: bigint
  /** What servers log for the holder of the certificate. */
  readonly keyId: string
  /** User names or host names; empty means all. */
  readonly principals: readonly string[]
  /** Seconds since 1970; the first second in which it is valid, and the first in which it no longer is. */
  readonly validAfter: number
  readonly validBefore: number
  readonly criticalOptions: Readonly<Record<string, string>>
  readonly extensions: Readonly<Record<string, string>>
}

/** The certificate, signed, in authorized-keys format with the comment of the certified key. */
export function signCertificate(content: CertificateContent, authority: AuthorityKey): string {
  const { subject } = content
  const type = `${subject.type.replace('@openssh.com', '')}-cert-v01@openssh.com`
  const signed = new SshWriter()
    .string(type)
    .string(content.nonce)
    .raw(keyMembers(subject))
    .uint64(content.serial)
    .uint32(CERTIFICATE_USE[content.use])
    .string(content.keyId)
    .string(principalList(content.principals))
    .uint64(BigInt(content.validAfter))
    .uint64(BigInt(content.validBefore))
    .string(optionList(content.criticalOptions))
    .string(optionList(content.extensions))
    // Reserved.
    .string('')
    .string(authority.publicBlob)
    .bytes()
  const blob = new SshWriter().raw(signed).string(authority.sign(signed)).bytes()
  return [type, blob.toString('base64'), subject.comment].filter((part) => part !== '').join(' ')
}

/** The certified key without the name of its format, which the certificate's own name replaces. */
function keyMembers({ blob }: SshPublicKey): Buffer {
  const name = new SshReader(blob).string()
  return blob.subarray(4 + name.length)
}

function principalList(principals: readonly string[]): Buffer {
  const writer = new SshWriter()
  for (const principal of principals) writer.string(principal)
  return writer.bytes()
}

/**
 * Names in the order of their bytes, as OpenSSH requires; a value is wrapped as a string of its own, no value is empty.
 */
function optionList(options: Readonly<Record<string, string>>): Buffer {
  const writer = new SshWriter()
  const sorted = Object.entries(options).toSorted(([one], [two]) => Buffer.compare(Buffer.from(one), Buffer.from(two)))
  for (const [name, value] of sorted) {
    writer.string(name).string(value === '' ? '' : new SshWriter().string(value).bytes())
  }
  return writer.bytes()
}

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
