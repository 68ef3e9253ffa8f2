import { textOf } from '../building-blocks/remote.ts'

/** Many times the length of the largest key. */
export const PUBLIC_KEY_LENGTH = 16_384
/** More than the maximum number of principals that OpenSSH reads and the largest keys take together. */
export const CERTIFICATE_LENGTH = 131_072

/** One line `type base64 comment`, without options in front of it. */
const KEY_LINE = /^([a-z0-9@.-]+)[ \t]+([A-Za-z0-9+/]{16,}={0,2})(?:[ \t][^\r\n]*)?$/

/** Whether a text is such a line, apart from surrounding white space. */
export function isKeyLine(text: string): boolean {
  return KEY_LINE.test(text.trim())
}

/** Only the key, for comparing: comment and white space have no meaning. */
export function comparablePublicKey(value: unknown): string | undefined {
  const line = textOf(value)?.trim()
  const [, type, key] = KEY_LINE.exec(line ?? '') ?? []
  return key === undefined ? line : `${type} ${key}`
}

/** The comment of a key, by which people know it; undefined if it has none. */
export function commentOf(value: unknown): string | undefined {
  return (
    textOf(value)
      ?.trim()
      .split(/[ \t]+/)
      .slice(2)
      .join(' ') || undefined
  )
}

/** `type base64 comment` on one line, without control characters other than tabs. */
const ANSWERED_LINE = /^([a-z0-9@.-]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t](?:\t|[^\p{Cc}\p{Zl}\p{Zp}])*)?$/u

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
  const [, type = '', base64 = ''] = ANSWERED_LINE.exec(line) ?? []
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

/**
 * What a public key reveals about its private key, in API terms (`management-api.md § Endpoints`,
 * `ssh_certificate_authorities`).
 */
export interface KeyFacts {
  readonly private_key_type?: string
  readonly elliptic_curve?: string
  /** In bits. */
  readonly key_size?: number
}

/** The facts from a line in authorized-keys format; none for anything else. */
export function keyFacts(line: unknown): KeyFacts {
  if (typeof line !== 'string' || line.length > PUBLIC_KEY_LENGTH) return {}
  const [type = '', key = ''] = comparablePublicKey(line)?.split(' ') ?? []
  const [, curve] = /^ecdsa-sha2-nistp(256|384|521)$/.exec(type) ?? []
  if (curve !== undefined) return { private_key_type: 'ecdsa', elliptic_curve: `P-${curve}` }
  if (type === 'ssh-ed25519') return { private_key_type: 'ed25519' }
  if (type !== 'ssh-rsa') return {}
  const size = modulusBits(Buffer.from(key, 'base64'))
  return { private_key_type: 'rsa', ...(size === undefined ? {} : { key_size: size }) }
}

/** An RSA key is three length-prefixed values: its type, the exponent, and the modulus (RFC 4253, section 6.6). */
function modulusBits(key: Buffer): number | undefined {
  let at = 0
  let part: Buffer = Buffer.alloc(0)
  for (let index = 0; index < 3; index += 1) {
    if (at + 4 > key.length) return undefined
    const length = key.readUInt32BE(at)
    part = key.subarray(at + 4, at + 4 + length)
    at += 4 + length
  }
  const first = part.findIndex((byte) => byte !== 0)
  return first < 0 ? undefined : 8 * (part.length - first) - Math.clz32(part[first] ?? 0) + 24
}

/** The curve that a name means, as NIST, SECG, OpenSSL or OpenSSH write it; undefined if it is not known here. */
export function curveNamed(name: string): string | undefined {
  const [, bits] = /^(?:(?:ecdsa-sha2-)?nist-?p-?|p-?|secp|prime)(256|384|521)(?:r1|v1)?$/i.exec(name) ?? []
  return bits === undefined ? undefined : `P-${bits}`
}

/**
 * A line of `known_hosts` that makes clients trust host certificates of an authority (sshd(8), "SSH_KNOWN_HOSTS FILE
 * FORMAT").
 *
 * @param hosts names and addresses; none means all.
 * @param publicKey of the authority, in authorized-keys format.
 */
export function knownHostsLine(hosts: readonly string[], publicKey: string): string {
  return `@cert-authority ${hosts.length === 0 ? '*' : hosts.join(',')} ${publicKey.trim()}\n`
}
