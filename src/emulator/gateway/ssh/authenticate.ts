import { createHash } from 'node:crypto'
import ssh2, { type PublicKeyAuthContext } from 'ssh2'
import type { KeyHolder, KeyHolders } from '../../ssh/key-holders.ts'
import { RequestError } from '../../values/request-error.ts'
import type { GatewaySessions, Login } from './gateway-sessions.ts'

/** A key that may start a session, or why it may not; the reason holds nothing secret. */
export type KeyJudgement =
  | { readonly login: Login; readonly holder: KeyHolder }
  | { readonly login: undefined; readonly reason: string }

/**
 * Judges a public key that a client offers (`management-api.md § Authentication`, rule 4): it must be that of an SSH
 * credential whose owner is active, and the restrictions of type `agent` must admit the client.
 */
export function judgeKey(key: Buffer, ip: string, holders: KeyHolders, sessions: GatewaySessions): KeyJudgement {
  const holder = holders.anywhere(key)
  if (holder === undefined) return { login: undefined, reason: `no SSH credential has the key ${fingerprint(key)}` }
  const login = { account: holder.account, credential: holder.id, ip }
  try {
    sessions.admit(login)
    return { login, holder }
  } catch (error) {
    if (error instanceof RequestError) return { login: undefined, reason: error.message }
    throw error
  }
}

/**
 * Why the signature does not prove that the client holds the key; undefined if it does. Signatures with SHA-1 prove
 * nothing any more.
 */
export function signatureFault(context: PublicKeyAuthContext, holder: KeyHolder): string | undefined {
  const { key, signature, blob, hashAlgo } = context
  if (signature === undefined || blob === undefined) return 'the signature is missing'
  if (key.algo === 'ssh-rsa' && hashAlgo === undefined) return 'the RSA signature is made with SHA-1'
  const parsed = ssh2.utils.parseKey(holder.publicKey)
  if (parsed instanceof Error) return `the gateway cannot check keys like ${holder.id}'s`
  return parsed.verify(blob, signature, hashAlgo) === true ? undefined : 'the signature is wrong'
}

/** As `ssh-keygen -l` shows a key. */
function fingerprint(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}
