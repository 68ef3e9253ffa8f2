import type { KubeObject } from '../../../src/kube/types.ts'
import { type CustomResource, internalOf, isDeleting, statusOf, unresolvedAttempt } from '../../../src/managed/cr.ts'
import { markerOf, PLACEHOLDER_NONCE, parseMarker } from '../../../src/managed/markers/marker.ts'
import { ROTATE_REQUESTED_AT } from '../../../src/managed/names.ts'
import { tokenPlaceIn } from '../../builders/output-of-spec.ts'
import { headersOf, KEY } from './api-server.ts'
import { collectionsOf, refersToPolicies } from './collections.ts'
import type { Sighting, WireAnswer } from './faults.ts'
import { Instants } from './instants.ts'
import { OPERATOR_NAMESPACE } from './operator.ts'
import { type OutputChange, outputsOf } from './outputs-by-hand.ts'
import { PolicyRules } from './policy-rules.ts'
import { RequestRates } from './request-rates.ts'
import { Reversions } from './reversions.ts'
import { type HeldObjects, unlikeDeclared } from './unlike-declared.ts'
import { isWrite, NAMESPACE, type SimulatedWorld } from './world.ts'

type Fields = Readonly<Record<string, unknown>>
type RemoteObject = Fields & { readonly id: string }

/** Everything is at rest within this time after the last fault. Virtual milliseconds. */
const BOUND_MS = 20 * 60_000
/**
 * Far more than anything needs to come to rest: an operator that writes more often will not come to rest in the
 * remaining time.
 */
const MOST_WRITES = 2_000
/** Two resyncs of the whole account, which is due every minute but for jitter. */
const SETTLE_MS = 130_000
/**
 * One resync, after which nothing may be written: longer than the account's `resyncInterval`, and than the pause
 * between two tries of a refused list, with jitter.
 */
export const LOOK_MS = 75_000

/** The API's objects before there were resources, by collection. */
type Baseline = ReadonlyMap<string, ReadonlySet<string>>

/** What may be so without faults: people have yet to decide, and others change the account. */
export interface Allowance {
  /** Reasons for which a resource need not be Ready. */
  readonly refused?: readonly string[]
  /** Ids of objects that belong to no resource of this cluster. */
  readonly others?: ReadonlySet<string>
}

/**
 * Judges a world: eventually everything is as the specs say and stays so, and nothing is at risk at any moment. Keeps
 * its findings; their wording is for people.
 */
export class Oracle {
  readonly #world: SimulatedWorld
  readonly #violations: string[] = []
  /** Every secret shown so far, and the account's own key. */
  readonly #canaries = new Set<string>([KEY])
  readonly #instants: Instants
  readonly #reversions: Reversions
  readonly #rates: RequestRates
  readonly #rules: PolicyRules
  /** Specs of edges: the previous and the current one. */
  readonly #specs = new Map<string, readonly [former: Fields, present: Fields]>()
  /** Names of the Secrets and ConfigMaps whose owner somebody has removed. */
  readonly #disowned = new Set<string>()
  /** Policies that an operator may still be emptying, as an earlier spec allows. */
  readonly #emptied = new Set<string>()
  /** Resources whose objects were changed by hand. */
  readonly #meddled = new Set<string>()
  #baseline: Baseline = new Map()
  #writes: Sighting[] = []
  /** Resources not at rest, as of a revision of the cluster. */
  #seen: { readonly revision: string; readonly unrest: readonly string[] } | undefined
  /** Events sent. */
  readonly #events: Sighting[] = []

  #allowed: Allowance = {}

  /** Observes everything from now on; the account's current objects belong to no resource. */
  static async watch(world: SimulatedWorld): Promise<Oracle> {
    const oracle = new Oracle(world)
    oracle.#baseline = new Map(
      (await oracle.#held()).map(([path, objects]) => [path, new Set(objects.map(({ id }) => id))]),
    )
    return oracle
  }

  private constructor(world: SimulatedWorld) {
    this.#world = world
    this.#instants = new Instants(world, this.#canaries)
    this.#reversions = new Reversions(world, (isWanted) => this.#held(isWanted))
    this.#rates = new RequestRates(world.time)
    this.#rules = new PolicyRules(world)
    world.network.onSend = (sighting) => {
      this.#rules.sent(sighting)
      this.#rates.sent(sighting)
      this.#reversions.sent(sighting)
      this.#instants.sent(sighting)
    }
    world.network.onHeard = (sighting, answer) => this.#instants.heard(sighting, answer)
    world.network.onArrival = (sighting) => this.#arrived(sighting)
    world.network.onDone = (sighting, answer) => this.#done(sighting, answer)
  }

  /** Violations so far at any moment. */
  get violations(): readonly string[] {
    const { violations: ofInstants } = this.#instants
    const { violations: reverted } = this.#reversions
    const { violations: opened } = this.#rules
    return [...this.#violations, ...ofInstants, ...reverted, ...opened, ...this.#rates.violations, ...this.#bugs()]
  }

  /** Writes so far that changed nothing; a violation where nothing fails. */
  get idle(): readonly string[] {
    return this.#instants.idle
  }

  /** Every write of an operator so far that reached a server, except Leases and Events. */
  get writes(): readonly Sighting[] {
    return this.#writes
  }

  /**
   * The spec of a resource is about to change: an edge must keep what both specs have.
   * @param others earlier specs that it may still be coming from
   */
  specChanges(kind: string, name: string, spec: Fields, others: readonly Fields[] = []): void {
    const key = `${kind}/${name}`
    const former = (this.#world.get(kind, name)?.spec as Fields | undefined) ?? spec
    const common = Object.entries(former).filter(([field]) => others.every((other) => isModule(other[field])))
    this.#specs.set(key, [Object.fromEntries(common), spec])
    this.mayEmpty(kind, name, [former, ...others])
  }

  /** Specs that an operator may still be carrying out: one of a policy may empty it. */
  mayEmpty(kind: string, name: string, specs: readonly Fields[]): void {
    if (specs.some(({ allowEmpty }) => allowEmpty === true)) this.#emptied.add(`${kind}/${name}`)
    else this.#emptied.delete(`${kind}/${name}`)
  }

  /**
   * Objects of the resource are changed by hand: the operator is not responsible for what they lack until it is
   * repaired.
   */
  meddled(kind: string, name: string): void {
    this.#meddled.add(`${kind}/${name}`)
    this.#reversions.meddled(kind, name)
    this.#specs.delete(`${kind}/${name}`)
  }

  /**
   * Outputs of the resource are about to be changed by hand: a token may go missing until it is repaired. A Secret that
   * has lost its owner is somebody else's, with what is in it, unless the resource takes it back.
   */
  outputsChange(cr: CustomResource, how: OutputChange): void {
    this.#instants.excuseOutputs(cr)
    if (how === 'disown') for (const { metadata } of outputsOf(this.#world, cr)) this.#disowned.add(metadata.name)
  }

  /** Exempts this request when it is sent: its sender is paused before. */
  excuse(sighting: Sighting): void {
    this.#instants.excuse(sighting)
    this.#reversions.excuse(sighting)
    this.#rules.excuse(sighting)
  }

  /** etcd is put back to an earlier state. @param unknownUntil operators may act on earlier copies until then */
  putBack(unknownUntil = 0): void {
    this.#reversions.putBack()
    this.#instants.putBack(unknownUntil)
    this.#rules.putBack(unknownUntil)
  }

  /**
   * That many objects may be created although they exist: the API's lists lag longer than promised. The final state is
   * judged as usual.
   */
  excuseRemaking(objects: number): void {
    this.#instants.excuseRemaking(objects)
  }

  /**
   * Kubernetes is about to look as if put back to an earlier state, on which an operator acts. The final state is
   * judged as usual.
   */
  excuseReversions(): void {
    this.#reversions.excuseAll()
    this.#rules.excuseAll()
  }

  /** From now on these are not faults of the operator. */
  allow(allowed: Allowance): void {
    this.#allowed = allowed
    this.#seen = undefined
  }

  get isAtRest(): boolean {
    return this.#unrest().length === 0
  }

  /** Waits until the world is at rest. Returns what is not at rest in time; empty if all is. */
  async untilRest(): Promise<readonly string[]> {
    const { length } = this.#writes
    const isRestless = (): boolean => this.#writes.length > length + MOST_WRITES
    await this.#world.until(() => this.isAtRest || isRestless(), BOUND_MS)
    if (isRestless()) return [`more than ${MOST_WRITES} writes, and no rest`, ...this.#unrest()]
    return this.isAtRest ? [] : this.#unrest()
  }

  /**
   * Waits until the world is at rest, and judges it: every resource Ready, one object each and no others, each object
   * as the spec declares, which `unlikeDeclared` computes independently; working tokens, no secret where it does not
   * belong; and then silence. Empty: all is well.
   * @param expected the wanted account, as from `picture`; undefined: not compared
   * @param orphans the maximum number of objects of deleted resources, each reported in the Account's status: a create
   * repeated by an intermediary makes one that nobody can know of if the resource is deleted before a list has shown
   * it. Default none
   * @param settleMs how long it is left alone before the silence
   */
  async judge(expected?: Picture, orphans = 0, settleMs: number = SETTLE_MS): Promise<readonly string[]> {
    const world = this.#world
    const unrest = await this.untilRest()
    if (unrest.length > 0) return [...this.violations, ...unrest]
    await world.advance(settleMs)
    const { length } = this.#writes
    const events = this.#events.length
    await world.advance(LOOK_MS)
    const late = this.#writtenAtRest(length).map((write) => `written at rest: ${textOf(write)}`)
    late.push(...this.#toldAtRest(events))
    const held = await this.#held()
    const problems = [
      ...this.#unrest(),
      ...late,
      ...this.#strays(held, orphans),
      ...this.#miscounted(held),
      ...this.#unlikeDeclared(held),
      ...(await this.#tokens()),
      ...(await this.#leaks()),
    ]
    if (expected !== undefined) problems.push(...differences(expected, await this.picture()))
    return [...problems, ...this.violations]
  }

  /**
   * Writes since the first `length`, without those by which resources that the API refuses try again: each does so
   * every ten minutes, so that one may fall into a shorter silence.
   */
  #writtenAtRest(length: number): readonly Sighting[] {
    const late = this.#writes.slice(length)
    const refused = this.#refused()
    const creates = late.filter(({ server }) => server === 'api')
    const isRetry = ({ server, method, path }: Sighting): boolean => {
      if (server === 'api') return method === 'POST'
      return refused.some((cr) => path.endsWith(`/${this.#world.typeOf(cr.kind).plural}/${cr.metadata.name}`))
    }
    return creates.length <= refused.length && late.every(isRetry) ? [] : late
  }

  /** Events after the first `length`, without what refused resources say before they try again, once each. */
  #toldAtRest(length: number): readonly string[] {
    const late = this.#events.slice(length).map(({ body }) => JSON.parse(body) as SentEvent)
    const about = new Set(late.map(({ regarding }) => regarding.uid))
    const refused = new Set(this.#refused().map(({ metadata }) => metadata.uid))
    if (about.size === late.length && [...about].every((uid) => refused.has(uid))) return []
    return late.map(({ reason, regarding: { kind, name } }) => `Event at rest: ${reason} about ${kind}/${name}`)
  }

  /** Objects that currently differ from what their resources declare. */
  async unlikeDeclared(): Promise<readonly string[]> {
    return this.#unlikeDeclared(await this.#held())
  }

  #unlikeDeclared(held: HeldObjects): readonly string[] {
    const resources = this.#world.all().filter((cr) => !this.#isRefused(cr))
    return unlikeDeclared(this.#world, resources, held)
  }

  /**
   * Resources that have not settled: empty if every resource is Ready for its current spec, and none is being deleted.
   */
  #unrest(): readonly string[] {
    const { revision } = this.#world.kube
    if (this.#seen?.revision !== revision) this.#seen = { revision, unrest: this.#foundUnrest() }
    return this.#seen.unrest
  }

  #foundUnrest(): readonly string[] {
    return this.#world.all().flatMap((cr) => {
      const { kind, metadata, status } = cr
      const at = `${kind}/${metadata.name}`
      if (this.#isRefused(cr)) return []
      if (metadata.deletionTimestamp !== undefined) return [`${at} is still being deleted: ${conditionsOf(cr)}`]
      if (status?.observedGeneration !== metadata.generation) return [`${at} was not looked at: ${conditionsOf(cr)}`]
      const bad = ['Ready', 'Synced'].filter((type) => conditionNamed(cr, type)?.status !== 'True')
      if (bad.length > 0 && !this.#hasUndeclared(cr)) return [`${at} is not ${bad.join(' and ')}: ${conditionsOf(cr)}`]
      if (unresolvedAttempt(cr) !== undefined) return [`${at} has an open attempt`]
      if (status?.internal?.superseded !== undefined) return [`${at} has a former object still`]
      const asked = metadata.annotations?.[ROTATE_REQUESTED_AT]
      if (asked !== undefined && statusOf(cr).lastHandledRotateAt !== asked) return [`${at} was not rotated`]
      return []
    })
  }

  /** Whether a policy rightly reports undeclared rules: some of them are among the objects of others, or orphans. */
  #hasUndeclared(cr: CustomResource): boolean {
    const { rules = [] } = statusOf(cr) as { readonly rules?: readonly { readonly id: string }[] }
    if (conditionNamed(cr, 'Ready')?.status !== 'True' || conditionNamed(cr, 'Synced')?.reason !== 'Undeclared')
      return false
    const orphans = this.#orphans()
    return rules.some(({ id }) => orphans.has(id) || (this.#allowed.others?.has(id) ?? false))
  }

  #refused(): readonly CustomResource[] {
    return this.#world.all().filter((cr) => this.#isRefused(cr))
  }

  /** Whether the resource waits for people, as it is allowed to. */
  #isRefused(cr: CustomResource): boolean {
    // The reason is in Synced in any case: an earlier object may stay Ready.
    const { status, reason, observedGeneration } = conditionNamed(cr, 'Synced') ?? {}
    const isNow = observedGeneration === cr.metadata.generation
    return isNow && status === 'False' && (this.#allowed.refused?.includes(reason ?? '') ?? false)
  }

  /**
   * Objects without a resource, and resources without their object; and orphans: more than allowed, or reported and
   * missing.
   */
  #strays(held: HeldObjects, orphans: number): readonly string[] {
    const wanted = new Map(this.#world.all().map((cr) => [statusOf(cr).id, cr]))
    // Rules that a policy declares itself; others have resources of their own.
    const parents = new Set(
      [...wanted].flatMap(([id, { spec }]) => ((spec as Fields).rulesSource === 'IPPolicyRules' ? [] : [id])),
    )
    const found = new Set<string>()
    const problems: string[] = []
    for (const cr of this.#world.all()) {
      const { id } = statusOf(cr)
      if (id !== undefined && wanted.get(id) !== cr)
        problems.push(`${cr.kind}/${cr.metadata.name} shares ${id} with another`)
    }
    const reported = this.#orphans()
    if (reported.size > orphans) problems.push(`reported as orphans: ${[...reported].join(', ')}`)
    for (const [path, objects] of held) {
      for (const object of objects) {
        if (this.#baseline.get(path)?.has(object.id)) continue
        const { ip_policy: policy } = object as { readonly ip_policy?: { readonly id: string } }
        if (wanted.has(object.id)) found.add(object.id)
        else if (reported.delete(object.id) || this.#allowed.others?.has(object.id)) continue
        else if (policy === undefined || !(parents.has(policy.id) || this.#allowed.others?.has(policy.id)))
          problems.push(`nobody's object in ${path}: ${JSON.stringify(object)}`)
      }
    }
    if (reported.size > 0) problems.push(`reported as orphans, and not there: ${[...reported].join(', ')}`)
    for (const [id, cr] of wanted) {
      const { kind, metadata } = cr
      if (this.#isRefused(cr)) continue
      if (id === undefined || !found.has(id)) problems.push(`${kind}/${metadata.name} has no object ${id}`)
    }
    return problems
  }

  /** Policies whose status counts other rules than they have. A placeholder that a lost resource left is an orphan. */
  #miscounted(held: HeldObjects): readonly string[] {
    const all = held.find(([path]) => path === 'ip_policy_rules')?.[1] ?? []
    const rules = all.filter((rule) => markerOf(rule)?.nonce !== PLACEHOLDER_NONCE)
    return this.#world.all().flatMap((cr) => {
      const { id, ruleCount } = statusOf(cr)
      const { length } = rules.filter(({ ip_policy: policy }) => (policy as RemoteObject).id === id)
      if (cr.kind !== 'IPPolicy' || this.#isRefused(cr) || ruleCount === length) return []
      return [`IPPolicy/${cr.metadata.name} counts ${ruleCount} rules, and has ${length}`]
    })
  }

  /** Ids of objects that the Account's status reports as created for deleted resources. */
  #orphans(): Set<string> {
    return new Set(this.#world.account?.status?.orphans?.map(({ id }) => id))
  }

  /** Tokens in Secrets that differ from those of the objects. */
  async #tokens(): Promise<readonly string[]> {
    const problems: string[] = []
    for (const cr of this.#world.all()) {
      const { output } = this.#world.kinds.managedKind(cr.kind) ?? {}
      if (output?.type !== 'one-time' || this.#isRefused(cr) || hasNoConditions(cr)) continue
      const place = tokenPlaceIn(cr.spec, cr.metadata.name)
      const secret = this.#world
        .secrets()
        .find(({ metadata }) => metadata.namespace === cr.metadata.namespace && metadata.name === place.name)
      const data = secret?.data as Readonly<Record<string, string>> | undefined
      const token = Buffer.from(data?.[place.key] ?? '', 'base64').toString()
      const opened = await this.#world.api.openedBy(cr.kind, token)
      const { id } = statusOf(cr)
      if (opened !== id) problems.push(`the token of ${cr.kind}/${cr.metadata.name} opens ${opened} instead of ${id}`)
    }
    return problems
  }

  /** Whole tokens anywhere but in their own Secret. */
  async #leaks(): Promise<readonly string[]> {
    const { kube, operators } = this.#world
    const secrets = this.#world.secrets()
    const others = secrets.filter(
      ({ metadata }) => metadata.namespace !== OPERATOR_NAMESPACE && !this.#isGarbage(metadata),
    )
    const metrics = await Promise.all(operators.map(({ registry }) => registry.metrics()))
    const ours = others.filter(({ metadata }) => !this.#isDisowned(metadata))
    const twice = [...this.#canaries].some((token) => {
      return token !== KEY && ours.filter(({ data }) => JSON.stringify(data ?? {}).includes(encoded(token))).length > 1
    })
    const places: readonly (readonly [string, unknown])[] = [
      ['a metric', metrics],
      ['what a Secret says of itself', secrets.map(({ metadata }) => metadata)],
      ['a log', operators.map(({ lines }) => lines)],
      ['an audit record', operators.map(({ audited }) => audited)],
      ['Kubernetes outside of Secrets', kube.everything().filter(({ kind }) => kind !== 'Secret')],
    ]
    const found = places.flatMap(([place, content]) => {
      const text = JSON.stringify(content, (_key, value: unknown) =>
        value instanceof Error ? errorText(value) : value,
      )
      const isThere = [...this.#canaries].some((token) => text.includes(token) || text.includes(encoded(token)))
      return isThere ? [`a token stands in ${place}`] : []
    })
    return twice ? [...found, 'a token stands in two Secrets'] : found
  }

  #isDisowned({ name, ownerReferences: owners = [] }: KubeObject['metadata']): boolean {
    return owners.length === 0 && this.#disowned.has(name)
  }

  /** Whether Kubernetes, which the simulation has no garbage collector of, would have deleted the object by now. */
  #isGarbage({ ownerReferences: owners = [] }: KubeObject['metadata']): boolean {
    const uids = new Set(this.#world.all().map(({ metadata }) => metadata.uid))
    return owners.length > 0 && !owners.some(({ uid }) => uids.has(uid))
  }

  /**
   * The account without the server's random values and times, and without reported orphans: equal pictures, equal
   * objects.
   */
  async picture(): Promise<Picture> {
    const names = new Map<string, string>()
    const marks = new Map<string, string>()
    for (const cr of this.#world.all()) {
      const { id } = statusOf(cr)
      const { create } = internalOf(cr)
      if (id !== undefined) names.set(id, `${cr.kind}/${cr.metadata.name}`)
      marks.set(`${cr.metadata.uid} ${create?.nonce}`, `${cr.kind}/${cr.metadata.name}`)
    }
    const orphans = this.#orphans()
    const picture: Record<string, unknown> = {}
    for (const [path, objects] of await this.#held()) {
      const shown = objects
        .filter(({ id }) => !this.#baseline.get(path)?.has(id) && !orphans.has(id))
        .map((object) => shownOf(object, names, marks))
      if (shown.length > 0)
        picture[path] = shown.toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1))
    }
    return picture
  }

  /** Every object of the collections of the world's kinds. */
  async #held(isWanted: (path: string) => boolean = () => true): Promise<HeldObjects> {
    const { kinds, api } = this.#world
    const wanted = collectionsOf(kinds).filter(({ path }) => isWanted(path))
    const paths = new Map(wanted.map(({ path, listKey }) => [path, listKey]))
    const held: (readonly [string, readonly RemoteObject[]])[] = []
    for (const [path, listKey] of paths) {
      const objects: RemoteObject[] = []
      let page: string | null = `/${path}?limit=100`
      while (page !== null) {
        const answer: Fields = await api.ask('GET', page)
        objects.push(...(answer[listKey] as readonly RemoteObject[]))
        const next = answer.next_page_uri as string | null
        page = next === null ? null : new URL(next).pathname + new URL(next).search
      }
      held.push([path, objects])
    }
    return held
  }

  #arrived(sighting: Sighting): void {
    this.#rules.arrived(sighting)
    if (sighting.method !== 'GET' && /\/events(\/|$)/.test(sighting.path)) this.#events.push(sighting)
    if (!isWrite(sighting)) return
    this.#writes.push(sighting)
  }

  async #done(sighting: Sighting, answer: WireAnswer): Promise<void> {
    const { server, method, path } = sighting
    this.#instants.done(sighting, answer)
    this.#rules.done(sighting)
    if (server !== 'api' || method === 'GET') return
    const token = tokenIn(answer.body)
    if (token !== undefined) this.#canaries.add(token)
    await this.#reversions.done(sighting)
    if (path.startsWith('/edges/')) await this.#checkEdges()
    if (/^\/(edges|ip_policies|ip_policy_rules|ip_restrictions)(\/|$)/.test(path)) await this.#checkPolicies()
  }

  /** While an edge changes, it keeps what both its former and its current spec have. */
  async #checkEdges(): Promise<void> {
    for (const [key, [former, present]] of this.#specs) {
      const [kind = '', name = ''] = key.split('/')
      const cr = kind === 'Edge' ? this.#world.get(kind, name) : undefined
      const place = cr === undefined ? undefined : this.#world.placeOf(cr)
      if (place === undefined) continue
      const { status, body } = await this.#world.api.answerPlainly({
        method: 'GET',
        path: `/${place.path}/${place.id}`,
        headers: headersOf(KEY),
        body: '',
      })
      if (status !== 200) continue
      const edge = JSON.parse(body) as Fields
      for (const module of Object.keys(former).filter((field) => isModule(former[field]) && isModule(present[field]))) {
        const held = edge[snake(module)] as { readonly enabled?: boolean } | string | null | undefined
        // A field that an edge does not show, such as its account, or shows as text, such as its metadata, is not a
        // module.
        if (held === undefined || typeof held === 'string') continue
        if (held?.enabled !== true) this.#violations.push(`${key} is live without ${module}`)
      }
    }
  }

  /**
   * A policy that had rules, or that an edge or a restriction refers to, is never empty, unless its spec wants that.
   */
  async #checkPolicies(): Promise<void> {
    const { api, kinds } = this.#world
    if (kinds.managedKind('IPPolicy') === undefined) return
    const { ip_policy_rules: rules } = (await api.ask('GET', '/ip_policy_rules?limit=100')) as Readonly<
      Record<string, readonly Fields[]>
    >
    const ruled = new Set(rules?.map(({ ip_policy: policy }) => (policy as RemoteObject).id))
    const referred = new Set((await this.#referrers()).flatMap((object) => policiesOf(object)))
    for (const cr of this.#world.all()) {
      const { id, ruleCount } = statusOf(cr)
      const { rules: own = [] } = cr.spec as { readonly rules?: readonly unknown[] }
      if (cr.kind !== 'IPPolicy' || id === undefined || isDeleting(cr) || this.#mayBeEmpty(cr) || ruled.has(id))
        continue
      // Other namespaces may have accounts of their own.
      if (cr.metadata.namespace !== NAMESPACE || !this.#world.owns(cr)) continue
      const at = `IPPolicy/${cr.metadata.name}`
      const hadOwn = own.length > 0 && Number(ruleCount) > 0 && !this.#meddled.has(at)
      const hadRules = hadOwn || this.#hasParts(cr)
      if (hadRules || referred.has(id)) this.#violations.push(`${at} is empty although it had rules, or is in use`)
    }
  }

  /** Whether a spec that an operator may be carrying out allows the policy to be empty, whatever depends on it. */
  isEmptied(policyId: string): boolean {
    return this.#world
      .all()
      .some((cr) => cr.kind === 'IPPolicy' && statusOf(cr).id === policyId && this.#mayBeEmpty(cr))
  }

  #mayBeEmpty({ metadata: { name }, spec }: CustomResource): boolean {
    return (spec as Fields).allowEmpty === true || this.#emptied.has(`IPPolicy/${name}`)
  }

  /** Whether rules of the policy have resources of their own. */
  #hasParts({ metadata: { name } }: CustomResource): boolean {
    return this.#world.all().some((rule) => {
      const { ipPolicyRef } = rule.spec as { readonly ipPolicyRef?: { readonly name?: string } }
      const isPart = rule.kind === 'IPPolicyRule' && ipPolicyRef?.name === name && !isDeleting(rule)
      return isPart && statusOf(rule).id !== undefined && !this.#meddled.has(`${rule.kind}/${rule.metadata.name}`)
    })
  }

  async #referrers(): Promise<readonly RemoteObject[]> {
    return (await this.#held(refersToPolicies)).flatMap(([, objects]) => objects)
  }

  #bugs(): readonly string[] {
    const lines = this.#world.operators.flatMap((operator) => operator.lines)
    return lines
      .filter(({ level }) => level === 'error')
      .map(({ message, fields }) => `logged as an error: ${message} ${errorText(fields.err)}`)
  }
}

/** The token in an answer; a refusal need not be JSON. */
function tokenIn(body: string): string | undefined {
  const [, token] = /"token":"([^"]+)"/.exec(body) ?? []
  return token
}

/** The objects of an account by collection, as `Oracle.picture` shows them. */
export type Picture = Readonly<Record<string, unknown>>

/** Where the second picture differs from the first, as paths with both values. */
export function differences(expected: unknown, actual: unknown, path = 'account'): readonly string[] {
  if (expected === CHANCE || JSON.stringify(expected) === JSON.stringify(actual)) return []
  if (typeof expected !== 'object' || typeof actual !== 'object' || expected === null || actual === null) {
    return [`${path} is ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`]
  }
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)])
  return [...names].flatMap((name) => {
    return differences((expected as Fields)[name], (actual as Fields)[name], `${path}.${name}`)
  })
}

/** Differences between two worlds without faults: the server's randomness. */
const CHANCE = '(chance)'

/** The first picture, with its differences from the second left open. */
export function withoutChance(first: unknown, second: unknown): unknown {
  if (JSON.stringify(first) === JSON.stringify(second)) return first
  if (typeof first !== 'object' || typeof second !== 'object' || first === null || second === null) return CHANCE
  if (Array.isArray(first))
    return first.map((item, index) => withoutChance(item, (second as readonly unknown[])[index]))
  return Object.fromEntries(
    Object.entries(first).map(([name, value]) => [name, withoutChance(value, (second as Fields)[name])]),
  )
}

function shownOf(value: unknown, names: ReadonlyMap<string, string>, marks: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => shownOf(item, names, marks))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [names.get(name) ?? name, shownOf(item, names, marks)]),
    )
  }
  if (typeof value !== 'string') return value
  const marker = parseMarker(value)
  if (marker !== undefined) {
    const { kind, name, uid, nonce } = marker
    // Children carry the marker of their owner, without an attempt of their own.
    const own = marks.get(`${uid} ${nonce}`) ?? [...marks].find(([key]) => key.startsWith(`${uid} `))?.[1]
    return own === `${kind}/${name}` ? `mark of ${own}` : `a mark of nobody: ${value}`
  }
  if (/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(value)) return 'a time'
  for (const [id, name] of names) if (value.includes(id)) return value.replace(id, name)
  // An object named in no status, such as a rule: told apart by its other content.
  return value.replace(/\b([a-z]+)_[0-9A-Za-z]{27}\b/, '$1_…')
}

/** Whether only the creator of the object knows its token, and nobody here does. */
function hasNoConditions(cr: CustomResource): boolean {
  const { adopted, output } = statusOf(cr)
  const { create } = internalOf(cr)
  return output === undefined && (adopted === true || create === undefined)
}

export function conditionNamed({ status }: CustomResource, type: string) {
  return status?.conditions?.find((condition) => condition.type === type)
}

function conditionsOf({ status }: CustomResource): string {
  return (status?.conditions ?? [])
    .map((each) => `${each.type}=${each.status} ${each.reason} (${each.message})`)
    .join('; ')
}

/** The write in words that are the same in every world. */
export function textOf({ server, method, path }: Sighting): string {
  const at = path
    .replace(
      /\/(?:[a-z0-9]+_[0-9A-Za-z]{27}|[a-z0-9]+_[0-9a-f-]{43}|\d{59}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=\/|$)/,
      '/{id}',
    )
    .replace(/^\/apis?\/([^/]+\/)?v[0-9a-z]+(\/namespaces\/[^/]+)?/, '')
  return `${server} ${method} ${at}`
}

function isModule(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    (value as { enabled?: boolean }).enabled !== false
  )
}

function snake(name: string): string {
  return name.replaceAll(/([A-Z]+)/g, (capitals) => `_${capitals.toLowerCase()}`)
}

function policiesOf(object: RemoteObject): readonly string[] {
  const module = (object.ip_restriction ?? object) as { readonly ip_policies?: readonly { readonly id: string }[] }
  return (module.ip_policies ?? []).map(({ id }) => id)
}

function encoded(token: string): string {
  return Buffer.from(token).toString('base64').replace(/=+$/, '')
}

function errorText(error: unknown): string {
  return error instanceof Error ? `${error.stack ?? error.message} ${errorText(error.cause)}` : String(error ?? '')
}

interface SentEvent {
  readonly reason: string
  readonly regarding: { readonly kind: string; readonly name: string; readonly uid: string }
}
