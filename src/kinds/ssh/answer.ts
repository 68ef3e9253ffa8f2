import { CERTIFICATE_LENGTH, PUBLIC_KEY_LENGTH } from './lengths.ts'

/** `type base64 comment` on one line, without control characters other than tabs. */
const LINE = /^([a-z0-9@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t](?:\t|[^\p{Cc}\p{Zl}\p{Zp}])*)?$/u

/** Types of the keys that an authority may have (`management-api.md § SSH certificates`). */
const KEY = /^(ssh-rsa|ssh-ed25519|ecdsa-sha2-nistp(256|384|521))$/
/** Types of certificates: one for each type of certified key. */
const CERTIFICATE = /^[a-z0-9-]+-cert-v01@openssh\.com$/

/** The public key of an authority in a response, as one line; undefined if it is not one. */
export function answeredKey(value: unknown): string | undefined {
  return lineOf(value, KEY, PUBLIC_KEY_LENGTH)
}

/** A certificate in a response, as one line; undefined if it is not one. */
export function answeredCertificate(value: unknown): string | undefined {
  return lineOf(value, CERTIFICATE, CERTIFICATE_LENGTH)
}

function lineOf(value: unknown, types: RegExp, longest: number): string | undefined {
  if (typeof value !== 'string' || value.length > longest) return undefined
  const line = value.replace(/\r?\n$/, '')
  const [, type = '', base64 = ''] = LINE.exec(line) ?? []
  return types.test(type) && innerType(base64) === type ? line : undefined
}

/** The type stated within the key itself (RFC 4253, section 6.6): programs use it, whatever precedes it on the line. */
function innerType(base64: string): string | undefined {
  const key = Buffer.from(base64, 'base64')
  if (key.length < 4 || key.toString('base64') !== base64) return undefined
  const end = 4 + key.readUInt32BE(0)
  // The key material follows the type.
  return end < key.length ? key.toString('latin1', 4, end) : undefined
}
