import { type CustomResource, generationOf, isDeleting, statusOf } from '../../../src/managed/cr.ts'
import { type AddressRule, addressesAround, rangeKey, standingOf, textOf } from '../../builders/ip-addresses.ts'
import { refersToPolicies } from './collections.ts'
import type { Sighting } from './faults.ts'
import type { SimulatedWorld } from './world.ts'

type Fields = Readonly<Record<string, unknown>>

/** A rule at the API. */
interface Held extends AddressRule {
  readonly id: string
  readonly policy: string
}

type Rules = readonly AddressRule[]

/** Two writes that are under way at the same time may take effect in any order; of more, only the result is judged. */
const MOST_AT_ONCE = 5

/**
 * Judges what policies admit after every write, address by address, whatever other policies stand next to them and
 * whatever the service does where nothing is allowed: no address that every spec refuses since the API last matched
 * one. Rules that are resources of their own have no joint order; but while one of them declares Allow, a policy in use
 * that allows something continues to. What other clients change counts as if a spec had it. Part of the oracle.
 */
export class PolicyRules {
  readonly violations: string[] = []
  readonly #world: SimulatedWorld
  /** What may be in force, by the uid of the policy's resource: specs, the oldest first, and what others have made. */
  readonly #allowed = new Map<string, readonly Rules[]>()
  /** Ids of the policies, by the uid of their resources. */
  readonly #ids = new Map<string, string>()
  /** The same as of the time when a request was sent: it was decided by what was known then. */
  readonly #sent = new WeakMap<Sighting, ReadonlyMap<string, readonly Rules[]>>()
  /** IPPolicyRules that declared Allow when a request was sent. */
  readonly #allowing = new WeakMap<Sighting, ReadonlySet<string>>()
  /** Policies in use when a request was sent. */
  readonly #inUse = new WeakMap<Sighting, ReadonlySet<string>>()
  readonly #excused = new WeakSet<Sighting>()
  /** Writes that have arrived and are not done. */
  readonly #arrived = new Set<Sighting>()
  #held: ReadonlyMap<string, Held>
  #areAllExcused: boolean = false
  /** Virtual time until which operators may act on earlier specs. */
  #unknownUntil = 0

  constructor(world: SimulatedWorld) {
    this.#world = world
    this.#held = this.#rules()
    if (!this.#isServed) return
    const type = world.typeOf('IPPolicy')
    for (const cr of this.#policies()) this.#declared(cr)
    world.kube.listen(type, world.kube.revision, ({ type: change, object }) => {
      if (change !== 'deleted') this.#declared(object as CustomResource)
    })
  }

  get #isServed(): boolean {
    return this.#world.kinds.managedKind('IPPolicy') !== undefined
  }

  /** From now on anything is accepted. */
  excuseAll(): void {
    this.#areAllExcused = true
  }

  /** Exempts this request. */
  excuse(sighting: Sighting): void {
    this.#excused.add(sighting)
  }

  /** Resources declare an earlier state again, and operators act on either until then. */
  putBack(unknownUntil: number): void {
    this.#unknownUntil = Math.max(this.#unknownUntil, unknownUntil)
    for (const cr of this.#policies()) this.#declared(cr)
  }

  sent(sighting: Sighting): void {
    if (!isOfRules(sighting) || !this.#isServed) return
    this.#sent.set(sighting, new Map(this.#allowed))
    this.#allowing.set(sighting, new Set(this.#declaringAllow()))
    this.#inUse.set(sighting, this.#inUseNow())
  }

  arrived(sighting: Sighting): void {
    if (isOfRules(sighting)) this.#arrived.add(sighting)
  }

  /** The API has carried out a write. */
  done(sighting: Sighting): void {
    if (!isOfRules(sighting) || !this.#isServed || this.#areAllExcused) return
    const before = this.#held
    const now = this.#rules()
    this.#held = now
    const mayBe = [...this.#arrived, sighting].filter((each) => !this.#excused.has(each))
    this.#arrived.delete(sighting)
    const policies = new Set<string>()
    const changed = new Map<string, Change[]>()
    for (const id of new Set([...before.keys(), ...now.keys()])) {
      const change = { before: before.get(id), after: now.get(id) }
      if (isSame(change)) continue
      const policy = (change.before ?? change.after)?.policy ?? ''
      policies.add(policy)
      if (mayBe.some((each) => makes(each, id, change))) changed.set(policy, [...(changed.get(policy) ?? []), change])
    }
    for (const policy of policies) this.#look(policy, before, now, changed.get(policy) ?? [], sighting)
  }

  #look(
    policy: string,
    before: ReadonlyMap<string, Held>,
    now: ReadonlyMap<string, Held>,
    own: readonly Change[],
    sighting: Sighting,
  ): void {
    const held = [...now.values()].filter((rule) => rule.policy === policy)
    // As it was before these writes, with what others have changed.
    const base = [
      ...held.filter(({ id }) => !own.some(({ after }) => after?.id === id)),
      ...own.flatMap((change) => change.before ?? []),
    ]
    const former = [...before.values()].filter((rule) => rule.policy === policy)
    const cr = this.#policies().find((each) => statusOf(each).id === policy)
    if (cr !== undefined && !isSameRules(base, former)) this.#allow(cr, base)
    if (cr !== undefined && own.length > 0) {
      this.#ownsNow(cr, policy, former)
      for (const rules of orders(base, own)) this.#judge(cr, rules, sighting)
      this.#settle(cr, held)
    }
    this.#keepsAllow(policy, cr, { base, held, own }, sighting)
  }

  /** No address may be admitted more openly than by the most open of the specs. */
  #judge(cr: CustomResource, rules: Rules, sighting: Sighting): void {
    const { uid, name } = cr.metadata
    const specs = [...(this.#allowed.get(uid) ?? []), ...(this.#sent.get(sighting)?.get(uid) ?? [])]
    if (takesParts(cr.spec) || specs.includes(ANY)) return
    for (const address of addressesAround([...specs, rules].flat())) {
      const standing = standingOf(rules, address)
      if (specs.some((spec) => standingOf(spec, address) >= standing)) continue
      const shown = rules.map(({ cidr, action }) => `${action} ${cidr}`).join(', ')
      this.violations.push(
        `IPPolicy/${name} admits ${textOf(address)}, which no spec does, after ${sighting.method} ${sighting.path}: ${shown}`,
      )
      return
    }
  }

  /** The only allow of a policy in use stays while a resource declares one, and while the resource of its own goes. */
  #keepsAllow(
    policy: string,
    cr: CustomResource | undefined,
    {
      base,
      held,
      own,
    }: { readonly base: readonly Held[]; readonly held: readonly Held[]; readonly own: readonly Change[] },
    sighting: Sighting,
  ): void {
    const { allowEmpty } = (cr?.spec ?? {}) as { readonly allowEmpty?: boolean }
    const isLost = base.some(isAllow) && !held.some(isAllow) && own.length > 0
    if (!isLost || allowEmpty === true || (cr !== undefined && (!takesParts(cr.spec) || isDeleting(cr)))) return
    if (!this.#inUseNow().has(policy) || !this.#inUse.get(sighting)?.has(policy)) return
    const declared = new Set(this.#declaringAllow(policy, cr))
    const stillDeclared = [...(this.#allowing.get(sighting) ?? [])].filter((rule) => declared.has(rule))
    const gone = own.find(({ before }) => before !== undefined && isAllow(before))?.before?.id
    // One that declares Deny may have become a Deny just before it was deleted.
    const going = this.#parts().find((rule) => statusOf(rule).id === gone && isDeleting(rule) && declaresAllow(rule))
    const why =
      stillDeclared.length > 0
        ? `${stillDeclared.join(', ')} declares Allow`
        : `its last is going: ${going?.metadata.name}`
    if (stillDeclared.length === 0 && going === undefined) return
    this.violations.push(`policy ${policy} allows nothing after ${sighting.method} ${sighting.path}, and ${why}`)
  }

  /** Names of the IPPolicyRules that declare Allow, of one policy or of all. */
  #declaringAllow(policy?: string, cr?: CustomResource): readonly string[] {
    return this.#parts().flatMap((rule) => {
      const { ipPolicyRef: ref } = rule.spec as { readonly ipPolicyRef: Fields }
      const isNamed = ref.name === cr?.metadata.name && rule.metadata.namespace === cr?.metadata.namespace
      const isOf = policy === undefined || ref.id === policy || (cr !== undefined && isNamed)
      return declaresAllow(rule) && isOf && !isDeleting(rule)
        ? [`IPPolicyRule/${rule.metadata.namespace}/${rule.metadata.name}`]
        : []
    })
  }

  #policies(): readonly CustomResource[] {
    return this.#world.all().filter(({ kind }) => kind === 'IPPolicy')
  }

  #parts(): readonly CustomResource[] {
    return this.#world.all().filter(({ kind }) => kind === 'IPPolicyRule')
  }

  /** A resource has this spec from now on. */
  #declared(cr: CustomResource): void {
    const { rules } = cr.spec as { readonly rules?: Rules }
    const spec = takesParts(cr.spec) ? ANY : (rules ?? [])
    const known = this.#allowed.get(cr.metadata.uid) ?? []
    if (known.at(-1) !== spec && !isSameRules(known.at(-1) ?? ANY, spec)) this.#allow(cr, spec)
  }

  #allow({ metadata: { uid } }: CustomResource, rules: Rules): void {
    this.#allowed.set(uid, [...(this.#allowed.get(uid) ?? []), rules])
  }

  /** A policy that the resource did not have before may have any rules. */
  #ownsNow(cr: CustomResource, policy: string, former: Rules): void {
    if (this.#ids.get(cr.metadata.uid) === policy) return
    this.#ids.set(cr.metadata.uid, policy)
    this.#allowed.set(cr.metadata.uid, [former, ...(this.#allowed.get(cr.metadata.uid) ?? [])])
  }

  /** Once the API matches the spec that the operator knows, earlier ones count no longer. */
  #settle(cr: CustomResource, held: Rules): void {
    const { rules = [] } = cr.spec as { readonly rules?: Rules }
    const isKnown = statusOf(cr).observedGeneration === generationOf(cr)
    if (!isKnown || takesParts(cr.spec) || !isSameRules(rules, held) || this.#world.time.now < this.#unknownUntil)
      return
    this.#allowed.set(cr.metadata.uid, [rules])
  }

  /** Every rule at the API, by id. */
  #rules(): ReadonlyMap<string, Held> {
    const all = this.#stored().flatMap(({ ip_policy_rules: rules = [] }) => rules)
    return new Map(
      all.map(({ id, cidr, action, ip_policy_id: policy }) => [
        String(id),
        { id: String(id), cidr: String(cidr), action: String(action), policy: String(policy) },
      ]),
    )
  }

  /** Ids of the policies to which edges and restrictions refer. */
  #inUseNow(): ReadonlySet<string> {
    const users = this.#stored().flatMap((objects) => {
      return Object.entries(objects).flatMap(([path, list]) => (refersToPolicies(path) ? list : []))
    })
    const text = JSON.stringify(users)
    const ids = this.#stored().flatMap(({ ip_policies: policies = [] }) => policies.map(({ id }) => String(id)))
    return new Set(ids.filter((id) => text.includes(id)))
  }

  #stored(): readonly Readonly<Record<string, readonly Fields[]>>[] {
    return Object.values(this.#world.api.emulator.admin.snapshot().accounts).map(({ objects }) => objects)
  }
}

interface Change {
  readonly before: Held | undefined
  readonly after: Held | undefined
}

/** Rules of which the operator decides nothing. */
const ANY: Rules = [{ cidr: '0.0.0.0/0', action: 'any' }]

function isOfRules({ server, method, path }: Sighting): boolean {
  return server === 'api' && method !== 'GET' && /^\/ip_polic(ies|y_rules)(\/|$)/.test(path)
}

function takesParts(spec: unknown): boolean {
  return (spec as { readonly rulesSource?: unknown }).rulesSource === 'IPPolicyRules'
}

function declaresAllow({ spec }: CustomResource): boolean {
  return (spec as { readonly action: string }).action === 'Allow'
}

function isAllow({ action }: AddressRule): boolean {
  return action === 'allow'
}

/** Whether the request, when carried out, makes that change of the rule. */
function makes({ method, path, body }: Sighting, id: string, { before, after }: Change): boolean {
  if (method === 'DELETE') return after === undefined && path === `/ip_policy_rules/${id}`
  if (method === 'PATCH') return before !== undefined && after !== undefined && path === `/ip_policy_rules/${id}`
  if (method !== 'POST' || path !== '/ip_policy_rules' || before !== undefined) return false
  const fields = JSON.parse(body || '{}') as Fields
  return fields.ip_policy_id === after?.policy && keyOf(fields as unknown as AddressRule) === keyOf(after as Held)
}

/** The rules after each of the changes, in any order. */
function* orders(base: readonly Held[], own: readonly Change[]): Iterable<Rules> {
  const subsets = own.length > MOST_AT_ONCE ? [2 ** own.length - 1] : [...Array(2 ** own.length).keys()].slice(1)
  for (const subset of subsets) {
    const made = own.filter((_, index) => Math.floor(subset / 2 ** index) % 2 === 1)
    const kept = base.filter(({ id }) => !made.some(({ before }) => before?.id === id))
    yield [...kept, ...made.flatMap(({ after }) => after ?? [])]
  }
}

function isSame({ before, after }: Change): boolean {
  return before !== undefined && after !== undefined && keyOf(before) === keyOf(after)
}

function isSameRules(one: Rules, other: Rules): boolean {
  return JSON.stringify(one.map(keyOf).toSorted()) === JSON.stringify(other.map(keyOf).toSorted())
}

function keyOf({ cidr, action }: AddressRule): string {
  return `${action.toLowerCase()} ${rangeKey(cidr)}`
}
