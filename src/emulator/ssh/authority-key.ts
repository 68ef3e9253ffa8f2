import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto'
import { promisify } from 'node:util'
import type { SshKeyType } from './public-key.ts'
import { SshWriter } from './wire.ts'

/** NIST curves, in the order of their size. */
export const CURVES = ['P-256', 'P-384', 'P-521'] as const
export type Curve = (typeof CURVES)[number]

/** The curve that a name means, as NIST, SECG, OpenSSL or OpenSSH write it; undefined if none. */
export function curveNamed(name: string): Curve | undefined {
  const [, bits] = /^(?:(?:ecdsa-sha2-)?nist-?p-?|p-?|secp|prime)(256|384|521)(?:r1|v1)?$/i.exec(name) ?? []
  return CURVES.find((curve) => curve === `P-${bits}`)
}

/** The private key requested for an SSH certificate authority (`management-api.md § Endpoints`, `§ Limits`). */
export type KeyChoice =
  | { readonly type: 'ed25519' }
  | { readonly type: 'ecdsa'; readonly curve: Curve }
  | { readonly type: 'rsa'; readonly bits: 2048 | 4096 }

/** A new private key, made off the event loop: an RSA key of 4096 bits can take seconds. */
export async function makeKey(choice: KeyChoice): Promise<KeyObject> {
  const make = promisify(generateKeyPair)
  switch (choice.type) {
    case 'ed25519':
      return (await make('ed25519')).privateKey
    case 'ecdsa':
      return (await make('ec', { namedCurve: choice.curve })).privateKey
    case 'rsa':
      return (await make('rsa', { modulusLength: choice.bits })).privateKey
  }
}

/** A new private key, made synchronously. */
export function makeKeyNow(choice: KeyChoice): KeyObject {
  switch (choice.type) {
    case 'ed25519':
      return generateKeyPairSync('ed25519').privateKey
    case 'ecdsa':
      return generateKeyPairSync('ec', { namedCurve: choice.curve }).privateKey
    case 'rsa':
      return generateKeyPairSync('rsa', { modulusLength: choice.bits }).privateKey
  }
}

/** A private key as stored: PKCS #8 in PEM. */
export function toPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** How each kind of key signs (RFC 8332, RFC 5656 § 3.1.2, RFC 8709). */
interface Algorithm {
  readonly keyType: SshKeyType
  /** Name of the public key's format. */
  readonly format: string
  /** Name of the signature's format. */
  readonly signature: string
  /** Undefined if the algorithm includes a hash. */
  readonly hash: string | undefined
}

const ECDSA: Readonly<Record<string, { readonly name: string; readonly hash: string }>> = {
  'P-256': { name: 'nistp256', hash: 'sha256' },
  'P-384': { name: 'nistp384', hash: 'sha384' },
  'P-521': { name: 'nistp521', hash: 'sha512' },
}

/** The private key of an SSH certificate authority, with its descriptions in SSH's formats and its signatures. */
export class AuthorityKey {
  readonly #key: KeyObject
  readonly #algorithm: Algorithm
  /** The public key in the wire format of SSH. */
  readonly publicBlob: Buffer

  /** @param pem what `toPem` returned */
  constructor(pem: string) {
    this.#key = createPrivateKey(pem)
    const { algorithm, blob } = describe(this.#key)
    this.#algorithm = algorithm
    this.publicBlob = blob
  }

  get keyType(): SshKeyType {
    return this.#algorithm.keyType
  }

  /** The public key in authorized-keys format, without a comment. */
  get publicLine(): string {
    return `${this.#algorithm.format} ${this.publicBlob.toString('base64')}`
  }

  /** A signature in the wire format of SSH. RSA signs with SHA-512: servers no longer accept SHA-1. */
  sign(data: Buffer): Buffer {
    const { keyType, signature, hash } = this.#algorithm
    const writer = new SshWriter().string(signature)
    if (keyType !== 'ecdsa') return writer.string(sign(hash, data, this.#key)).bytes()
    // Two halves of equal length, which SSH expects as two numbers.
    const halves = sign(hash, data, { key: this.#key, dsaEncoding: 'ieee-p1363' })
    const [r, s] = [halves.subarray(0, halves.length / 2), halves.subarray(halves.length / 2)]
    return writer.string(new SshWriter().mpint(numberOf(r)).mpint(numberOf(s)).bytes()).bytes()
  }
}

function describe(key: KeyObject): { algorithm: Algorithm; blob: Buffer } {
  const { kty, crv = '', x = '', y = '', n = '', e = '' } = createPublicKey(key).export({ format: 'jwk' })
  const curve = ECDSA[crv]
  if (kty === 'RSA') {
    const blob = new SshWriter()
      .string('ssh-rsa')
      .mpint(numberOf(bytesOf(e)))
      .mpint(numberOf(bytesOf(n)))
      .bytes()
    return { algorithm: { keyType: 'rsa', format: 'ssh-rsa', signature: 'rsa-sha2-512', hash: 'sha512' }, blob }
  }
  if (kty === 'EC' && curve !== undefined) {
    const format = `ecdsa-sha2-${curve.name}`
    const point = Buffer.concat([Buffer.of(4), bytesOf(x), bytesOf(y)])
    const blob = new SshWriter().string(format).string(curve.name).string(point).bytes()
    return { algorithm: { keyType: 'ecdsa', format, signature: format, hash: curve.hash }, blob }
  }
  if (kty === 'OKP' && crv === 'Ed25519') {
    const format = 'ssh-ed25519'
    const blob = new SshWriter().string(format).string(bytesOf(x)).bytes()
    return { algorithm: { keyType: 'ed25519', format, signature: format, hash: undefined }, blob }
  }
  throw new Error('the private key of an SSH certificate authority is of no type that the API has')
}

function bytesOf(base64url: string): Buffer {
  return Buffer.from(base64url, 'base64url')
}

function numberOf(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`)
}
