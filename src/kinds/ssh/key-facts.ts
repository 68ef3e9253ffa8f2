import { PUBLIC_KEY_LENGTH } from './lengths.ts'
import { comparablePublicKey } from './public-key.ts'

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
