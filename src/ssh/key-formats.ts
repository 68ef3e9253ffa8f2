import { createPrivateKey, type KeyObject, randomBytes } from 'node:crypto'

/** Begins a private key in PKCS#8, as openssl, cert-manager and Vault write it, without a passphrase. */
const PKCS8 = /^\s*-----BEGIN PRIVATE KEY-----/

/**
 * A private key in PKCS#8 in a form that SSH libraries read: OpenSSH's for Ed25519, PEM for RSA and ECDSA. Any other
 * text, and one that is no key, is returned as it is.
 */
export function withoutPKCS8(text: string): string {
  if (!PKCS8.test(text)) return text
  let key: KeyObject
  try {
    key = createPrivateKey(text)
  } catch {
    // Whoever parses it next says that it is no key.
    return text
  }
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return openSSH(key)
    case 'rsa':
      return key.export({ type: 'pkcs1', format: 'pem' }).toString()
    case 'ec':
      return key.export({ type: 'sec1', format: 'pem' }).toString()
    default:
      return text
  }
}

/** OpenSSH's own format (PROTOCOL.key), without a passphrase. */
function openSSH(key: KeyObject): string {
  const { d = '', x = '' } = key.export({ format: 'jwk' })
  const [secret, point] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]
  const type = Buffer.from('ssh-ed25519')
  const check = randomBytes(4)
  const key64 = Buffer.concat([secret, point])
  const unpadded = Buffer.concat([
    check,
    check,
    sshString(type),
    sshString(point),
    sshString(key64),
    sshString(Buffer.alloc(0)),
  ])
  const missing = (8 - (unpadded.length % 8)) % 8
  const padding = Buffer.from(Array.from({ length: missing }, (_, index) => index + 1))
  const none = sshString(Buffer.from('none'))
  const blob = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...[none, none, sshString(Buffer.alloc(0)), number(1)],
    sshString(Buffer.concat([sshString(type), sshString(point)])),
    sshString(Buffer.concat([unpadded, padding])),
  ])
  const lines = blob.toString('base64').match(/.{1,70}/g) ?? []
  return `${['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----'].join('\n')}\n`
}

/** A `string` of the SSH protocol (RFC 4251, section 5): its length, then its bytes. */
export function sshString(content: Buffer): Buffer {
  return Buffer.concat([number(content.length), content])
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const TYPES = 'ssh-ed25519|ecdsa-sha2-nistp(?:256|384|521)|ssh-rsa'
const BLOB = '[A-Za-z0-9+/]{16,}={0,2}'

/**
 * A host key as `.pub` files have it, or as `ssh-keyscan` and `known_hosts` do, with the host before it; a comment may
 * follow. A marker such as `@revoked` may not precede it.
 */
export const HOST_KEY_PATTERN = `^([!-"$-?A-~][!-~]* )?(${TYPES}) ${BLOB}( [ -~]*)?$`.replaceAll('(?:', '(')

const LINE = new RegExp(`^(?:[^@#\\s]\\S* )?((?:${TYPES}) ${BLOB})(?:\\s.*)?$`)

/** The key of such a line alone, `<type> <base64>`; undefined if it has none. */
export function hostKeyOf(line: string): string | undefined {
  return LINE.exec(line.trim())?.[1]
}
