import type { Choices } from '../choices/choices.ts'
import { textsOf } from '../json.ts'
import type { Store } from '../store/store.ts'
import { admits, type IpRule, RuleSet } from './rule-set.ts'

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

interface Account {
  readonly restrictions: readonly Restriction[]
  /** By id of the policy; filled when needed. */
  readonly policies: Map<string, RuleSet>
}

const NONE: Objections = { enforced: [], warnings: [] }

/**
 * The restrictions of one type, by account. Every request needs them, so they are cached in memory; a write drops only
 * the entries it affects, which are read from the store again when needed. Other writes cost nothing here.
 */
export class IpRestrictions {
  readonly #store: Store
  readonly #type: string
  readonly #choices: Choices
  readonly #accounts = new Map<string, Account>()

  /** @param type of `management-api.md § IP policies, rules, restrictions`, such as `api` */
  constructor(store: Store, type: string, choices: Choices) {
    this.#store = store
    this.#type = type
    this.#choices = choices
    store.changes.watch({
      changed: ({ account, collection }, states) => {
        if (collection === 'ip_restrictions') this.#accounts.delete(account)
        if (collection !== 'ip_policy_rules') return
        for (const { ip_policy_id } of states) this.#accounts.get(account)?.policies.delete(String(ip_policy_id))
      },
      cleared: () => this.#accounts.clear(),
    })
  }

  /** The restrictions of the account that do not admit a caller from `source`. */
  judge(account: string, source: string): Objections {
    const known = this.#account(account)
    if (known.restrictions.length === 0) return NONE
    const objecting = known.restrictions.filter(({ policies }) => {
      const rules = policies.map((policy) => this.#policy(account, known, policy))
      return !admits(rules, source, this.#choices['without-allow'])
    })
    return {
      enforced: objecting.filter(({ enforced }) => enforced).map(({ id }) => id),
      warnings: objecting.filter(({ enforced }) => !enforced).map(({ id }) => id),
    }
  }

  #account(account: string): Account {
    const known = this.#accounts.get(account)
    if (known !== undefined) return known
    const restrictions = this.#store
      .page(account, 'ip_restrictions', Number.MAX_SAFE_INTEGER)
      .filter(({ type }) => type === this.#type)
      .map(({ id, enforced, ip_policy_ids }) => ({ id, enforced: enforced === true, policies: textsOf(ip_policy_ids) }))
    const read: Account = { restrictions, policies: new Map() }
    this.#accounts.set(account, read)
    return read
  }

  #policy(account: string, { policies }: Account, id: string): RuleSet {
    const known = policies.get(id)
    if (known !== undefined) return known
    const read = new RuleSet(this.#rulesOf(account, id))
    policies.set(id, read)
    return read
  }

  /** None for a deleted policy: its rules were deleted with it. */
  #rulesOf(account: string, policy: string): readonly IpRule[] {
    return this.#store.holders(account, policy, 'cascade').flatMap((id) => {
      const rule = this.#store.get(account, 'ip_policy_rules', id)
      if (typeof rule?.cidr !== 'string') return []
      return [{ cidr: rule.cidr, action: rule.action === 'allow' ? 'allow' : 'deny' }]
    })
  }
}
