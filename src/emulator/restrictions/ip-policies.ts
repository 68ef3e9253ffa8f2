import type { Choices } from '../choices/choices.ts'
import type { Store } from '../store/emulator-store.ts'
import { decide, type IpRule, type PolicyDecision, RuleSet } from './rule-set.ts'

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
    return decide(rules, source, this.#choices['without-allow'])
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
