import type { Fingerprints } from '../inputs/fingerprints.ts'

/** What decides whose account it is. */
export interface AccountIdentity {
  /** Origin and path as the client uses them, without a slash at the end. */
  readonly baseURL: string
  readonly apiKey: string
}

/** What a look at all collections in use says about whose account the key opens. */
export interface IdentityEvidence {
  /** Objects that CRs of the account hold. */
  readonly known: number
  /** Of these, how many no complete list shows. */
  readonly missing: number
  /**
   * Key or address differ from the ones last proven, or nobody knows: an Account that was made again has no status, and
   * what was noted with another salt says nothing.
   */
  readonly changed: boolean
  /** CRs, those that are being deleted included, hold objects, and the lists show none of them. */
  readonly noneFound: boolean
  /** An administrator has confirmed the identity since it was last in doubt. */
  readonly confirmed: boolean
}

/** Up to this many objects may vanish in one pass without doubt, however few there are. */
const FEW = 5
/** Beyond that, this share of all. */
const SHARE = 0.1

/** How many of `known` objects may be missing before the account's identity is in doubt. */
export function tolerated(known: number): number {
  return Math.max(FEW, Math.floor(known * SHARE))
}

/**
 * Why the key may be for another account; undefined when it is proven to be for ours. Until then nothing is created or
 * deleted and no finalizer goes: a key swapped by mistake must neither build everything anew elsewhere nor strand what
 * exists.
 */
export function identityDoubt(evidence: IdentityEvidence): string | undefined {
  const { known, missing, changed, noneFound, confirmed } = evidence
  if (confirmed) return undefined
  if (changed && noneFound) {
    return `the API key or spec.baseURL changed and none of the known objects is in the account they lead to: ${REMEDY}`
  }
  if (missing > tolerated(known)) {
    return `${missing} of ${known} known objects are not in the account: ${REMEDY}`
  }
  return undefined
}

const REMEDY =
  'put the right key and address back, or, if this is meant, set the annotation culvert.dev/confirm-identity-requested-at to a new value'

/**
 * Names origin, path and key of an account in its status, without telling the key: the same key may open another
 * account at another address.
 */
export function identityFingerprint({ baseURL, apiKey }: AccountIdentity, fingerprints: Fingerprints): string {
  return fingerprints.of('account', baseURL, apiKey)
}
