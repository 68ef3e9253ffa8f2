import type { KeyUsers } from '../context.ts'
import type { CustomResource } from '../cr.ts'
import { digestOf } from '../outputs/held-token.ts'
import type { AccountResource } from './account-resource.ts'
import type { KeptKeys } from './kept-key.ts'

export interface KeyResources {
  accounts(): readonly AccountResource[]
  all(): readonly CustomResource[]
}

/**
 * The keys that accounts last worked with. A key that is put into an account's Secret counts once the API has accepted it, and until
 * then the one before does: it must not be revoked, or an operator could lock itself out.
 */
export class KeysInUse implements KeyUsers {
  readonly #kept: KeptKeys
  readonly #resources: KeyResources

  constructor(kept: KeptKeys, resources: KeyResources) {
    this.#kept = kept
    this.#resources = resources
  }

  async userOf(id: string, digest: string | undefined): Promise<string | undefined> {
    for (const { kind, metadata } of this.#resources.accounts()) {
      const key = await this.#kept.read(metadata.uid)
      if (key === undefined) continue
      const uses = digest === undefined ? !this.#isHeld(key) : digestOf(key, id) === digest
      if (uses) return `${kind}/${metadata.name}`
    }
    return undefined
  }

  /** Whether the key is the token of an object that a resource holds. */
  #isHeld(key: string): boolean {
    return this.#resources.all().some(({ status: { id, output } = {} }) => {
      return id !== undefined && output?.digest !== undefined && digestOf(key, id) === output.digest
    })
  }
}
