import type { Static } from 'typebox'
import type { RemoteObject } from '../../api/types.ts'
import type { ChildOperation } from '../../managed/descriptor/children.ts'
import type { Fields } from '../../managed/descriptor/fields.ts'
import {
  keptText,
  MARK_KEY,
  markedKind,
  type OwnMetadata,
  ownKeys,
  parseObject,
  wantedMetadata,
} from '../../managed/descriptor/metadata.ts'
import type { JudgeRisks } from '../../managed/descriptor/risks.ts'
import { choice } from '../../schema/define.ts'
import { digestOf } from '../../util/digest.ts'
import { equalJSON } from '../../util/equal-json.ts'
import { compareTexts, given, refId, textOf } from '../shared/remote.ts'
import { documentationAddress, normaliseCIDR } from './cidr.ts'
import { RULE_KIND } from './parts.ts'

/** `action` of a spec. `change` describes the effect of changing it. */
export function ruleAction(change = '') {
  return choice(['Allow', 'Deny'], {
    description: `Whether addresses in the range are let in (Allow) or refused (Deny).${change}`,
  })
}

/** An action as a spec names it. */
export type RuleAction = Static<ReturnType<typeof ruleAction>>

/** An action as the API names it. */
export type SentAction = Lowercase<RuleAction>

/** The action as the API names it. */
export function sentAction(action: RuleAction): SentAction {
  return action === 'Allow' ? 'allow' : 'deny'
}

/**
 * A rule as the spec declares it, complete and in API terms: `metadata` is the marker with the user's own keys beside
 * it.
 */
export interface WantedRule {
  readonly cidr: string
  readonly action: SentAction
  readonly description: string
  readonly own: OwnMetadata | undefined
  readonly metadata: string
  /** Whether the spec sets the description; otherwise, that of a rule made outside Culvert is left alone. */
  readonly isDescribed: boolean
}

/** A rule as the API holds it. An action other than allow and deny is kept as it is: such a rule is never wanted. */
export interface HeldRule {
  readonly id: string
  readonly cidr: string
  readonly action: string
  readonly description: string
  readonly metadata: string
}

export function heldRule(object: RemoteObject): HeldRule {
  return {
    id: object.id,
    cidr: normaliseCIDR(textOf(object.cidr) ?? ''),
    action: textOf(object.action) ?? '',
    description: object.description ?? '',
    metadata: object.metadata ?? '',
  }
}

/** More addresses are let in when an allow is added to a policy, or a deny leaves it. */
export const ruleRisks: JudgeRisks = ({ before, after }) => {
  const added = after !== undefined && before === undefined && heldRule(after).action === 'allow'
  const removed = before !== undefined && after === undefined && heldRule(before).action === 'deny'
  if (added) return [{ type: 'opened', text: `the policy lets in ${heldRule(after).cidr}` }]
  return removed ? [{ type: 'opened', text: `the policy no longer refuses ${heldRule(before).cidr}` }] : []
}

/** Range and action of a rule, as a spec has them. */
export function writtenRange(object: RemoteObject): { readonly cidr: string; readonly action: RuleAction } {
  const { cidr, action } = heldRule(object)
  return { cidr, action: action === 'deny' ? 'Deny' : 'Allow' }
}

/** A rule as the spec of its policy has it. Metadata that is not Culvert's stays, as the spec says nothing of it. */
export function writtenRule(object: RemoteObject): Fields {
  const own = ownKeys(textOf(object.metadata) ?? '')
  return given({ ...writtenRange(object), description: textOf(object.description), metadata: own })
}

/**
 * Whether resources of their own declare the rules of a policy: the marks of some say so, or Culvert made the policy
 * and some rules are not its own.
 */
export function isMadeOfParts(policy: RemoteObject | undefined, rules: readonly RemoteObject[]): boolean {
  const kinds = rules.map(({ metadata }) => markedKind(textOf(metadata) ?? ''))
  if (kinds.includes(RULE_KIND)) return true
  const isOurs = markedKind(textOf(policy?.metadata) ?? '') !== undefined
  return isOurs && kinds.some((kind) => kind === undefined)
}

/** Id of the policy that a rule belongs to. */
export function policyOf(rule: RemoteObject): string | undefined {
  return refId(rule.ip_policy)
}

/** Nonce of a rule's create: the same for all attempts, since a rule has no resource of its own to store one in. */
export function ruleNonce(policyId: string, cidr: string, action: string): string {
  return digestOf([policyId, cidr, action])
}

/** Everything that a plan of rules depends on. */
export interface RulesState {
  readonly policyId: string
  readonly wanted: readonly WantedRule[]
  readonly held: readonly HeldRule[]
  /** The policy existed before its resource, so it may have rules that were made outside Culvert. */
  readonly isAdopted: boolean
  /** Metadata of the placeholder rule. */
  markerFor(cidr: string, action: SentAction): string
}

/**
 * The writes that turn the held rules into the wanted ones. In this order, no address that both the old and the new
 * rules refuse is ever admitted, and the policy is never empty:
 *
 * 1. new denies, first those on ranges without a rule, then those that replace an allow
 * 2. new allows, on ranges without a rule of the other action
 * 3. updates of descriptions and metadata
 * 4. deletion of allows
 * 5. allows that replace a deny, then deletion of denies
 *
 * An action cannot be changed (`management-api.md § Standard operations`) and a range may occur only once, so such a
 * rule is deleted, then created. If that, or anything else, would leave the policy empty in between, a placeholder deny
 * of a documentation address is created first. It is deleted after the last write, or by the next plan, as a deny that
 * is not wanted. If a rule that stays keeps the policy from being empty, it is read before the first rule is deleted,
 * since it may have been deleted at the API.
 */
export function planRules(state: RulesState): readonly ChildOperation[] {
  const operations = inOrder(state)
  return emptiesMeanwhile(state.held.length, operations)
    ? [placeholder(state), ...operations]
    : besideOther(state.held, operations)
}

/** The same operations, where the first deletion requires a rule that stays at least until another is created. */
function besideOther(held: readonly HeldRule[], operations: readonly ChildOperation[]): readonly ChildOperation[] {
  const created = operations.findIndex(({ type }) => type === 'create')
  const before = created < 0 ? operations : operations.slice(0, created)
  const first = before.find((operation) => operation.type === 'delete')
  if (first === undefined) return operations
  const going = new Set(before.flatMap((operation) => (operation.type === 'delete' ? [operation.id] : [])))
  const [beside] = held
    .map(({ id }) => id)
    .filter((id) => !going.has(id))
    .sort(compareTexts)
  if (beside === undefined) return operations
  return operations.map((operation) => (operation === first ? { ...first, beside } : operation))
}

function inOrder({ policyId, wanted, held, isAdopted }: RulesState): readonly ChildOperation[] {
  const kept = keptRules(wanted, held)
  const missing = wanted.filter((rule) => !kept.has(keyOf(rule)))
  const surplus = held.filter((rule) => kept.get(keyOf(rule)) !== rule)
  const inTheWay = (rule: WantedRule): readonly HeldRule[] => surplus.filter(({ cidr }) => cidr === rule.cidr)
  const create = (rule: WantedRule): readonly ChildOperation[] => [
    ...inTheWay(rule).map(remove),
    { type: 'create', body: bodyOf(policyId, rule), about: nameOf(rule) },
  ]
  const replaced = new Set(missing.flatMap(inTheWay))
  const going = surplus.filter((rule) => !replaced.has(rule))
  const fresh = (action: SentAction) => missing.filter((rule) => rule.action === action && inTheWay(rule).length === 0)
  const changed = (action: SentAction) => missing.filter((rule) => rule.action === action && inTheWay(rule).length > 0)
  return [
    ...together(fresh('deny').flatMap(create)),
    ...changed('deny').flatMap(create),
    ...together(fresh('allow').flatMap(create)),
    ...wanted.flatMap((rule) => update(rule, kept.get(keyOf(rule)), isAdopted)),
    ...going.filter(({ action }) => action !== 'deny').map(remove),
    ...changed('allow').flatMap(create),
    ...going.filter(({ action }) => action === 'deny').map(remove),
  ]
}

/** Creates of rules with one action: whichever takes effect first, nothing is admitted that all of them refuse. */
function together(creates: readonly ChildOperation[]): readonly ChildOperation[] {
  return creates.map((each, index) => (each.type === 'create' && index > 0 ? { ...each, together: true } : each))
}

/** The held rule to keep for each wanted one: the lowest id among equals. */
function keptRules(wanted: readonly WantedRule[], held: readonly HeldRule[]): ReadonlyMap<string, HeldRule> {
  const wantedKeys = new Set(wanted.map(keyOf))
  const kept = new Map<string, HeldRule>()
  for (const rule of held) {
    const key = keyOf(rule)
    const other = kept.get(key)
    if (wantedKeys.has(key) && (other === undefined || rule.id < other.id)) kept.set(key, rule)
  }
  return kept
}

function update(rule: WantedRule, held: HeldRule | undefined, isAdopted: boolean): readonly ChildOperation[] {
  if (held === undefined) return []
  // A rule that this resource did not make is adopted with its policy and, like it, gets no marker; the one of a former
  // life of the resource stays.
  const isForeign = isAdopted && !equalJSON(markIn(held.metadata), markIn(rule.metadata))
  const metadata = wantedMetadata({ metadata: rule.own }, held.metadata, isForeign ? undefined : rule.metadata)
  const description = keptText(rule.description, held.description)
  const body: Fields = {
    ...(held.description === description || (isForeign && !rule.isDescribed) ? {} : { description }),
    ...(held.metadata === metadata ? {} : { metadata }),
  }
  const changed = Object.keys(body)
  if (changed.length === 0) return []
  const fields = changed.map((field) => `rules.${field}`)
  return [{ type: 'update', id: held.id, body, about: nameOf(rule), fields }]
}

function markIn(metadata: string): unknown {
  return parseObject(metadata)?.[MARK_KEY] ?? null
}

function emptiesMeanwhile(held: number, operations: readonly ChildOperation[]): boolean {
  let count = held
  return operations.some((operation, index) => {
    if (operation.type === 'create') count += 1
    if (operation.type === 'delete') count -= 1
    return count === 0 && index < operations.length - 1
  })
}

function placeholder({ policyId, wanted, held, markerFor }: RulesState): ChildOperation {
  const taken = new Set([...wanted, ...held].map((rule) => rule.cidr))
  const rule = { cidr: documentationAddress(taken), action: 'deny' } as const
  const body = placeholderDeny(policyId, taken, markerFor(rule.cidr, rule.action))
  return { type: 'create', body, about: `${nameOf(rule)} for the time being`, placeholder: true }
}

/**
 * Body of a rule that keeps a policy from being empty without affecting traffic, on an address that is not in `taken`.
 * @param start index of the first of these addresses to try
 */
export function placeholderDeny(policyId: string, taken: ReadonlySet<string>, metadata: string, start = 0): Fields {
  return bodyOf(policyId, {
    cidr: documentationAddress(taken, start),
    action: 'deny',
    description: 'Temporary: keeps the policy from being empty while a rule changes its action.',
    metadata,
  })
}

function remove(rule: HeldRule): ChildOperation {
  return { type: 'delete', id: rule.id, about: nameOf(rule) }
}

function bodyOf(
  policyId: string,
  { cidr, action, description, metadata }: Omit<WantedRule, 'own' | 'isDescribed'>,
): Fields {
  return { ip_policy_id: policyId, cidr, action, ...(description === '' ? {} : { description }), metadata }
}

function keyOf({ cidr, action }: { readonly cidr: string; readonly action: string }): string {
  return `${action} ${cidr}`
}

function nameOf(rule: { readonly cidr: string; readonly action: string }): string {
  return keyOf(rule)
}
