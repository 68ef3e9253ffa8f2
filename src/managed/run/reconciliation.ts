import type { Collection, RemoteObject, WriteOptions } from '../../api/types.ts'
import { KubeError } from '../../kube/kube-error.ts'
import type { ResourceType } from '../../kube/types.ts'
import type { WriteReason } from '../../telemetry/write-origin.ts'
import { clockOffset } from '../../util/noted-time.ts'
import { rfc3339Of } from '../../util/time.ts'
import { type CustomResource, generationOf, hasNoConditions, internalOf, nameOf, originOf, statusOf } from '../cr.ts'
import type { CommonStatus, Condition, Fields } from '../descriptor/common.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { InternalStatus } from '../descriptor/internal.ts'
import type { ConditionText } from '../descriptor/readiness.ts'
import { reasons } from '../descriptor/reasons.ts'
import { resourceTypeOf } from '../kinds-registry.ts'
import { type ConditionState, conditionsFor, stampConditions } from './conditions.ts'
import type { ManagedContext } from './context.ts'
import { ConflictError, WaitError } from './control-flow-errors.ts'
import type { Memory } from './memory.ts'
import { mergePatch, patchVersion } from './merge-patch.ts'
import { openRequest } from './requests.ts'
import type { MemberSession } from './session.ts'

/** Status fields of the reconciler itself; all others belong to the kind. */
type OwnStatus = {
  readonly [Field in Exclude<
    keyof CommonStatus,
    'conditions' | 'observedGeneration' | 'lastHandledReconcileAt' | 'nextRotationAt' | 'internal'
  >]?: CommonStatus[Field] | undefined
}

/** Changes to `status.internal`; undefined removes a field. */
type InternalChange = { readonly [Field in keyof InternalStatus]?: InternalStatus[Field] | undefined }

/**
 * One CR during one reconcile: its newest copy, the status being prepared, and all writes to it. Status is collected
 * here and written by `write` only.
 */
export class Reconciliation {
  readonly context: ManagedContext
  readonly descriptor: ManagedDescriptor
  readonly memory: Memory
  /** Monotonic time when the run began: a list that begins later shows live state. */
  readonly begun: number
  /** The id in the status when the run began: the conditions of that status describe that object. */
  readonly begunWith: string | undefined
  /** Wall time minus monotonic time when the run began, in milliseconds. Delays computed from wall time refer to it. */
  readonly clockOffset: number
  /** What the writes of this run have undone, as `contestAbout` describes it; undefined if there were none. */
  restored: string | undefined
  /** Id of the object that this run has created, for its Event. */
  made: string | undefined
  readonly #type: ResourceType
  /** Generation of the spec this run acts on. A newer one is left to the next run. */
  readonly #generation: number
  readonly #request: string | undefined
  #cr: CustomResource
  #session: MemberSession | undefined
  #own: OwnStatus = {}
  #internal: InternalChange = {}
  #kind: Fields | undefined
  /** `status` as last computed; undefined once something has changed. */
  #status: (CommonStatus & Fields) | undefined
  #overtaken: boolean = false
  /** The last call to Kubernetes about the CR. */
  #call: Promise<unknown> = Promise.resolve()

  constructor(context: ManagedContext, descriptor: ManagedDescriptor, cr: CustomResource) {
    this.context = context
    this.descriptor = descriptor
    this.memory = context.memories.of(cr.metadata.uid)
    this.begun = context.clock.monotonic()
    this.clockOffset = clockOffset(context.clock)
    this.#type = resourceTypeOf(descriptor)
    this.#generation = generationOf(cr)
    this.#request = openRequest(cr, 'reconcile')
    this.begunWith = statusOf(cr).id
    this.#cr = cr
  }

  get cr(): CustomResource {
    return this.#cr
  }

  /** The account's session, once `enter` was called. */
  get session(): MemberSession {
    if (this.#session === undefined) throw new Error('the account was not resolved before it was used')
    return this.#session
  }

  enter(session: MemberSession): void {
    this.#session = session
  }

  get collection(): Collection {
    return this.descriptor.identity.collectionOf(this.#cr.spec)
  }

  /** Options of a write to the account: for which CR it is made, and why. */
  originFor(reason: WriteReason): WriteOptions {
    return { origin: originOf(this.#cr, reason) }
  }

  /** Status in Kubernetes plus what this run has noted. */
  get status(): CommonStatus & Fields {
    // Steps ask for it again and again.
    this.#status ??= withoutAbsent({
      ...statusOf(this.#cr),
      ...this.#own,
      ...this.#kind,
      internal: this.#bookkeeping(),
    })
    return this.#status
  }

  /** `status.internal` in Kubernetes plus what this run has noted. */
  get internal(): InternalStatus {
    return this.#bookkeeping() ?? {}
  }

  /**
   * The answer to a create was stored on a copy that another client had changed meanwhile. Since we read that change
   * ourselves, no watch will report it: another run must handle it.
   */
  get overtaken(): boolean {
    return this.#overtaken
  }

  /** True while the run has found an id or nonce that is not stored yet. */
  get unstored(): boolean {
    const stored = statusOf(this.#cr)
    return this.status.id !== stored.id || this.internal.create?.nonce !== stored.internal?.create?.nonce
  }

  /** Notes status fields of the reconciler for the next write; undefined removes one. */
  note(fields: OwnStatus): void {
    this.#own = { ...this.#own, ...fields }
    this.#status = undefined
  }

  /** Notes fields of `status.internal` for the next write; undefined removes one. */
  recordInternal(fields: InternalChange): void {
    this.#internal = { ...this.#internal, ...fields }
    this.#status = undefined
  }

  /** Notes all status fields of the kind for the next write; fields not in `fields` are removed. */
  recordKind(fields: Fields): void {
    this.#kind = fields
    this.#status = undefined
  }

  /** Notes that `object` is the remote object of this CR. */
  recordObject(object: RemoteObject, create: NonNullable<InternalStatus['create']>): void {
    this.recordObserved(object)
    this.recordInternal({ create })
  }

  /** Notes that the CR observes `object`, which is not its own. */
  recordObserved(object: RemoteObject): void {
    const { kind, name } = this.session.account
    this.note({ id: object.id, accountRef: { kind, name }, ...addressOf(object) })
  }

  /** Writes what was noted, with conditions for `state`. Does nothing if nothing changed. */
  async write(state: ConditionState, conditions?: readonly ConditionText[]): Promise<void> {
    await this.#alone(() => this.#write(state, conditions))
  }

  /**
   * Writes what was noted in the middle of the run, before something that must not happen unrecorded.
   * @throws WaitError if another client changed the CR meanwhile: the rest is left to a run that acts on the newer
   * spec.
   */
  async store(message: string): Promise<void> {
    await this.write({ type: 'progressing', reason: reasons.Progressing, message, existing: true })
    if (this.#overtaken) throw new WaitError(reasons.Progressing, message, 0, true)
  }

  /**
   * Reports in the conditions that the CR waits, unless it already has conditions. May be called during the run:
   * nothing that the run has noted is written, and `status.observedGeneration` is left alone.
   */
  async tell(message: string): Promise<void> {
    await this.#alone(async () => {
      if (!hasNoConditions(this.#cr)) return
      const state: ConditionState = { type: 'progressing', reason: reasons.Progressing, message, existing: false }
      const conditions = this.#stamped(state, undefined)
      await this.#patch({ status: { conditions } }, 'status')
    })
  }

  /** Patches `metadata` of the CR, provided that no one changed the CR since it was read. */
  async patchMetadata(metadata: Fields): Promise<void> {
    await this.#alone(() => this.#patch({ metadata }))
  }

  /** Reads the CR from the apiserver. @throws ConflictError if it is no longer the same CR in the same state. */
  async assertUnchanged(): Promise<void> {
    await this.#alone(async () => {
      const live = await this.#readLive()
      if (live?.metadata.resourceVersion !== this.#cr.metadata.resourceVersion) throw new ConflictError(undefined)
    })
  }

  /** Runs calls one after another: each names the resourceVersion that the previous one returned. */
  async #alone(call: () => Promise<void>): Promise<void> {
    const ended = this.#call.then(call)
    // The caller handles the failure.
    this.#call = ended.catch(() => undefined)
    await ended
  }

  async #write(state: ConditionState, conditions: readonly ConditionText[] | undefined): Promise<void> {
    for (let tries = 1; ; tries++) {
      const patch = mergePatch(statusOf(this.#cr), this.#next(state, conditions))
      if (patch === undefined) return
      try {
        await this.#patch({ status: patch }, 'status')
        this.memory.stored(this.#cr)
        return
      } catch (error) {
        if (!isConflict(error) || !this.unstored || tries === 5) throw error
        await this.#rereadForStoring()
      }
    }
  }

  #next(state: ConditionState, conditions: readonly ConditionText[] | undefined): Fields {
    const before = statusOf(this.#cr)
    return {
      ...(this.#kind === undefined ? before : kept(before)),
      ...this.#kind,
      ...this.#own,
      internal: this.#bookkeeping(),
      ...this.#answer(state),
      // Pausing does not act on a spec: an edit made meanwhile is still to be carried out.
      observedGeneration: state.type === 'paused' ? before.observedGeneration : this.#generation,
      conditions: this.#stamped(state, conditions),
    }
  }

  /** Undefined if nothing is kept: the field itself is absent then. */
  #bookkeeping(): InternalStatus | undefined {
    const kept: InternalStatus = withoutAbsent({ ...internalOf(this.#cr), ...this.#internal })
    return Object.keys(kept).length === 0 ? undefined : kept
  }

  #stamped(state: ConditionState, conditions: readonly ConditionText[] | undefined): readonly Condition[] {
    const previous = statusOf(this.#cr).conditions ?? []
    const next = this.context.amendConditions(conditionsFor(state, previous, conditions), this.#cr)
    return stampConditions(next, previous, this.#generation, this.context.clock.now())
  }

  /** A request made while the CR is paused is answered once it is resumed. */
  #answer(state: ConditionState): Pick<CommonStatus, 'lastHandledReconcileAt'> {
    const answered = this.#request !== undefined && state.type !== 'paused'
    return answered ? { lastHandledReconcileAt: this.#request } : {}
  }

  async #patch(patch: Fields, subresource?: 'status'): Promise<void> {
    const { kube, resources } = this.context
    const before = this.#cr
    try {
      this.#take(await resources.write(before, () => patchVersion(kube, this.#type, before, patch, subresource)))
    } catch (error) {
      if (isConflict(error)) await this.#recordOutdated(before.metadata.resourceVersion)
      throw error
    }
  }

  #take(cr: CustomResource): void {
    this.#cr = cr
    this.#status = undefined
  }

  /**
   * The watch soon shows what made our copy outdated, unless etcd was restored to a state that the watch began after: a
   * copy that is refused for the second time is replaced by what a read of the CR returns.
   */
  async #recordOutdated(resourceVersion: string): Promise<void> {
    if (this.memory.outdated === resourceVersion) await this.#readLive()
    this.memory.outdated = resourceVersion
  }

  /** Reads the CR from the apiserver, and puts it into the store. */
  async #readLive(): Promise<CustomResource | undefined> {
    const { kube, resources } = this.context
    const name = nameOf(this.#cr)
    const before = resources.get(name)
    const live = await kube.get<CustomResource>(this.#type, name)
    if (live !== undefined) resources.take(live, before)
    return live
  }

  /**
   * Another client wrote the CR between the POST and the storing of its answer. The answer is stored on the newest
   * copy, unless the CR is gone or its create has moved on: then this run must not store it.
   */
  async #rereadForStoring(): Promise<void> {
    const before = internalOf(this.#cr).create?.nonce
    const live = await this.#readLive()
    if (live?.metadata.uid !== this.#cr.metadata.uid || internalOf(live).create?.nonce !== before) {
      throw new ConflictError(undefined)
    }
    this.#take(live)
    this.#overtaken = true
  }
}

/** Fields that stay although the kind's are rewritten. The others are written each time, or are the kind's. */
const KEPT: { readonly [Field in keyof OwnStatus | 'lastHandledReconcileAt']-?: true } = {
  id: true,
  uri: true,
  createdAt: true,
  adopted: true,
  accountRef: true,
  lastHandledReconcileAt: true,
  output: true,
  rotatedAt: true,
  lastHandledRotateAt: true,
  plan: true,
}

function kept(status: CommonStatus & Fields): Fields {
  return Object.fromEntries(Object.keys(KEPT).map((field) => [field, status[field]]))
}

function withoutAbsent(fields: Fields): Fields {
  const present: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(fields)) if (value !== undefined) present[field] = value
  return present
}

/** Longest URI that the CRD accepts, in characters. */
const LONGEST_URI = 2048

/** Drops values that the CRD would refuse: otherwise the id could not be stored. */
function addressOf({ uri, created_at: created }: RemoteObject): OwnStatus {
  const createdAt = typeof created === 'string' ? rfc3339Of(created) : undefined
  return {
    ...(typeof uri === 'string' && uri.length <= LONGEST_URI ? { uri } : {}),
    ...(createdAt === undefined ? {} : { createdAt }),
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof KubeError && error.code === 'Conflict'
}
