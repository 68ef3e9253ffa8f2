import { isInForce, type PartView, type Release, type TargetView } from '../managed/types/target.ts'

/** Kind of the CRs that each stand for one rule of a policy. */
export const RULE_KIND = 'IPPolicyRule'

/** Why a policy takes no rules from CRs; undefined when it does. */
export function refusesRules({ spec }: TargetView): string | undefined {
  return spec.rulesFrom === 'IPPolicyRules'
    ? undefined
    : 'has its own rules, and would remove this one: set its rulesFrom: IPPolicyRules instead of rules, or declare the rule there and delete this resource'
}

/**
 * An edge must not go live behind a policy that is not yet what it should be. Both conditions count, and only for the current
 * generation; the same holds for each rule that refers to the policy.
 */
export function unusablePolicy(policy: TargetView): string | undefined {
  if (!isInForce(policy)) return 'does not have every declared rule in place yet'
  const { parts, spec, status } = policy
  const fromParts = spec.rulesFrom !== undefined
  const late = fromParts ? parts.filter((part) => !isInForce(part)).map(({ name }) => name) : []
  if (late.length > 0) return `waits for ${named(late)} to be in place`
  if (spec.allowEmpty === true) return undefined
  if (fromParts && parts.length === 0) {
    return 'has no rules: make an IPPolicyRule that names it, or set its allowEmpty: true'
  }
  const count = typeof status.ruleCount === 'number' ? status.ruleCount : 0
  return count > 0 ? undefined : 'has no rules: add one, or set its allowEmpty: true'
}

/**
 * A policy in use is not emptied by mistake: its last rule stays as long as somebody uses the policy, unless the policy may be
 * empty. What stands in a policy that has its own rules by now is the policy's.
 */
export function releaseRule([policy]: readonly TargetView[]): Release {
  if (policy === undefined) return { type: 'delete' }
  if (refusesRules(policy) !== undefined) return { type: 'leave' }
  if (policy.spec.allowEmpty === true || policy.users.length === 0 || policy.parts.some(stays))
    return { type: 'delete' }
  return {
    type: 'wait',
    message: `the last rule of a policy that ${named(policy.users)} uses: add another rule, set allowEmpty: true in the policy, or take the policy out of use`,
  }
}

function stays(part: PartView): boolean {
  return !part.deleting && part.status.id !== undefined && isInForce(part)
}

function named(names: readonly string[]): string {
  const shown = [...names].sort((left, right) => (left < right ? -1 : 1)).slice(0, 5)
  return names.length > shown.length ? `${shown.join(', ')} and ${names.length - shown.length} more` : shown.join(', ')
}
