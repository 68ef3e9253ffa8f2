import type { KubeObject } from '../../../src/kube/types.ts'
import {
  type CustomResource,
  hasFinalizer,
  internalOf,
  isDeleting,
  statusOf,
  unresolvedAttempt,
} from '../../../src/managed/cr.ts'
import type { InternalStatus } from '../../../src/managed/descriptor/internal.ts'
import { parseObject } from '../../../src/managed/descriptor/metadata.ts'
import { type Marker, PLACEHOLDER_NONCE, parseMarker } from '../../../src/managed/markers/marker.ts'
import { REMOTE_ID } from '../../../src/managed/names.ts'
import { applyMergePatch, equalJSON } from '../../../src/util/json.ts'
import { collectionsOf, refersToPolicies } from './collections.ts'
import type { Sighting, WireAnswer } from './faults.ts'
import { times } from './operator.ts'
import type { SimulatedProcess } from './process.ts'
import { isWrite, type SimulatedWorld } from './world.ts'

type Fields = Readonly<Record<string, unknown>>
type Stored = Readonly<Record<string, readonly Fields[]>>

/** Secrets that are shown only once, in every form in which they could be written. */
export type Canaries = ReadonlySet<string>

/** A request carried out later than this after it was sent was delayed on the way. Milliseconds. */
const LATE_MS = 50

/** Fields of which the API hides secrets (`management-api.md § Events`). */
const SHOWN_IN_PART = /^\/event_destinations\/\S+ target$/

/**
 * Invariants that must hold at all times, judged when a request leaves an operator: the operator is not responsible for
 * what happens to it on the way. Part of the oracle.
 */
export class Instants {
  readonly #world: SimulatedWorld
  readonly #canaries: Canaries
  readonly #violations: string[] = []
  readonly #idle: string[] = []
  readonly #excused = new WeakSet<Sighting>()
  readonly #posted = new Set<string>()
  /** UIDs and rules for which a POST may be in flight, and until when. */
  readonly #outstanding = new Map<string, number>()
  /** Until when a process must not call the API. */
  readonly #heldUntil = new Map<SimulatedProcess, { readonly until: number; readonly key: string | undefined }>()
  readonly #madeBy = new WeakMap<Sighting, string>()
  readonly #sentAt = new WeakMap<Sighting, number>()
  /** When a change of an object took effect that its sender had long given up, by path. */
  readonly #lateAt = new Map<string, number>()
  /** When the last answered read of a collection or an object was sent, by path and process. */
  readonly #readAt = new Map<string, Map<SimulatedProcess, number>>()
  /** Objects as they were when a PATCH for them was sent. */
  readonly #before = new WeakMap<Sighting, Fields>()
  /** Objects as the answer to the last write of them showed them, with what the service chose, by path. */
  readonly #shown = new Map<string, Fields>()
  /** The process that heard the answer to the last write of an object, by its path. */
  readonly #toldTo = new Map<string, SimulatedProcess>()
  /** Paths of objects whose last PATCH was answered as if it had not been carried out. */
  readonly #denied = new Set<string>()
  /** UIDs of resources whose outputs somebody has changed. */
  readonly #changedOutputs = new Set<string>()
  /** How many more objects may be created although they exist. */
  #remade = 0
  /** The objects that each resource with a token has had; putting etcd back brings an earlier one again. */
  readonly #held = new Set<string>()
  /** Virtual time until which operators need not know that etcd was put back. */
  #unknownUntil = 0

  constructor(world: SimulatedWorld, canaries: Canaries) {
    this.#world = world
    this.#canaries = canaries
  }

  get violations(): readonly string[] {
    return this.#violations
  }

  /** Writes to Kubernetes that changed nothing: only an operator that lost an answer, or its memory, sends one. */
  get idle(): readonly string[] {
    return this.#idle
  }

  /** Exempts this request. */
  excuse(sighting: Sighting): void {
    this.#excused.add(sighting)
  }

  /**
   * The API's lists are about to lag for longer than two of them, a pause apart, can detect: that many objects may be
   * created although they exist.
   */
  excuseRemaking(objects: number): void {
    this.#remade = objects
  }

  /** Somebody changes the outputs of the resource: between two writes of the operator, a token may go missing. */
  excuseOutputs({ metadata: { uid } }: CustomResource): void {
    this.#changedOutputs.add(uid)
  }

  /**
   * Attempt numbers that etcd has lost are used again, what the service chose is no longer noted, and until then a rule
   * may go into a policy by the id that its status had.
   */
  putBack(unknownUntil: number): void {
    this.#posted.clear()
    this.#toldTo.clear()
    this.#unknownUntil = unknownUntil
  }

  /** A request leaves an operator. */
  sent(sighting: Sighting): void {
    this.#sentAt.set(sighting, this.#world.time.now)
    this.#checkPatience(sighting)
    if (!isWrite(sighting) || this.#excused.has(sighting)) return
    this.#checkLeader(sighting)
    this.#checkSecrecy(sighting)
    if (sighting.server === 'kubernetes') {
      this.#checkSwitch(sighting)
      this.#checkNews(sighting)
    }
    if (sighting.server !== 'api') return
    if (sighting.method === 'POST') this.#checkPost(sighting)
    if (sighting.method === 'PATCH') this.#checkPatch(sighting)
    if (sighting.method === 'DELETE') this.#checkDelete(sighting)
  }

  /** An answer has arrived at the operator. */
  heard(sighting: Sighting, { status, headers = {}, body }: WireAnswer): void {
    const seconds = Number(headers['retry-after'])
    if (sighting.server === 'api' && status === 429 && seconds > 0) {
      const until = this.#world.time.now + 1000 * seconds
      this.#heldUntil.set(sighting.process, { until, key: sighting.headers.authorization })
    }
    const made = this.#madeBy.get(sighting)
    // The API itself has reported the outcome.
    if (made !== undefined && status < 500 && status !== 408) this.#outstanding.delete(made)
    this.#noteRead(sighting, status)
    const answer = parseObject(body)
    this.#noteDenied(sighting, answer)
    if (isWriteOfObject(sighting, status)) this.#toldTo.set(pathOfObject(sighting, answer), sighting.process)
  }

  #noteRead(sighting: Sighting, status: number): void {
    const { server, method, path, process } = sighting
    if (server !== 'api' || method !== 'GET' || status !== 200) return
    const [at = ''] = path.split('?')
    const readAt = this.#readAt.get(at) ?? new Map<SimulatedProcess, number>()
    this.#readAt.set(at, readAt.set(process, this.#sentAt.get(sighting) ?? 0))
  }

  /** The answer shows the object as before the PATCH: an operator that receives it sends the PATCH again. */
  #noteDenied(sighting: Sighting, answer: Fields | undefined): void {
    const before = this.#before.get(sighting)
    if (before === undefined || answer?.id !== before.id) return
    const sent = JSON.parse(sighting.body) as Fields
    const isDenied = Object.entries(sent).some(([field, value]) => {
      return !equalJSON(before[field], value) && equalJSON(before[field], answer?.[field])
    })
    if (isDenied) this.#denied.add(sighting.path)
  }

  /** A server has carried a request out. */
  done(sighting: Sighting, { status, body }: WireAnswer): void {
    const { server, method, path } = sighting
    const { now } = this.#world.time
    if (isWriteOfObject(sighting, status)) this.#noteShown(sighting, parseObject(body))
    if (method !== 'PATCH') return
    if (server === 'kubernetes' && path.endsWith('/status')) this.#checkTokens()
    if (server === 'api' && now - (this.#sentAt.get(sighting) ?? now) > LATE_MS) this.#lateAt.set(path, now)
  }

  #noteShown(sighting: Sighting, answer: Fields | undefined): void {
    const path = pathOfObject(sighting, answer)
    this.#toldTo.delete(path)
    if (answer?.id !== undefined) this.#shown.set(path, answer)
  }

  #tell(violation: string): void {
    this.#violations.push(violation)
  }

  /**
   * While an account must wait, the operator sends it nothing, unless people give it another key: it tries each at
   * once, the former one as well when it comes back.
   */
  #checkPatience({ server, process, method, path, headers }: Sighting): void {
    const held = this.#heldUntil.get(process)
    if (server !== 'api' || held === undefined || this.#world.time.now >= held.until) return
    if (headers.authorization !== held.key) this.#heldUntil.delete(process)
    else this.#tell(`${method} ${path} is sent before the time that the API named`)
  }

  /** Only the holder of the Lease writes, if there is a Lease. */
  #checkLeader(sighting: Sighting): void {
    const { process, method, path } = sighting
    const { name } = this.#world.operators.find((operator) => operator.process === process) ?? {}
    const holder = name === undefined ? undefined : this.#world.leaderOf(name)
    if (!holder || holder.startsWith(`${process.name}_`)) return
    this.#tell(`${process.name} sends ${method} ${path} while ${holder} leads`)
  }

  /** One-time secrets go into Secrets and nowhere else. */
  #checkSecrecy({ server, path, body }: Sighting): void {
    if (server === 'kubernetes' && /\/secrets(\/|$)/.test(path)) return
    if ([...this.#canaries].some((token) => body.includes(token))) this.#tell(`a token is sent to ${path}`)
  }

  /** A PATCH that leaves a known object as it is. */
  #checkNews({ method, path, body }: Sighting): void {
    if (method !== 'PATCH') return
    const { metadata = {}, ...fields } = JSON.parse(body || '{}') as Fields & { readonly metadata?: Fields }
    const { uid, resourceVersion, ...others } = metadata
    const object = this.#world.kube.everything().find((each) => each.metadata.uid === uid)
    if (object === undefined || object.metadata.resourceVersion !== resourceVersion) return
    if (equalJSON(applyMergePatch(object, { ...fields, metadata: others }), object))
      this.#idle.push(`PATCH ${path} of nothing new`)
  }

  /** A status that switches to another object records the former one. */
  #checkSwitch({ method, path, body }: Sighting): void {
    const [, name] = /\/([^/]+)\/status$/.exec(path) ?? []
    if (method !== 'PATCH' || name === undefined) return
    const { metadata, status } = JSON.parse(body) as { readonly metadata?: Fields; readonly status?: Fields }
    const cr = this.#world.all().find((each) => each.metadata.uid === metadata?.uid)
    if (cr === undefined || typeof status?.id !== 'string') return
    const { id, adopted } = statusOf(cr)
    const { create, superseded = [] } = internalOf(cr)
    if (id === undefined || id === status.id || create === undefined || adopted) return
    const kept = status.internal as InternalStatus | undefined
    const former = JSON.stringify(kept?.superseded ?? superseded)
    const isThere = Object.values(this.#stored())
      .flat()
      .some((object) => object.id === id)
    if (isThere && !former.includes(id)) this.#tell(`the status of ${cr.kind}/${name} forgets ${id}`)
  }

  /** Before an object is created, the data to find it by is stored, and is part of the body. */
  #checkPost(sighting: Sighting): void {
    const { path, body } = sighting
    if (!collectionsOf(this.#world.kinds).some((collection) => path === `/${collection.path}`)) return
    const fields = JSON.parse(body || '{}') as Fields
    const marker = parseMarker(fields.metadata ?? fields.name)
    if (path === '/ip_policy_rules' && (marker?.kind !== 'IPPolicyRule' || marker.nonce === PLACEHOLDER_NONCE)) {
      this.#checkRule(sighting, fields, marker)
      return
    }
    if (marker === undefined) {
      this.#tell(`POST ${path} without a mark`)
      return
    }
    const cr = this.#named(marker)
    const attempt = cr === undefined ? undefined : unresolvedAttempt(cr)
    const post = `${marker.kind}/${marker.name} ${marker.nonce} attempt ${attempt?.number}`
    if (cr?.metadata.uid !== marker.uid || attempt?.nonce !== marker.nonce) {
      this.#tell(`POST without a durable attempt: ${post}`)
    }
    const isMade = Object.values(this.#stored())
      .flat()
      .some((object) => {
        const other = parseMarker(object.metadata ?? object.name)
        return other?.uid === marker.uid && other.nonce === marker.nonce
      })
    if (isMade && this.#remade-- <= 0) this.#tell(`POST of what exists already: ${post}`)
    if (cr === undefined || !hasFinalizer(cr)) this.#tell(`POST without finalizer: ${post}`)
    this.#checkAlone(sighting, marker.uid, post)
    if (this.#posted.has(post)) this.#tell(`a second POST of one attempt: ${post}`)
    this.#posted.add(post)
    const isOthers = this.#changedOutputs.has(cr?.metadata.uid ?? '')
    if (cr !== undefined && !isOthers && this.#isTold(cr) && this.#secretsOf(cr).length === 0) {
      this.#tell(`POST without a Secret for what it tells: ${post}`)
    }
  }

  /**
   * A rule without a resource of its own: its policy is stored, and no other POST for the same rule is in flight.
   */
  #checkRule(sighting: Sighting, { ip_policy_id: policy, cidr, action }: Fields, marker: Marker | undefined): void {
    const rule = `${cidr} ${action} in ${policy}`
    const parent = this.#world.all().find((cr) => {
      return cr.kind === 'IPPolicy' && (statusOf(cr).id === policy || this.#isAttempted(cr, policy))
    })
    // The placeholder while an IPPolicyRule is replaced goes into the policy that its spec sets, possibly by id.
    const isNamed = this.#world.all().some(({ kind, spec }) => {
      return (
        kind === 'IPPolicyRule' &&
        (spec as { readonly ipPolicyRef?: { readonly id?: string } }).ipPolicyRef?.id === policy
      )
    })
    const isKnown = parent !== undefined || isNamed || this.#world.time.now < this.#unknownUntil
    if (!isKnown) this.#tell(`POST of a rule whose policy nobody would find: ${rule}`)
    if (marker !== undefined && this.#named(marker)?.metadata.uid !== marker.uid) {
      this.#tell(`POST of a rule with the mark of nobody: ${rule}`)
    }
    this.#checkAlone(sighting, rule, rule)
  }

  /**
   * Whether the CR's attempt leads to the object, by its marker. If an old manifest has taken the attempt away, the
   * marker alone does: a CR without an id recovers what it created.
   */
  #isAttempted(cr: CustomResource, id: unknown): boolean {
    const attempt = unresolvedAttempt(cr)
    if (attempt === undefined && statusOf(cr).id !== undefined) return false
    const objects = this.#stored().ip_policies ?? []
    const marker = parseMarker(objects.find((each) => each.id === id)?.metadata)
    return marker?.uid === cr.metadata.uid && (attempt === undefined || marker.nonce === attempt.nonce)
  }

  /** No other POST that creates the same may be in flight. */
  #checkAlone(sighting: Sighting, made: string, about: string): void {
    const until = this.#outstanding.get(made)
    if (until !== undefined && this.#world.time.now < until) this.#tell(`a POST while another may be out: ${about}`)
    this.#outstanding.set(made, this.#world.time.now + times.requestTimeoutMs)
    this.#madeBy.set(sighting, made)
  }

  /**
   * A PATCH contains only what changes; only an operator that lost its record sends fields again that the API does not
   * show. One that did not hear the answer to the last write cannot know what the service has chosen: somebody else may
   * have added it, and it sends the field again.
   */
  #checkPatch(sighting: Sighting): void {
    const { path, process, body } = sighting
    const object = this.#objectAt(path)
    if (object === undefined) return
    this.#before.set(sighting, object)
    if (this.#isLateChangeUnread(sighting)) return
    if (this.#denied.delete(path)) return
    const { id: _id, ...fields } = JSON.parse(body || '{}') as Fields
    const same = Object.entries(fields).filter(([field, value]) => {
      if (SHOWN_IN_PART.test(`${path} ${field}`)) return false
      const shown = this.#shown.get(path)?.[field]
      if (this.#toldTo.get(path) !== process && shown !== undefined && !equalJSON(shown, value)) return false
      return field in object && JSON.stringify(object[field]) === JSON.stringify(value)
    })
    if (Object.keys(fields).length === 0) this.#tell(`PATCH ${path} of nothing`)
    for (const [field] of same) this.#tell(`PATCH ${path} sends ${field}, which is so already`)
  }

  /** A change that took effect late may have been read just before, or not at all since. */
  #isLateChangeUnread({ path, process }: Sighting): boolean {
    const lateAt = this.#lateAt.get(path)
    if (lateAt === undefined) return false
    const reads = [path, path.slice(0, path.lastIndexOf('/'))].map((at) => this.#readAt.get(at)?.get(process) ?? 0)
    return this.#world.time.now - lateAt < times.requestTimeoutMs || Math.max(...reads) <= lateAt
  }

  /** A deleted object has been replaced, or its resource is being deleted; and nothing depends on it any more. */
  #checkDelete({ path, process }: Sighting): void {
    const id = path.split('/').at(-1) ?? ''
    for (const cr of this.#world.all()) {
      const { id: held, rotatedAt } = statusOf(cr)
      const { superseded = [] } = internalOf(cr)
      const at = `${cr.kind}/${cr.metadata.name}`
      const descriptor = this.#world.kinds.managedKind(cr.kind)
      if (isDeleting(cr)) continue
      const isReplaced = descriptor?.replacement?.first === 'delete'
      if (held === id && !isReplaced && this.#world.owns(cr)) this.#tell(`the object of ${at} is to be deleted`)
      if (this.#isTold(cr) && this.#secretsOf(cr).some((secret) => this.#holdsToken(secret, id))) {
        this.#tell(`the token of ${at} is to be revoked while its Secret holds it`)
      }
      const deleteAfter = superseded.find((former) => former.id === id)?.deleteAfter
      const overlapMs = descriptor?.rotation?.overlapMs(cr.spec) ?? 0
      const shorter = rotatedAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(rotatedAt) + overlapMs
      if (deleteAfter !== undefined && process.now() < Math.min(Date.parse(deleteAfter), shorter)) {
        this.#tell(`a former object of ${at} is to be deleted before its time`)
      }
    }
    if (!path.startsWith('/ip_policies/')) return
    for (const [collection, objects] of Object.entries(this.#stored())) {
      if (!refersToPolicies(collection) || !JSON.stringify(objects).includes(id)) continue
      this.#tell(`policy ${id} is to be deleted while something in ${collection} refers to it`)
    }
  }

  /** Once a status names an object created for it, the Secret holds its token. */
  #checkTokens(): void {
    for (const cr of this.#world.all()) {
      if (!this.#isTold(cr)) continue
      const { uid } = cr.metadata
      const { id, adopted } = statusOf(cr)
      const { create } = internalOf(cr)
      const held = `${uid} ${id}`
      const isNew = !this.#held.has(held)
      this.#held.add(held)
      // A recovered object may have lost its token: another is issued then.
      if (!isNew || id === undefined || adopted || (create?.attempt ?? 0) === 0 || isDeleting(cr)) continue
      const isStored = this.#secretsOf(cr).some(({ metadata, data }) => {
        return metadata.annotations?.[REMOTE_ID] === id && Object.keys((data as Fields | undefined) ?? {}).length > 0
      })
      if (!(isStored || this.#changedOutputs.has(uid)))
        this.#tell(`${cr.kind}/${cr.metadata.name} has an object whose token is not stored`)
    }
  }

  #isTold({ kind }: CustomResource): boolean {
    return this.#world.kinds.managedKind(kind)?.output?.type === 'one-time'
  }

  #secretsOf({ metadata: { uid } }: CustomResource) {
    return this.#world.secrets().filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
  }

  /** Whether it says that it holds the token of that object, and somebody has not altered it since. */
  #holdsToken({ metadata, data = {} }: KubeObject, id: string): boolean {
    const values = Object.values(data as Readonly<Record<string, string>>)
    return metadata.annotations?.[REMOTE_ID] === id && values.some((value) => this.#canaries.has(atob(value)))
  }

  #named({ kind, namespace, name }: Marker): CustomResource | undefined {
    return this.#world.kinds.managedKind(kind) === undefined ? undefined : this.#world.get(kind, name, namespace)
  }

  #objectAt(path: string): Fields | undefined {
    const [, collection = '', id] = /^\/(.+)\/([^/]+)$/.exec(path) ?? []
    return this.#stored()[collection]?.find((object) => object.id === id)
  }

  /** What all accounts store, by collection. */
  #stored(): Stored {
    const { accounts } = this.#world.api.emulator.admin.snapshot()
    const all = Object.values(accounts).flatMap(({ objects }) => Object.entries(objects as Stored))
    const byCollection = Map.groupBy(all, ([collection]) => collection)
    return Object.fromEntries([...byCollection].map(([name, parts]) => [name, parts.flatMap(([, objects]) => objects)]))
  }
}

/** Whether the API has carried out a create or an update. */
function isWriteOfObject({ server, method }: Sighting, status: number): boolean {
  return server === 'api' && (method === 'POST' || method === 'PATCH') && status < 300
}

/** The path of the object that a create has made or an update has changed. */
function pathOfObject({ method, path }: Sighting, answer: Fields | undefined): string {
  return method === 'POST' ? `${path}/${String(answer?.id)}` : path
}
