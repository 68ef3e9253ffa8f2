import type { Choices } from '../choices/choices.ts'
import type { Store } from '../store/emulator-store.ts'
import { textsOf } from '../values/json.ts'
import { IpPolicies } from './ip-policies.ts'

/** Ids of the restrictions that do not admit an address; all of them must admit it. */
export interface Objections {
  readonly enforced: readonly string[]
  /** Not enforced: they only warn. */
  readonly warnings: readonly string[]
}

interface Restriction {
  readonly id: string
  readonly enforced: boolean
  readonly policies: readonly string[]
}

const NONE: Objections = { enforced: [], warnings: [] }

/**
 * The restrictions of one type, by account. Every request needs them, so they are cached in memory; a write drops only
 * the entries it affects, which are read from the store again when needed. Other writes cost nothing here.
 */
export class IpRestrictions {
  readonly #store: Store
  readonly #type: string
  readonly #policies: IpPolicies
  readonly #accounts = new Map<string, readonly Restriction[]>()

  /** @param type of `management-api.md § IP policies, rules, restrictions`, such as `api` */
  constructor(store: Store, type: string, choices: Choices) {
    this.#store = store
    this.#type = type
    this.#policies = new IpPolicies(store, choices)
    store.changes.watch({
      changed: ({ account, collection }) => {
        if (collection === 'ip_restrictions') this.#accounts.delete(account)
      },
      cleared: () => this.#accounts.clear(),
    })
  }

  /** The restrictions of the account that do not admit a caller from `source`. */
  judge(account: string, source: string): Objections {
    const restrictions = this.#restrictions(account)
    if (restrictions.length === 0) return NONE
    const objecting = restrictions.filter(
      ({ policies }) => !this.#policies.decide(account, policies, source).isAdmitted,
    )
    return {
      enforced: objecting.filter(({ enforced }) => enforced).map(({ id }) => id),
      warnings: objecting.filter(({ enforced }) => !enforced).map(({ id }) => id),
    }
  }

  #restrictions(account: string): readonly Restriction[] {
    const known = this.#accounts.get(account)
    if (known !== undefined) return known
    const restrictions = this.#store
      .page(account, 'ip_restrictions', Number.MAX_SAFE_INTEGER)
      .filter(({ type }) => type === this.#type)
      .map(({ id, enforced, ip_policy_ids }) => ({ id, enforced: enforced === true, policies: textsOf(ip_policy_ids) }))
    this.#accounts.set(account, restrictions)
    return restrictions
  }
}
