import { Type } from 'typebox'
import type { RemoteObject } from '../../api/types.ts'
import { bool } from '../../schema/define.ts'
import { normaliseCIDR } from '../ip-policy/cidr.ts'
import { heldRule, type RuleAction, sentAction } from '../ip-policy/rules.ts'

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

/** A rule as a spec declares it. */
interface Rule {
  readonly cidr: string
  readonly action: RuleAction
}

/** Whether `after` may refuse an address that `before` admits: an allow rule is removed or a deny rule is added. */
export function letsFewerIn(before: readonly RemoteObject[], after: readonly Rule[]): boolean {
  const held = before.map((object) => ruleText(heldRule(object)))
  const wanted = after.map((rule) => ruleText({ ...rule, action: sentAction(rule.action) }))
  const goes = held.some((rule) => !rule.startsWith('deny ') && !wanted.includes(rule))
  return goes || wanted.some((rule) => rule.startsWith('deny ') && !held.includes(rule))
}

function ruleText({ cidr, action }: { readonly cidr: string; readonly action: string }): string {
  return `${action} ${normaliseCIDR(cidr)}`
}
