import { createHmac } from 'node:crypto'
import { ownField } from '../../util/json.ts'
import type { CommonStatus, Fields } from '../descriptor/common.ts'
import { CREATE_NONCE, OUTPUT_KEYS, REMOTE_ID, RESERVED_FOR, TOKEN_DIGEST } from '../names.ts'
import { keysNote, keysWritten } from '../ownership.ts'
import { compareFingerprints, type Fingerprints } from '../run/fingerprints.ts'
import { type DataObject, encoded, textIn } from './place.ts'

const DIGEST_LENGTH = 16

/** A token in a Secret, with the Secret's annotations about it. */
export interface HeldToken {
  /** Id of the token's object. */
  readonly id: string | undefined
  /** Nonce of the create that made the object. */
  readonly nonce: string | undefined
  readonly token: string | undefined
  /** Whether the token is the one that was written for that id. */
  readonly intact: boolean
}

export function heldToken(secret: DataObject | undefined, key: string): HeldToken {
  const annotations = secret?.metadata.annotations ?? {}
  const { [REMOTE_ID]: id, [CREATE_NONCE]: nonce, [TOKEN_DIGEST]: digest } = annotations
  const token = textIn('Secret', secret, key) || undefined
  return { id, nonce, token, intact: id !== undefined && token !== undefined && digestOf(token, id) === digest }
}

/**
 * A digest that is stored only beside the token in its Secret, so it need not conceal the token. `id` is the object's.
 */
function digestOf(token: string, id: string): string {
  return createHmac('sha256', id).update(token).digest('hex').slice(0, DIGEST_LENGTH)
}

/** The fingerprint by which a status identifies the token of object `id`. */
export function tokenFingerprint(fingerprints: Fingerprints, token: string, id: string): string {
  return fingerprints.of('token', id, token)
}

/**
 * Whether the token belongs to the object in `status`. If the status has no fingerprint of it, or one made with another
 * salt, trust the Secret's own annotations.
 */
export function isLive(
  { id, token, intact }: HeldToken,
  { id: live, internal }: CommonStatus,
  fingerprints: Fingerprints,
): boolean {
  if (token === undefined || live === undefined) return false
  const noted = internal?.tokenDigest
  const compared = compareFingerprints(noted, tokenFingerprint(fingerprints, token, live))
  return noted === undefined || compared === 'unknown' ? intact && id === live : compared === 'same'
}

/** Whether the Secret's annotations agree with `status`, and the token is stored under `key` only. */
export function isDescribed(secret: DataObject, status: CommonStatus, key: string): boolean {
  const { annotations = {} } = secret.metadata
  const { id, nonce, intact } = heldToken(secret, key)
  const isOf = intact && id === status.id && nonce === status.internal?.create?.nonce
  return isOf && annotations[OUTPUT_KEYS] === keysNote([key]) && formerKeys(secret, status, key).length === 0
}

/** Keys of the Secret that held the token before: according to the Secret and to the status. */
function formerKeys(secret: DataObject, { output }: CommonStatus, key: string): readonly string[] {
  const noted = output?.kind === 'Secret' && output.name === secret.metadata.name ? output.keys : []
  const former = [...keysWritten(secret), ...noted]
  return former.filter((other) => other !== key && ownField(secret.data, other) !== undefined)
}

/** A token with its object's id and nonce. */
export interface Issued {
  readonly id: string
  readonly nonce: string
  readonly token: string
}

/** The patch that stores the token under `key` of the Secret and removes our other keys. */
export function tokenPatch(
  secret: DataObject,
  status: CommonStatus,
  key: string,
  { id, nonce, token }: Issued,
): Fields {
  const former = formerKeys(secret, status, key)
  return {
    metadata: {
      annotations: {
        [REMOTE_ID]: id,
        [CREATE_NONCE]: nonce,
        [TOKEN_DIGEST]: digestOf(token, id),
        [RESERVED_FOR]: null,
        [OUTPUT_KEYS]: keysNote([key]),
      },
    },
    data: { ...Object.fromEntries(former.map((other) => [other, null])), [key]: encoded('Secret', token) },
  }
}
