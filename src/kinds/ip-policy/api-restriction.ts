import { Type } from 'typebox'
import { bool } from '../../schema/define.ts'
import { normaliseCIDR } from './cidr.ts'
import { type RuleAction, sentAction } from './rules.ts'

/** Name of the spec field below. */
export const ACKNOWLEDGED = 'acknowledgeAPIRestriction'

/** Spec field of kinds that decide which addresses an enforced restriction of type api lets in. */
export const acknowledgement = {
  [ACKNOWLEDGED]: Type.Optional(
    bool({
      description:
        'Confirms that the addresses Culvert itself calls from stay allowed. While an enforced IPRestriction of type API uses the policy, a change that may let fewer addresses in is refused without this, because Culvert could lock itself out. Default: false.',
    }),
  ),
}

export function acknowledged(spec: Readonly<Record<string, unknown>>): boolean {
  return spec[ACKNOWLEDGED] === true
}

/** A rule in the API's terms. */
interface Rule {
  readonly cidr: string
  readonly action: string
}

/** A rule of a spec in the API's terms. */
export function specRule({ cidr, action }: { readonly cidr: string; readonly action: RuleAction }): Rule {
  return { cidr, action: sentAction(action) }
}

/**
 * Whether a policy with the rules `after` may refuse an address that it admits with the rules `before`: an allow rule
 * is removed or a deny rule is added. The contract leaves open what a policy admits without any allow rule, or without
 * any rule: the first allow may end that everybody is admitted, and so may the removal of the last rule.
 */
export function letsFewerIn(before: readonly Rule[], after: readonly Rule[]): boolean {
  const held = new Set(before.map(ruleText))
  const wanted = new Set(after.map(ruleText))
  const goes = [...held].some((rule) => !(isDeny(rule) || wanted.has(rule)))
  const comes = [...wanted].some((rule) => isDeny(rule) && !held.has(rule))
  const isFirstAllow = [...held].every(isDeny) && ![...wanted].every(isDeny)
  const isEmptied = held.size > 0 && wanted.size === 0
  return goes || comes || isFirstAllow || isEmptied
}

/** Whether two rules, or the lack of them, admit the same addresses. */
export function isSameRule(one: Rule | undefined, other: Rule | undefined): boolean {
  return one === undefined || other === undefined ? one === other : ruleText(one) === ruleText(other)
}

function isDeny(rule: string): boolean {
  return rule.startsWith('deny ')
}

function ruleText({ cidr, action }: Rule): string {
  return `${action} ${normaliseCIDR(cidr)}`
}
