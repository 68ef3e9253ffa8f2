import { createPublicKey } from 'node:crypto'
import { type Reader, reader } from '../fields/field.ts'
import { invalid } from '../values/request-error.ts'
import { SshReader, WireFormatError } from './wire.ts'

export type SshKeyType = 'rsa' | 'ecdsa' | 'ed25519'

/** A public key from an authorized-keys line. */
export interface SshPublicKey {
  /** Name of the format, such as `ssh-ed25519` or `ecdsa-sha2-nistp256`. */
  readonly type: string
  /** The key in the wire format of SSH; begins with `type`. */
  readonly blob: Buffer
  /** The text after the key; empty if there is none. */
  readonly comment: string
  readonly keyType: SshKeyType
}

interface KeyFormat {
  readonly keyType: SshKeyType
  /** Checks the blob after the name of the format; throws a WireFormatError. */
  readonly check: (reader: SshReader) => void
}

/**
 * Keys in hardware (`sk-…`) are keys of their type, for an application that they name. Certificates are not plain keys
 * and are refused.
 */
const FORMATS: Readonly<Record<string, KeyFormat>> = {
  'ssh-rsa': { keyType: 'rsa', check: checkRsa },
  'ecdsa-sha2-nistp256': { keyType: 'ecdsa', check: ecdsaCheck('nistp256', 'P-256', 32) },
  'ecdsa-sha2-nistp384': { keyType: 'ecdsa', check: ecdsaCheck('nistp384', 'P-384', 48) },
  'ecdsa-sha2-nistp521': { keyType: 'ecdsa', check: ecdsaCheck('nistp521', 'P-521', 66) },
  'ssh-ed25519': { keyType: 'ed25519', check: checkEd25519 },
  'sk-ssh-ed25519@openssh.com': { keyType: 'ed25519', check: inHardware(checkEd25519) },
  'sk-ecdsa-sha2-nistp256@openssh.com': {
    keyType: 'ecdsa',
    check: inHardware(ecdsaCheck('nistp256', 'P-256', 32)),
  },
}

/** What OpenSSH accepts. */
const RSA_BITS = { least: 1024, most: 16_384 }

/** A line that is not a public key; the message says why, without repeating the line. */
class PublicKeyError extends Error {
  readonly code = 'SSH_PUBLIC_KEY'

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'PublicKeyError'
  }
}

/**
 * Reads an authorized-keys line without options: `<type> <base64> [comment]`. White space around it, such as the line
 * break at the end of a `.pub` file, is ignored. Throws a PublicKeyError when it is not a public key.
 */
export function parsePublicKey(line: string): SshPublicKey {
  const match = /^(\S+)[ \t]+(\S+)(?:[ \t]+([^\r\n]*))?$/.exec(line.trim())
  if (match === null) throw new PublicKeyError('is not one line of the form "type base64 comment"')
  const [, type = '', encoded = '', comment = ''] = match
  const format = Object.hasOwn(FORMATS, type) ? FORMATS[type] : undefined
  if (format === undefined) throw new PublicKeyError(`must begin with one of ${Object.keys(FORMATS).join(', ')}`)
  const blob = Buffer.from(encoded, 'base64')
  if (blob.toString('base64') !== encoded) throw new PublicKeyError('the key is not in base64')
  try {
    checkBlob(blob, type, format)
  } catch (error) {
    if (!(error instanceof WireFormatError)) throw error
    throw new PublicKeyError(`the key cannot be read: ${error.message}`, { cause: error })
  }
  return { type, blob, comment, keyType: format.keyType }
}

/**
 * A field that holds a public key in authorized-keys format, stored unchanged (`management-api.md § Access
 * credentials`).
 */
export const publicKeyLine: Reader<string> = reader(
  { type: 'string', description: 'A public key in authorized-keys format.' },
  (value, at) => {
    if (typeof value !== 'string') throw invalid(at, 'must be a string')
    try {
      parsePublicKey(value)
    } catch (error) {
      if (error instanceof PublicKeyError) throw invalid(at, error.message)
      throw error
    }
    return value
  },
)

function checkBlob(blob: Buffer, type: string, format: KeyFormat): void {
  const reader = new SshReader(blob)
  if (reader.text() !== type) throw new WireFormatError('it is of another type than the line says')
  format.check(reader)
  reader.end()
}

function checkRsa(reader: SshReader): void {
  const exponent = reader.mpint()
  const bits = reader.mpint().toString(2).length
  if (exponent < 3n || exponent % 2n === 0n) throw new WireFormatError('its exponent is not an odd number from 3 up')
  if (bits < RSA_BITS.least || bits > RSA_BITS.most) {
    throw new WireFormatError(`it has ${bits} bits, not ${RSA_BITS.least} to ${RSA_BITS.most}`)
  }
}

function checkEd25519(reader: SshReader): void {
  if (reader.string().length !== 32) throw new WireFormatError('it is not 32 bytes long')
}

/** The key itself, then the application that it is for, such as `ssh:`. */
function inHardware(check: KeyFormat['check']): KeyFormat['check'] {
  return (reader) => {
    check(reader)
    reader.text()
  }
}

/** The name of the curve a second time, then an uncompressed point of two coordinates. */
function ecdsaCheck(name: string, crv: string, size: number): (reader: SshReader) => void {
  return (reader) => {
    if (reader.text() !== name) throw new WireFormatError('it is on another curve than its type says')
    const point = reader.string()
    if (point.length !== 1 + 2 * size || point[0] !== 0x04) {
      throw new WireFormatError(`its point is not ${1 + 2 * size} bytes long and uncompressed`)
    }
    const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)].map((half) => half.toString('base64url'))
    if (x === undefined || y === undefined || !onCurve({ kty: 'EC', crv, x, y })) {
      throw new WireFormatError('its point is not on the curve')
    }
  }
}

function onCurve(key: { kty: 'EC'; crv: string; x: string; y: string }): boolean {
  try {
    createPublicKey({ key, format: 'jwk' })
    return true
  } catch {
    return false
  }
}
