import fc from 'fast-check'
import type { RemoteObject } from '../../../src/api/types.ts'
import { type IPPolicySpec, ipPolicy } from '../../../src/kinds/ip-policy.ts'
import type { ChildOperation } from '../../../src/managed/descriptor/desired.ts'
import { desiredOf } from './desired.ts'

/** Ranges that overlap, contain each other or are disjoint. */
const ranges = ['10.0.0.0/8', '10.0.0.0/9', '10.128.0.0/9', '10.1.0.0/16', '172.16.0.0/12', '2001:db8::/32'] as const
/** For each area into which the ranges divide the addresses, the ranges that contain it. */
export const areas: readonly (readonly string[])[] = [
  ['10.0.0.0/8', '10.0.0.0/9', '10.1.0.0/16'],
  ['10.0.0.0/8', '10.0.0.0/9'],
  ['10.0.0.0/8', '10.128.0.0/9'],
  ['172.16.0.0/12'],
  ['2001:db8::/32'],
  [],
]

export interface ModelRule {
  readonly id: string
  readonly cidr: string
  readonly action: string
  readonly description: string
  readonly metadata: string
}

export type RuleSet = Readonly<Record<string, 'Allow' | 'Deny'>>

/** Any rules of a spec for the ranges, each range at most once. */
export const ruleSet: fc.Arbitrary<RuleSet> = fc.dictionary(
  fc.constantFrom(...ranges),
  fc.constantFrom('Allow' as const, 'Deny' as const),
)

/**
 * `api-decisions.md § Behaviour`: a matching deny refuses; else a matching allow admits; else refused. For rules of a
 * spec or of the API.
 */
export function admits(rules: readonly { readonly cidr: string; readonly action: string }[], area: readonly string[]) {
  const actions = rules.filter(({ cidr }) => area.includes(cidr)).map(({ action }) => action.toLowerCase())
  return actions.includes('allow') && !actions.includes('deny')
}

/** The rules of one policy at the API: ranges are unique, and an action is immutable. */
export class PolicyModel {
  readonly rules: ModelRule[] = []
  #next = 1

  copy(): PolicyModel {
    const copy = new PolicyModel()
    copy.rules.push(...this.rules)
    copy.#next = this.#next
    return copy
  }

  add(rule: Omit<ModelRule, 'id'>): void {
    this.rules.push({ id: `ipr_${String(this.#next++).padStart(6, '0')}`, ...rule })
  }

  apply(operation: ChildOperation): void {
    switch (operation.type) {
      case 'create': {
        const { cidr, action, description = '', metadata = '' } = operation.body as Record<string, string | undefined>
        if (this.rules.some((rule) => rule.cidr === cidr)) throw new Error(`409: ${cidr} stands already`)
        this.add({ cidr: cidr ?? '', action: action ?? '', description, metadata })
        return
      }
      case 'update': {
        if ('action' in operation.body) throw new Error('400: action is fixed')
        const index = this.#indexOf(operation.id)
        const rule = this.rules[index]
        if (rule !== undefined) this.rules[index] = { ...rule, ...operation.body }
        return
      }
      case 'delete':
        this.rules.splice(this.#indexOf(operation.id), 1)
    }
  }

  #indexOf(id: string): number {
    const index = this.rules.findIndex((rule) => rule.id === id)
    if (index < 0) throw new Error(`404: ${id}`)
    return index
  }

  objects(policyId: string): readonly RemoteObject[] {
    return this.rules.map((rule) => ({ ...rule, ip_policy: { id: policyId, uri: `/ip_policies/${policyId}` } }))
  }
}

/** Id of the policy. */
export const POLICY = 'ipp_1'

/** A spec of a policy with these rules. */
export function policySpec(rules: RuleSet): IPPolicySpec {
  return { rules: Object.entries(rules).map(([cidr, action]) => ({ cidr, action })), allowEmpty: true }
}

/** The plan that turns the rules of the model into those of the spec. */
export function planRulesOf(spec: IPPolicySpec, model: PolicyModel): readonly ChildOperation[] {
  return ipPolicy.children?.plan(desiredOf({ spec }), POLICY, model.objects(POLICY)) ?? []
}

export interface SettleOptions {
  /** Ends the plan after that many writes. Default: at its end. */
  readonly steps: number
  /** Creates that are sent together take effect in the reverse order. Default: false. */
  readonly isReversed: boolean
  /** The plan in another order, for mutants. Default: as it is. */
  arrange(plan: readonly ChildOperation[]): readonly ChildOperation[]
}

/**
 * Applies the plan like the reconciler, with placeholders deleted after the last write, the last one first. Calls
 * `look` after each write.
 * @returns whether it came to its end
 */
export function settleRules(
  spec: IPPolicySpec,
  model: PolicyModel,
  look: () => void,
  { steps = Number.POSITIVE_INFINITY, isReversed = false, arrange = (plan) => plan }: Partial<SettleOptions> = {},
): boolean {
  const placeholders: string[] = []
  let left = steps
  const write = (operation: ChildOperation): void => {
    if (left <= 0) return
    left -= 1
    model.apply(operation)
    look()
    const created = model.rules.at(-1)
    if (operation.type === 'create' && operation.placeholder && created) placeholders.push(created.id)
  }
  for (const operation of arriving(arrange(planRulesOf(spec, model)), isReversed)) write(operation)
  for (const id of placeholders.toReversed()) write({ type: 'delete', id, about: 'placeholder' })
  return left > 0
}

/** The plan with the creates that are sent together in the order in which they may take effect. */
function arriving(plan: readonly ChildOperation[], isReversed: boolean): readonly ChildOperation[] {
  const groups: ChildOperation[][] = []
  for (const operation of plan) {
    if (operation.type === 'create' && operation.together) groups.at(-1)?.push(operation)
    else groups.push([operation])
  }
  return groups.flatMap((group) => (isReversed ? group.toReversed() : group))
}

/** A policy at rest with these rules. */
export function modelWith(rules: RuleSet): PolicyModel {
  const model = new PolicyModel()
  for (const [cidr, action] of Object.entries(rules)) {
    model.add({ cidr, action: action.toLowerCase(), description: '', metadata: '' })
  }
  // The texts of the spec.
  settleRules(policySpec(rules), model, () => undefined)
  return model
}
