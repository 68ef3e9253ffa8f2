import { sshKeys } from './contract/ssh-keys.ts'

/** The public key of an authority, without a comment, as the API returns it. */
export const authorityLine = sshKeys.ed25519.replace(' me@laptop', '')

/** A line in the form of a certificate: a type, and a blob that begins with it. It is not signed. */
export function certificateLine(comment = 'me@laptop', type = 'ssh-ed25519-cert-v01@openssh.com'): string {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(type.length)
  const blob = Buffer.concat([length, Buffer.from(type), Buffer.alloc(64, 7)])
  return `${type} ${blob.toString('base64')} ${comment}`
}
