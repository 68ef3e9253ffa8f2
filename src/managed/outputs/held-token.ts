import { fingerprint } from '../../api/fingerprint.ts'
import type { KubeObject } from '../../kube/types.ts'
import { CREATE_NONCE, REMOTE_ID } from '../names.ts'
import type { CommonStatus } from '../types/common.ts'
import { type DataObject, textIn } from './place.ts'

/** What a Secret says of the token in it. */
export interface HeldToken {
  /** Id of the object that the token is for. */
  readonly id: string | undefined
  /** Nonce that the object was created under. */
  readonly nonce: string | undefined
  readonly token: string | undefined
}

export function heldToken(secret: DataObject | undefined, key: string): HeldToken {
  const annotations = secret?.metadata.annotations ?? {}
  return {
    id: annotations[REMOTE_ID],
    nonce: annotations[CREATE_NONCE],
    token: textIn('Secret', secret, key) || undefined,
  }
}

/** A digest that may stand in a status: the token is long and random. `uid` is the CR's. */
export function digestOf(token: string, uid: string): string {
  return fingerprint(token, uid)
}

/**
 * Whether the token is the one that goes with the object in `status`. Who has lost the digest with the status believes what the
 * Secret says of itself.
 */
export function isLive({ id, token }: HeldToken, status: CommonStatus, uid: string): boolean {
  if (token === undefined || status.id === undefined) return false
  const digest = status.output?.digest
  return digest === undefined ? id === status.id : digestOf(token, uid) === digest
}

/** Whether what the Secret says of its token is what `status` says. */
export function isDescribed(secret: KubeObject, { id, create }: CommonStatus): boolean {
  const { annotations = {} } = secret.metadata
  return annotations[REMOTE_ID] === id && annotations[CREATE_NONCE] === create?.nonce
}

export function describing(id: string, nonce: string): Readonly<Record<string, string>> {
  return { [REMOTE_ID]: id, [CREATE_NONCE]: nonce }
}
