import { sshKeys } from './contract/ssh-keys.ts'

/** The public key of an authority, without a comment, as the API gives it. */
export const authorityLine = sshKeys.ed25519.replace(' me@laptop', '')

/** A line of the form that a certificate has: a type, and a blob that begins with it. Nobody has signed it. */
export function certificateLine(comment = 'me@laptop', type = 'ssh-ed25519-cert-v01@openssh.com'): string {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(type.length)
  const blob = Buffer.concat([length, Buffer.from(type), Buffer.alloc(64, 7)])
  return `${type} ${blob.toString('base64')} ${comment}`
}
