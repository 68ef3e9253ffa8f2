import type { Static } from 'typebox'
import type { RemoteObject } from '../../api/types.ts'
import type { Fields } from '../../managed/descriptor/common.ts'
import type { ChildOperation, JudgeRisks } from '../../managed/descriptor/desired.ts'
import {
  keptText,
  MARK_KEY,
  markedKind,
  type OwnMetadata,
  ownKeys,
  parseObject,
  wantedMetadata,
} from '../../managed/descriptor/metadata.ts'
import { choice } from '../../schema/define.ts'
import { digestOf, equalJSON } from '../../util/json.ts'
import { compareTexts, given, refId, textOf } from '../building-blocks/remote.ts'
import { documentationAddress, guardRanges, normaliseCIDR } from './cidr.ts'
import { RULE_KIND } from './usable-policy.ts'

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

/**
 * More addresses are let in when an allow is added to a policy, or a deny leaves it. The last allow is a risk, too:
 * where nothing is allowed, a service may admit every address that no rule matches.
 */
export const ruleRisks: JudgeRisks = ({ before, after, others }) => {
  const isLastAllow = others !== undefined && !others.some((rule) => heldRule(rule).action === 'allow')
  if (isLastAllow && before !== undefined && after === undefined && heldRule(before).action === 'allow') {
    const text = `the policy allows nothing any more without ${heldRule(before).cidr}: a service may then let in everybody`
    return [{ type: 'opened', text }]
  }
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
 * The writes that turn the held rules into the wanted ones. After each of them, no address is admitted that both the
 * held and the wanted rules refuse, whatever other policies stand beside this one, and whatever the service does with
 * an address that no rule matches while no rule allows anything (decision 0049). The policy is never empty on the way.
 *
 * 1. new denies, on ranges without a rule
 * 2. new allows, on ranges without a rule
 * 3. placeholders, if the swaps below would leave the policy without an allow, or without a rule, in between
 * 4. denies that replace an allow, and then allows that replace a deny
 * 5. deletion of allows
 * 6. deletion of denies
 * 7. updates of descriptions and metadata
 *
 * An action cannot be changed (`management-api.md § Standard operations`) and a range may occur only once, so a rule
 * that changes its action is deleted, then created. Placeholders are deleted after the last write, the allow first, or
 * by the next plan, as rules that are not wanted. A rule that has to stay while another is deleted is read before the
 * first such deletion, since it may have been deleted at the API.
 */
export function planRules(state: RulesState): readonly ChildOperation[] {
  const { policyId, wanted, held, isAdopted } = state
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
  const additions = [...together(fresh('deny').flatMap(create)), ...together(fresh('allow').flatMap(create))]
  const changes = [
    ...changed('deny').flatMap(create),
    ...changed('allow').flatMap(create),
    ...going.filter(({ action }) => action !== 'deny').map(remove),
    ...going.filter(({ action }) => action === 'deny').map(remove),
  ]
  const writes = [...additions, ...placeholders(state, [...additions, ...changes]), ...changes]
  const updates = wanted.flatMap((rule) => update(rule, kept.get(keyOf(rule)), isAdopted))
  return [...beside(held, beside(held, writes, isAny), isAllow), ...updates]
}

/** Rules of one sort. */
type Sort = (rule: { readonly action: string }) => boolean

const isAny: Sort = () => true
const isAllow: Sort = ({ action }) => action === 'allow'

/**
 * The same operations, where the first deletion of a rule of the sort requires one that stays until another is created.
 */
function beside(
  held: readonly HeldRule[],
  operations: readonly ChildOperation[],
  sort: Sort,
): readonly ChildOperation[] {
  const created = operations.findIndex((operation) => operation.type === 'create' && sort(ruleIn(held, operation)))
  const before = created < 0 ? operations : operations.slice(0, created)
  const deletions = before.flatMap((each) => (each.type === 'delete' && sort(ruleIn(held, each)) ? [each] : []))
  const [first] = deletions
  const going = new Set(deletions.map(({ id }) => id))
  const [staying] = held
    .filter((rule) => sort(rule) && !going.has(rule.id))
    .map(({ id }) => id)
    .sort(compareTexts)
  if (first === undefined || staying === undefined) return operations
  return operations.map((operation) => (operation === first ? { ...first, beside: staying } : operation))
}

/** The action of the rule that an operation is about. */
function ruleIn(held: readonly HeldRule[], operation: ChildOperation): { readonly action: string } {
  if (operation.type === 'create') return { action: textOf(operation.body.action) ?? '' }
  return held.find(({ id }) => id === operation.id) ?? { action: '' }
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

/**
 * The rules that stand in while rules change their actions: a deny if the policy would be empty in between, and a guard
 * pair if both the held and the wanted rules allow something, and nothing would be allowed in between. A deny alone
 * would not do then: some services admit every address that no rule matches if no rule allows anything.
 */
function placeholders(state: RulesState, operations: readonly ChildOperation[]): readonly ChildOperation[] {
  const { wanted, held } = state
  const taken = new Set([...wanted, ...held].map((rule) => rule.cidr))
  if (vanishes(state, operations, isAllow)) {
    const { deny, allow } = guardRanges(taken)
    return [placeholder(state, deny, 'deny'), placeholder(state, allow, 'allow')]
  }
  return vanishes(state, operations, isAny) ? [placeholder(state, documentationAddress(taken), 'deny')] : []
}

/** Whether there are rules of the sort before and after, and none in between. */
function vanishes({ wanted, held }: RulesState, operations: readonly ChildOperation[], sort: Sort): boolean {
  if (!wanted.some(sort)) return false
  let count = held.filter(sort).length
  return operations.some((operation) => {
    const isOfSort = sort(ruleIn(held, operation))
    if (operation.type === 'delete' && isOfSort) count -= 1
    if (operation.type === 'create' && isOfSort) count += 1
    return operation.type === 'delete' && isOfSort && count === 0
  })
}

function placeholder({ policyId, markerFor }: RulesState, cidr: string, action: SentAction): ChildOperation {
  const rule = { cidr, action, description: TEMPORARY, metadata: markerFor(cidr, action) }
  return {
    type: 'create',
    body: bodyOf(policyId, rule),
    about: `${nameOf(rule)} for the time being`,
    placeholder: true,
  }
}

const TEMPORARY = 'Temporary: stands in while a rule changes its action, and affects no traffic.'

/**
 * Body of a rule that keeps a policy from being empty without affecting traffic, on an address that is not in `taken`.
 * @param start index of the first of these addresses to try
 */
export function placeholderDeny(policyId: string, taken: ReadonlySet<string>, metadata: string, start = 0): Fields {
  const cidr = documentationAddress(taken, start)
  return bodyOf(policyId, { cidr, action: 'deny', description: TEMPORARY, metadata })
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
