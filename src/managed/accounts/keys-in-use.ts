import { type AccountKey, type AccountResource, keyOfAccount } from '../account-resource.ts'
import { type CustomResource, hasFinalizer, isDeleting } from '../cr.ts'
import { tokenFingerprint } from '../outputs/held-token.ts'
import type { KeyDependents, KeyUse } from '../run/context.ts'
import { compareFingerprints, type Fingerprints } from '../run/fingerprints.ts'
import type { KeptKeys } from './kept-key.ts'

export interface KeyResources {
  accounts(): readonly AccountResource[]
  all(): readonly CustomResource[]
  membersOf(account: AccountKey): readonly CustomResource[]
  /** Whether the account of a CR is at the same API as another account. */
  isBeside(cr: CustomResource, account: AccountKey): boolean
}

/**
 * The keys that accounts last used successfully. A new key in an account's Secret counts once the API has accepted it;
 * until then the previous one does, and must not be revoked, or an operator could lock itself out.
 */
export class KeysInUse implements KeyDependents {
  readonly #kept: KeptKeys
  readonly #resources: KeyResources
  readonly #fingerprints: Fingerprints

  constructor(kept: KeptKeys, resources: KeyResources, fingerprints: Fingerprints) {
    this.#kept = kept
    this.#resources = resources
    this.#fingerprints = fingerprints
  }

  async dependentOf(cr: CustomResource, id: string, digest: string | undefined): Promise<string | undefined> {
    for await (const { kind, metadata } of this.#dependents(cr, id, digest)) return `${kind}/${metadata.name}`
    return undefined
  }

  async useOf(cr: CustomResource, id: string, digest: string | undefined): Promise<KeyUse | undefined> {
    let use: KeyUse | undefined
    for await (const dependent of this.#dependents(cr, id, digest)) {
      const account = keyOfAccount(dependent)
      const neededBy = this.#resources
        .membersOf(account)
        .filter((member) => member.metadata.uid !== cr.metadata.uid && (hasFinalizer(member) || !isDeleting(member)))
      use = { account, neededBy }
      if (neededBy.length > 0) break
    }
    return use
  }

  /** Accounts that use the token of object `id`, which the CR holds. */
  async *#dependents(cr: CustomResource, id: string, digest: string | undefined): AsyncGenerator<AccountResource> {
    for (const account of this.#resources.accounts()) {
      const key = await this.#kept.read(account.metadata.uid)
      if (key === undefined) continue
      const use = this.#compare(key, id, digest)
      // A key of another API opens nothing here, whatever ids that API assigns.
      if (use === 'same' || (use === 'unknown' && this.#resources.isBeside(cr, keyOfAccount(account)))) yield account
    }
  }

  /**
   * Whether the key is the token of that object. If that cannot be determined, it is unknown for every key that is not
   * the token of another object.
   */
  #compare(key: string, id: string, digest: string | undefined): 'same' | 'unknown' | 'different' {
    const compared = compareFingerprints(digest, tokenFingerprint(this.#fingerprints, key, id))
    if (digest !== undefined && compared !== 'unknown') return compared
    return this.#isHeld(key) ? 'different' : 'unknown'
  }

  /** Whether the key is the token of an object that a resource holds. */
  #isHeld(key: string): boolean {
    return this.#resources.all().some(({ status: { id, internal } = {} }) => {
      const noted = internal?.tokenDigest
      return id !== undefined && noted !== undefined && noted === tokenFingerprint(this.#fingerprints, key, id)
    })
  }
}
