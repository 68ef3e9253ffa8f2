import { type Claim, isSameClaim } from './claim.ts'

/** The Lease of another operator must have shown no living leader for this long before its claims are taken over. */
export const TAKEOVER_MS = 60_000

/** What this process holds of an account whose claim is its own. */
export interface Hold {
  /**
   * Everything must have been listed at this monotonic time or later before anything is done for the account. Minus
   * infinity: no one else has worked on it in this term.
   */
  readonly listsFrom: number
  /** Whether anything may be done for the account. */
  readonly isOpen: boolean
}

/** Everything that decides about the claim of one account. */
export interface ClaimFacts {
  /** This operator and its present term. */
  readonly self: Claim
  /** Whether this operator claims accounts. One without selectors does not: an account without a claim is its own. */
  readonly claims: boolean
  /** Whether the selectors name the account. */
  readonly isSelected: boolean
  /** The claim in its status, as the watch last showed it. */
  readonly claim: Claim | undefined
  /** Undefined: nothing is held, and nothing is in progress. */
  readonly hold: Hold | undefined
  /** Monotonic time at which the latest complete lists of all types began. */
  readonly listedAt: number
  /**
   * For how long the Lease of the operator in the claim has shown no living leader. Milliseconds; undefined: unknown.
   */
  readonly silentMs: number | undefined
}

/**
 * What to do next about the claim of an account.
 * - `rest`: nothing
 * - `write`: replace the claim with `wantedClaim`, provided that the account has not changed
 * - `hold`: the claim is ours; note from when on everything has to be listed
 * - `list`: list everything
 * - `open`: everything may be done for the account
 * - `leave`: the claim is no longer ours: stop, and forget what this process knew
 * - `release`: stop, forget, and then remove the claim
 * - `defer`: another operator works on it, although it is selected here too
 */
export type ClaimStep = 'rest' | 'write' | 'hold' | 'list' | 'open' | 'leave' | 'release' | 'defer'

/** The claim that an account has while this process works on it; undefined: none. */
export function wantedClaim({ self, claims }: Pick<ClaimFacts, 'self' | 'claims'>): Claim | undefined {
  return claims ? self : undefined
}

/**
 * Decides the next step. Pure. Nothing may be done for an account unless its claim is the wanted one and it is held
 * open: so two operators never work on one, whatever their watches have not shown them yet, since each replaces a claim
 * only as it saw it (docs/decisions/0046-dividing-accounts.md).
 */
export function claimStep(facts: ClaimFacts): ClaimStep {
  const { self, isSelected, claim, hold } = facts
  if (isSameClaim(claim, wantedClaim(facts))) return ownStep(facts)
  if (hold !== undefined) return 'leave'
  if (claim === undefined) return isSelected ? 'write' : 'rest'
  // Of an earlier term: no one else has worked on it since, or the claim would be another.
  if (claim.operator === self.operator) return isSelected ? 'write' : 'release'
  if (!isSelected) return 'rest'
  return facts.silentMs !== undefined && facts.silentMs >= TAKEOVER_MS ? 'write' : 'defer'
}

function ownStep({ isSelected, hold, listedAt }: ClaimFacts): ClaimStep {
  if (!isSelected) return 'release'
  if (hold === undefined) return 'hold'
  if (hold.isOpen) return 'rest'
  return listedAt < hold.listsFrom ? 'list' : 'open'
}
