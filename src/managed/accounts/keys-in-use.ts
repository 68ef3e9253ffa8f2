import { digestOf } from '../outputs/held-token.ts'
import type { AccountResource } from './account-resource.ts'
import type { KeptKeys } from './kept-key.ts'

/**
 * The keys that accounts last worked with. A key that is put into an account's Secret counts once the API has accepted it, and until
 * then the one before does: it must not be revoked, or an operator could lock itself out.
 */
export class KeysInUse {
  readonly #kept: KeptKeys
  readonly #accounts: () => readonly AccountResource[]

  constructor(kept: KeptKeys, accounts: () => readonly AccountResource[]) {
    this.#kept = kept
    this.#accounts = accounts
  }

  /** `Kind/name` of an account that works with the token of the object `id`, known by its digest; undefined when none does. */
  async userOf(id: string, digest: string): Promise<string | undefined> {
    for (const { kind, metadata } of this.#accounts()) {
      const key = await this.#kept.read(metadata.uid)
      if (key !== undefined && digestOf(key, id) === digest) return `${kind}/${metadata.name}`
    }
    return undefined
  }
}
