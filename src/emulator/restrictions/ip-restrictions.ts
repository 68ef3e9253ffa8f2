import { textsOf } from '../json.ts'
import type { Store } from '../store/store.ts'
import { type IpRule, RuleSet } from './rule-set.ts'

/** The restrictions that do not admit an address, by id; all of them must admit. */
export interface Objections {
  readonly enforced: readonly string[]
  /** Not enforced: they only warn. */
  readonly warnings: readonly string[]
}

interface Compiled {
  readonly id: string
  readonly enforced: boolean
  readonly rules: RuleSet
}

interface AccountRestrictions {
  /** The state of the store when this was read. */
  readonly readAt: string
  readonly restrictions: readonly Compiled[]
}

const NONE: Objections = { enforced: [], warnings: [] }

/**
 * The restrictions of one type, by account. Judging is part of every request, so they are kept in memory in a form that is
 * quick to ask, and read from the store again only after a change to what they are made of.
 */
export class IpRestrictions {
  readonly #store: Store
  readonly #type: string
  readonly #accounts = new Map<string, AccountRestrictions>()

  /** @param type of `management-api.md § IP policies, rules, restrictions`, such as `api` */
  constructor(store: Store, type: string) {
    this.#store = store
    this.#type = type
  }

  /** What the account's restrictions say against a caller from `source`. */
  judge(account: string, source: string): Objections {
    const restrictions = this.#restrictionsOf(account)
    if (restrictions.length === 0) return NONE
    const objecting = restrictions.filter(({ rules }) => !rules.admits(source))
    return {
      enforced: objecting.filter(({ enforced }) => enforced).map(({ id }) => id),
      warnings: objecting.filter(({ enforced }) => !enforced).map(({ id }) => id),
    }
  }

  #restrictionsOf(account: string): readonly Compiled[] {
    const known = this.#accounts.get(account)
    if (known !== undefined && known.readAt === this.#stateBehind(known.restrictions)) return known.restrictions
    const restrictions = this.#read(account)
    this.#accounts.set(account, { readAt: this.#stateBehind(restrictions), restrictions })
    return restrictions
  }

  /** Changes when what was read may be out of date. */
  #stateBehind(restrictions: readonly Compiled[]): string {
    // Without restrictions the rules of policies do not matter: writing many of them must not cost anything here.
    const sources = restrictions.length === 0 ? ['ip_restrictions'] : ['ip_restrictions', 'ip_policy_rules']
    return sources.map((collection) => this.#store.changes.revision(collection)).join(' ')
  }

  #read(account: string): readonly Compiled[] {
    return this.#store
      .page(account, 'ip_restrictions', Number.MAX_SAFE_INTEGER)
      .filter(({ type }) => type === this.#type)
      .map(({ id, enforced, ip_policy_ids }) => ({
        id,
        enforced: enforced === true,
        rules: new RuleSet(textsOf(ip_policy_ids).flatMap((policy) => this.#rulesOf(account, policy))),
      }))
  }

  /** None for a policy that was deleted: its rules went with it. */
  #rulesOf(account: string, policy: string): readonly IpRule[] {
    return this.#store.holders(account, policy, 'cascade').flatMap((id) => {
      const rule = this.#store.get(account, 'ip_policy_rules', id)
      if (typeof rule?.cidr !== 'string') return []
      return [{ cidr: rule.cidr, action: rule.action === 'allow' ? 'allow' : 'deny' }]
    })
  }
}
