import type { Choices } from '../choices/choices.ts'
import type { Store } from '../store/emulator-store.ts'
import { textsOf } from '../values/json.ts'
import { decide, type IpRule, type PolicyDecision, RuleSet } from './rule-set.ts'

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

/**
 * The rules of IP policies, by account and policy. Cached in memory; a write drops only the policies it affects, which
 * are read from the store again when needed.
 */
export class IpPolicies {
  readonly #store: Store
  readonly #choices: Choices
  readonly #accounts = new Map<string, Map<string, RuleSet>>()

  constructor(store: Store, choices: Choices) {
    this.#store = store
    this.#choices = choices
    store.changes.watch({
      changed: ({ account, collection }, states) => {
        if (collection !== 'ip_policy_rules') return
        for (const { ip_policy_id } of states) this.#accounts.get(account)?.delete(String(ip_policy_id))
      },
      cleared: () => this.#accounts.clear(),
    })
  }

  /** What these policies of the account say, together, of a source address. */
  decide(account: string, policies: readonly string[], source: string): PolicyDecision {
    const rules = policies.map((policy) => this.#policy(account, policy))
    return decide(rules, source, {
      withoutAllow: this.#choices['without-allow'],
      combined: this.#choices['several-policies'],
    })
  }

  #policy(account: string, id: string): RuleSet {
    const policies = this.#accounts.get(account) ?? new Map<string, RuleSet>()
    this.#accounts.set(account, policies)
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
      return [{ id, cidr: rule.cidr, action: rule.action === 'allow' ? 'allow' : 'deny' }]
    })
  }
}
