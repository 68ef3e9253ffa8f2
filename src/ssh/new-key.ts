import ssh2 from 'ssh2'

/** A key pair as `ssh-keygen -t ed25519` writes it. */
export interface KeyPair {
  /** In OpenSSH's format, without a passphrase. */
  readonly privateKey: string
  /** `ssh-ed25519 <base64>`. */
  readonly publicKey: string
}

/**
 * Makes an ed25519 key. The library drops the zeros with which one key in 256 begins, and cannot read what it then
 * writes: such a key is not used.
 *
 * @param generate makes a private key in OpenSSH's format
 */
export function newKeyPair(generate = () => ssh2.utils.generateKeyPairSync('ed25519').private): KeyPair {
  for (;;) {
    const privateKey = generate()
    const parsed = ssh2.utils.parseKey(privateKey)
    if (!(parsed instanceof Error)) return { privateKey, publicKey: publicKeyOf(parsed) }
  }
}

/** The line of a `.pub` file, without a comment. */
export function publicKeyOf(key: { readonly type: string; getPublicSSH(): Buffer }): string {
  return `${key.type} ${key.getPublicSSH().toString('base64')}`
}
