import {
  type AccountView,
  isInForce,
  type PartView,
  type Release,
  type SiblingView,
  type TargetView,
} from '../../managed/descriptor/target.ts'
import { named, refusesRules } from './parts.ts'

/**
 * A policy in use is not emptied by mistake: its last rule stays while the policy has dependents, unless the policy may
 * be empty. A rule in a policy that now has rules of its own is left to that policy. A rule that no resource manages
 * also keeps the policy from being empty.
 */
export function mayDeleteRule([policy]: readonly TargetView[], { siblings, dependents }: AccountView): Release {
  if (policy !== undefined && refusesRules(policy) !== undefined) return { type: 'leave' }
  if (policy?.spec.allowEmpty === true) return { type: 'delete' }
  if (siblings === undefined) return { type: 'observe', at: 'siblings' }
  if (siblings.some(stays)) return { type: 'delete' }
  const known = policy?.dependents ?? []
  if (known.length === 0 && dependents === undefined) return { type: 'observe', at: 'dependents' }
  const all = [...new Set([...known, ...(dependents ?? [])])]
  if (all.length === 0) return { type: 'delete' }
  const coming = (policy?.parts ?? []).filter(isUnderWay).map(({ name }) => name)
  const remedy =
    coming.length > 0
      ? `it is deleted once ${named(coming)} is in place`
      : 'add another rule, set allowEmpty: true in the policy, or take the policy out of use'
  return { type: 'wait', message: `this is the last rule of a policy that ${named(all)} uses: ${remedy}` }
}

/** Not in place yet and not refused, so nobody has to act. */
function isUnderWay(part: PartView): boolean {
  const isStalled = part.status.conditions?.some(({ type, status }) => type === 'Stalled' && status === 'True') ?? false
  return !part.deleting && !isStalled && !isInForce(part)
}

function stays({ holder }: SiblingView): boolean {
  return holder === undefined || (!holder.deleting && isInForce(holder))
}
