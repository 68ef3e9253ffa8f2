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
  /** Random bytes, so that no one can predict what is signed. */
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
