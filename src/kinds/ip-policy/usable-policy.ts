import type { RemoteObject } from '../../api/types.ts'
import type { Ref } from '../../managed/descriptor/common.ts'
import type { Desired } from '../../managed/descriptor/desired.ts'
import { isInForce, type TargetView } from '../../managed/descriptor/references.ts'
import { listOf, objectOf, sorted, textOf } from '../building-blocks/remote.ts'

/** Kind of the CRs that each declare one rule of a policy. */
export const RULE_KIND = 'IPPolicyRule'

/** Whether the rules of a policy with this spec are the CRs that name it, rather than its own. */
export function takesRules({ rulesSource }: { readonly rulesSource?: unknown }): boolean {
  return rulesSource === 'IPPolicyRules'
}

/** Why a policy takes no rules from CRs; undefined when it does. */
export function refusesRules({ spec }: TargetView): string | undefined {
  return takesRules(spec)
    ? undefined
    : 'has its own rules, and would remove this one: set its rulesSource: IPPolicyRules instead of rules, or declare the rule there and delete this resource'
}

/**
 * An edge must not go live behind a policy that does not have all of its rules. Ready and Synced must both be True for
 * the current generation, of the policy and of each rule that refers to it.
 */
export function unusablePolicy(policy: TargetView): string | undefined {
  if (!isInForce(policy)) return 'does not have every declared rule in place yet'
  const { parts, spec } = policy
  const fromParts = takesRules(spec)
  const staying = parts.filter(({ deleting }) => !deleting)
  const late = fromParts ? staying.filter((part) => !isInForce(part)).map(({ name }) => name) : []
  if (late.length > 0) return `waits for ${named(late)} to be in place`
  if (spec.allowEmpty === true) return undefined
  if (fromParts && parts.length === 0) {
    return 'has no rules: create an IPPolicyRule that names it, or set its allowEmpty: true'
  }
  // A rule that is being deleted goes as soon as possible, so a new dependent of the policy must not count on it.
  if ((fromParts && staying.length === 0) || rulesLeft(policy) <= 0) {
    // The policy counts its rules a moment after they are created.
    if (fromParts ? staying.length > 0 : listOf(spec.rules).length > 0) {
      return 'does not have every declared rule in place yet'
    }
    return parts.length > staying.length
      ? 'has no rule that is not being deleted: add another, or set its allowEmpty: true'
      : 'has no rules: add one, or set its allowEmpty: true'
  }
  return undefined
}

/** How many rules the policy last had, without those that a resource is about to delete. */
function rulesLeft({ parts, status }: TargetView): number {
  const going = new Set(parts.filter(({ deleting }) => deleting).map((part) => part.status.id))
  const count = typeof status.ruleCount === 'number' ? status.ruleCount : 0
  return count - listOf(status.rules).filter((rule) => going.has(textOf(objectOf(rule)?.id))).length
}

/** Like `unusablePolicy`, for a policy that no resource manages and that therefore cannot be declared as empty. */
export function unusablePolicyObject(rules: readonly RemoteObject[]): string | undefined {
  return rules.length > 0
    ? undefined
    : 'has no rules: add one at the API, or refer by name to an IPPolicy with allowEmpty: true'
}

export function named(names: readonly string[]): string {
  const shown = [...names].sort((left, right) => (left < right ? -1 : 1)).slice(0, 5)
  return names.length > shown.length ? `${shown.join(', ')} and ${names.length - shown.length} more` : shown.join(', ')
}

const KIND = 'IPPolicy'

/**
 * Ids of the policies that an object should have, each once. A policy that was deleted at the API keeps counting,
 * without rules, on an object that has it (`management-api.md § States and transitions`), but is refused in a new list.
 * So it stays while nothing else changes, and is left out of a changed list, unless that would leave none.
 * @param held the ids that the object has
 */
export function sentPolicies<Spec>(
  desired: Pick<Desired<Spec>, 'id' | 'isGone'>,
  refs: readonly Ref[],
  held: readonly string[],
): readonly string[] {
  const ids = [...new Set(refs.map((ref) => desired.id(KIND, ref)))]
  if (isSame(ids, held)) return ids
  const there = [...new Set(refs.filter((ref) => !desired.isGone(KIND, ref)).map((ref) => desired.id(KIND, ref)))]
  return there.length === 0 ? ids : there
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return JSON.stringify(sorted(left)) === JSON.stringify(sorted(right))
}
