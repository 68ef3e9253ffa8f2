import type { Store } from '../store/emulator-store.ts'
import { textOf } from '../values/json.ts'
import { parsePublicKey } from './public-key.ts'

/** An SSH credential. */
export interface KeyHolder {
  readonly account: string
  readonly id: string
  /** As stored, an authorized-keys line. */
  readonly publicKey: string
  readonly createdAt: string
}

/**
 * The SSH credentials by their public keys; type and key alone count, not the comment. Kept in memory and read again
 * after a change, since every client of the SSH gateway may ask with several keys.
 */
export class KeyHolders {
  readonly #store: Store
  #byKey: ReadonlyMap<string, readonly KeyHolder[]> | undefined

  constructor(store: Store) {
    this.#store = store
    store.changes.watch({
      changed: ({ collection }) => {
        if (collection === 'ssh_credentials') this.#byKey = undefined
      },
      cleared: () => {
        this.#byKey = undefined
      },
    })
  }

  /** The newest SSH credential of the account with that key, in the wire format of SSH. */
  in(account: string, key: Buffer): KeyHolder | undefined {
    return this.#holders(key).find((holder) => holder.account === account)
  }

  /**
   * The same over all accounts. If several have the key, the account that had it first: a public key is no secret, so
   * nobody may draw another account's agents to his own by registering their keys.
   */
  anywhere(key: Buffer): KeyHolder | undefined {
    const holders = this.#holders(key)
    const first = holders.reduce<KeyHolder | undefined>(
      (oldest, holder) => (oldest === undefined || comesBefore(holder, oldest) ? holder : oldest),
      undefined,
    )
    return holders.find(({ account }) => account === first?.account)
  }

  /** Newest first within each account. */
  #holders(key: Buffer): readonly KeyHolder[] {
    this.#byKey ??= this.#read()
    return this.#byKey.get(key.toString('base64')) ?? []
  }

  #read(): ReadonlyMap<string, readonly KeyHolder[]> {
    const byKey = new Map<string, KeyHolder[]>()
    for (const account of this.#store.accounts()) {
      for (const credential of this.#store.page(account, 'ssh_credentials', Number.MAX_SAFE_INTEGER)) {
        const publicKey = textOf(credential, 'public_key')
        const key = parsePublicKey(publicKey).blob.toString('base64')
        const holder = { account, id: credential.id, publicKey, createdAt: credential.created_at }
        byKey.set(key, [...(byKey.get(key) ?? []), holder])
      }
    }
    return byKey
  }
}

/** Ids are in the order of creation, except those without any; times have whole seconds. */
function comesBefore(one: KeyHolder, other: KeyHolder): boolean {
  return one.createdAt < other.createdAt || (one.createdAt === other.createdAt && one.id < other.id)
}
