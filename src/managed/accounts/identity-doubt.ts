import type { Fingerprints } from '../run/fingerprints.ts'

/** Address and key, which determine the account in use. */
export interface AccountIdentity {
  /** Origin and path as the client uses them, without a trailing slash. */
  readonly baseURL: string
  readonly apiKey: string
}

/** Evidence from a resync of all collections in use about which account the key opens. */
export interface IdentityEvidence {
  /** Objects that CRs of the account hold. */
  readonly known: number
  /** How many of these no complete list shows. */
  readonly missing: number
  /**
   * Key or address differ from those last verified, or that is unknown: an Account that was created again has no
   * status, and a fingerprint made with another salt says nothing.
   */
  readonly changed: boolean
  /** CRs, including those being deleted, hold objects, and the lists show none of them. */
  readonly noneFound: boolean
  /** Objects that CRs hold in collections that cannot be listed. Not among those `known`. */
  readonly unknown: number
  /** An administrator has confirmed the identity since it was last in doubt. */
  readonly confirmed: boolean
}

/** Up to this many objects may vanish in one resync without doubt, however few there are. */
const FEW = 5
/** Beyond that, this share of all objects may vanish. */
const SHARE = 0.1

/** How many of `known` objects may be missing before the account's identity is in doubt. */
export function tolerated(known: number): number {
  return Math.max(FEW, Math.floor(known * SHARE))
}

/**
 * Why the key may be for another account; undefined if it is proven to be for ours. Until then nothing is created or
 * deleted and no finalizer is removed: a key swapped by mistake must neither recreate everything elsewhere nor strand
 * what exists.
 */
export function identityDoubt(evidence: IdentityEvidence): string | undefined {
  const { known, missing, changed, noneFound, unknown, confirmed } = evidence
  if (confirmed) return undefined
  if (changed && noneFound) {
    const unseen = unknown === 0 ? '' : `, as far as collections can be listed (${unknown} cannot be seen)`
    return `the API key or spec.baseURL changed and none of the known objects exists in the account that they now select${unseen}: ${REMEDY}`
  }
  if (missing > tolerated(known)) {
    return `${missing} of ${known} known objects are not in the account: ${REMEDY}`
  }
  return undefined
}

const REMEDY =
  'restore the right key and address or, if the change is intended, set the annotation culvert.dev/confirm-identity-requested-at to a new value'

/**
 * Identifies origin, path and key of an account in its status, without revealing the key. The address is included
 * because the same key may open another account at another address.
 */
export function identityFingerprint({ baseURL, apiKey }: AccountIdentity, fingerprints: Fingerprints): string {
  return fingerprints.of('account', baseURL, apiKey)
}
