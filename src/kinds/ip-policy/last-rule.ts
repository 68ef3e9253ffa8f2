import type { RemoteObject } from '../../api/types.ts'
import type { Fields } from '../../managed/descriptor/common.ts'
import {
  type AccountView,
  isInForce,
  type PartView,
  type Release,
  type SiblingView,
  type TargetView,
} from '../../managed/descriptor/references.ts'
import { heldRule } from './rules.ts'
import { named, refusesRules } from './usable-policy.ts'

/**
 * A policy in use is neither emptied nor left with denies alone by mistake: its last rule, and its last allow, stay
 * while the policy has dependents, unless the policy may be empty. A rule in a policy that now has rules of its own is
 * left to that policy. A rule that no resource manages also counts.
 */
export function mayDeleteRule([policy]: readonly TargetView[], account: AccountView): Release {
  if (policy !== undefined && refusesRules(policy) !== undefined) return { type: 'leave' }
  if (policy?.spec.allowEmpty === true) return { type: 'delete' }
  const { siblings, own = [] } = account
  if (siblings === undefined) return { type: 'observe', at: 'siblings' }
  const isLastAllow = own.some(isAllow) && !keepsAllow(siblings)
  if (!isLastAllow && siblings.some(stays)) return { type: 'delete' }
  const users = usersOf(policy, account)
  if (typeof users !== 'string') return users
  const isOnlyAllow = isLastAllow && siblings.some(stays)
  const coming = (policy?.parts ?? []).filter((part) => isUnderWay(part) && (!isOnlyAllow || declaresAllow(part)))
  const another = isOnlyAllow ? 'rule with action: Allow' : 'rule'
  const remedy =
    coming.length > 0
      ? `it is deleted once ${named(coming.map(({ name }) => name))} is in place`
      : `add another ${another}, set allowEmpty: true in the policy, or take the policy out of use`
  const what = isOnlyAllow ? 'the last rule with action: Allow' : 'the last rule'
  return { type: 'wait', message: `this is ${what} of a policy that ${users} uses: ${remedy}` }
}

/**
 * A rule that changes its action to Deny: if it is the last allow of a policy in use, it stays until one of the rules
 * that declare Allow is in place. If none does, denies alone are what the rules declare.
 */
export function mayReplaceRule({ action }: Fields, [policy]: readonly TargetView[], account: AccountView): Release {
  if (action !== 'Deny' || policy?.spec.allowEmpty === true) return { type: 'delete' }
  const { siblings, own = [], parts = [] } = account
  if (siblings === undefined) return { type: 'observe', at: 'siblings' }
  const declaring = parts.filter((part) => !part.deleting && declaresAllow(part)).map(({ name }) => name)
  if (!own.some(isAllow) || keepsAllow(siblings) || declaring.length === 0) return { type: 'delete' }
  const users = usersOf(policy, account)
  if (typeof users !== 'string') return users
  return {
    type: 'wait',
    message: `this is the last rule with action: Allow of a policy that ${users} uses: it becomes a Deny once ${named(declaring)} is in place; set allowEmpty: true in the policy to make it one now`,
  }
}

/** Names of the dependents of the policy; otherwise, what to do instead of waiting for them. */
function usersOf(policy: TargetView | undefined, { dependents }: AccountView): string | Release {
  const known = policy?.dependents ?? []
  if (known.length === 0 && dependents === undefined) return { type: 'observe', at: 'dependents' }
  const all = [...new Set([...known, ...(dependents ?? [])])]
  return all.length === 0 ? { type: 'delete' } : named(all)
}

/** Not in place yet and not refused, so nobody has to act. */
function isUnderWay(part: PartView): boolean {
  const isStalled = part.status.conditions?.some(({ type, status }) => type === 'Stalled' && status === 'True') ?? false
  return !part.deleting && !isStalled && !isInForce(part)
}

function keepsAllow(siblings: readonly SiblingView[]): boolean {
  return siblings.some((sibling) => isAllow(sibling.object) && stays(sibling))
}

function stays({ holder }: SiblingView): boolean {
  return holder === undefined || (!holder.deleting && isInForce(holder))
}

function isAllow(object: RemoteObject): boolean {
  return heldRule(object).action === 'allow'
}

function declaresAllow({ spec }: PartView): boolean {
  return spec.action === 'Allow'
}
