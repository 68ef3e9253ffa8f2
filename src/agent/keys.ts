import { createHash } from 'node:crypto'
import ssh2, { type ParsedKey } from 'ssh2'
import { hostKeyOf, withoutPKCS8 } from '../ssh/key-formats.ts'

type HostKeyAlgorithm = 'ssh-ed25519' | `ecdsa-sha2-nistp${256 | 384 | 521}` | `rsa-sha2-${256 | 512}`

/** Signatures by which a host proves that it has a key; those with SHA-1 prove nothing any more. */
const ALGORITHMS: Readonly<Record<string, readonly HostKeyAlgorithm[]>> = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
}

/** The keys of which the gateway must have one. */
export class PinnedKeys {
  readonly #blobs: ReadonlySet<string>
  /** How the gateway may prove that it has one of them. */
  readonly algorithms: HostKeyAlgorithm[]

  private constructor(keys: readonly ParsedKey[]) {
    this.#blobs = new Set(keys.map((key) => key.getPublicSSH().toString('base64')))
    this.algorithms = [...new Set(keys.flatMap(({ type }) => ALGORITHMS[type] ?? []))]
  }

  /**
   * Reads public keys as `.pub` files have them, `<type> <base64>`, or `ssh-keyscan`, which prints several lines, with
   * the host before each key. A string says what is wrong.
   */
  static parse(texts: readonly string[]): PinnedKeys | string {
    const keys: ParsedKey[] = []
    for (const line of texts.flatMap(keyLines)) {
      const key = ssh2.utils.parseKey(hostKeyOf(line) ?? line)
      if (key instanceof Error || key.isPrivateKey() || ALGORITHMS[key.type] === undefined) {
        // Not more of it: somebody may give a private key.
        return `${JSON.stringify(line.split(/\s/, 1)[0]?.slice(0, 40))} is not a public key such as "ssh-ed25519 AAAA…"`
      }
      keys.push(key)
    }
    return keys.length === 0 ? 'there is no host key' : new PinnedKeys(keys)
  }

  /** @param key in the wire format of SSH */
  has(key: Buffer): boolean {
    return this.#blobs.has(key.toString('base64'))
  }
}

/** The lines of a text that are not empty, and no comments. */
function keyLines(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => (/^\s*(#|$)/.test(line) ? [] : [line.trim()]))
}

/** As `ssh-keygen -l` shows a key. */
export function fingerprint(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

/**
 * Reads a private key without a passphrase, in OpenSSH's format, PEM or PKCS#8; undefined if there is none in the text.
 */
export function parsePrivateKey(text: string): ParsedKey | undefined {
  const key = ssh2.utils.parseKey(withoutPKCS8(text))
  return key instanceof Error || !key.isPrivateKey() ? undefined : key
}
