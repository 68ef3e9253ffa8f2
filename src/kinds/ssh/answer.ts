import { CERTIFICATE_LENGTH, PUBLIC_KEY_LENGTH } from './lengths.ts'

/** `type base64 comment` on one line, no control character in it but tabs. */
const LINE = /^([a-z0-9@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t](?:\t|[^\p{Cc}\p{Zl}\p{Zp}])*)?$/u

/** Types of the keys that an authority may have (`management-api.md § SSH certificates`). */
const KEY = /^(ssh-rsa|ssh-ed25519|ecdsa-sha2-nistp(256|384|521))$/
/** Types of certificates, which are those of the certified keys. */
const CERTIFICATE = /^[a-z0-9-]+-cert-v01@openssh\.com$/

/** The public key of an authority as an answer has it, as one line; undefined for all that is none. */
export function answeredKey(value: unknown): string | undefined {
  return lineOf(value, KEY, PUBLIC_KEY_LENGTH)
}

/** A certificate as an answer has it, as one line; undefined for all that is none. */
export function answeredCertificate(value: unknown): string | undefined {
  return lineOf(value, CERTIFICATE, CERTIFICATE_LENGTH)
}

function lineOf(value: unknown, types: RegExp, longest: number): string | undefined {
  if (typeof value !== 'string' || value.length > longest) return undefined
  const line = value.replace(/\r?\n$/, '')
  const [, type = '', base64 = ''] = LINE.exec(line) ?? []
  return types.test(type) && innerType(base64) === type ? line : undefined
}

/** The type that a key says of itself (RFC 4253, section 6.6): programs go by it, whatever stands before it in the line. */
function innerType(base64: string): string | undefined {
  const key = Buffer.from(base64, 'base64')
  if (key.length < 4 || key.toString('base64') !== base64) return undefined
  const end = 4 + key.readUInt32BE(0)
  // What comes after the type is the key itself.
  return end < key.length ? key.toString('latin1', 4, end) : undefined
}
