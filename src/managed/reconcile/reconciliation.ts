import type { Collection, RemoteObject, WriteOptions } from '../../api/types.ts'
import { KubeError } from '../../kube/errors.ts'
import type { ResourceType } from '../../kube/types.ts'
import type { WriteReason } from '../../telemetry/write-origin.ts'
import { clockOffset } from '../../util/noted-time.ts'
import { isRFC3339 } from '../../util/rfc3339.ts'
import { type CustomResource, generationOf, internalOf, isUntold, nameOf, originOf, statusOf } from '../cr.ts'
import type { CommonStatus, Condition } from '../descriptor/common.ts'
import type { ConditionText, Fields, ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { InternalStatus } from '../descriptor/internal.ts'
import { resourceTypeOf } from '../kinds-registry.ts'
import { type ConditionState, conditionsFor, stampConditions } from '../status/conditions.ts'
import { mergePatch } from '../status/merge-patch.ts'
import { reasons } from '../status/reasons.ts'
import type { ManagedContext, MemberSession } from './context.ts'
import { ConflictError } from './errors.ts'
import type { Memory } from './memory.ts'
import { openRequest } from './requests.ts'

/** Status fields of the reconciler itself; all others are the kind's. */
type OwnStatus = {
  readonly [Field in Exclude<
    keyof CommonStatus,
    'conditions' | 'observedGeneration' | 'lastHandledReconcileAt' | 'nextRotationAt' | 'internal'
  >]?: CommonStatus[Field] | undefined
}

/** Changes to `status.internal`; undefined removes a field. */
type InternalChange = { readonly [Field in keyof InternalStatus]?: InternalStatus[Field] | undefined }

/**
 * One CR during one reconcile: the newest copy of it, what its status is going to say, and the writes to it.
 * Status is gathered here and written by `write`, the only place that does.
 */
export class Reconciliation {
  readonly context: ManagedContext
  readonly descriptor: ManagedDescriptor
  readonly memory: Memory
  /** Monotonic time when the run began: what a list that begins later shows is live. */
  readonly begun: number
  /** By how much wall time was ahead of monotonic time then; what is worked out from wall time is so by this clock. Milliseconds. */
  readonly clockOffset: number
  readonly #type: ResourceType
  /** Generation of the spec this run acts on. A newer one is left to the next run. */
  readonly #generation: number
  readonly #request: string | undefined
  #cr: CustomResource
  #session: MemberSession | undefined
  #own: OwnStatus = {}
  #internal: InternalChange = {}
  #kind: Fields | undefined
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
    return this.descriptor.collectionOf(this.#cr.spec)
  }

  /** Options of a write to the account: that it is made for this CR, and why. */
  because(reason: WriteReason): WriteOptions {
    return { origin: originOf(this.#cr, reason) }
  }

  /** Status as it stands in Kubernetes plus what this run has found. */
  get status(): CommonStatus & Fields {
    return withoutAbsent({ ...statusOf(this.#cr), ...this.#own, ...this.#kind, internal: this.#bookkeeping() })
  }

  /** `status.internal` as it stands in Kubernetes plus what this run has found. */
  get internal(): InternalStatus {
    return this.#bookkeeping() ?? {}
  }

  /**
   * The answer of a create was stored on a copy that somebody else had changed meanwhile. That change is known from our own
   * reading, so no watch will tell of it: another run has to look at it.
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
  }

  /** Notes fields of `status.internal` for the next write; undefined removes one. */
  noteInternal(fields: InternalChange): void {
    this.#internal = { ...this.#internal, ...fields }
  }

  /** Notes all status fields of the kind for the next write: those not in `fields` go. */
  noteKind(fields: Fields): void {
    this.#kind = fields
  }

  /** Notes that `object` is the remote object of this CR. */
  noteObject(object: RemoteObject, create: NonNullable<InternalStatus['create']>): void {
    this.noteObserved(object)
    this.noteInternal({ create })
  }

  /** Notes that the CR looks at `object`, which is not its own. */
  noteObserved(object: RemoteObject): void {
    const { kind, name } = this.session.account
    this.note({ id: object.id, accountRef: { kind, name }, ...addressOf(object) })
  }

  /** Writes what was noted, with `state` in the words of conditions. Nothing changed → no write. */
  async write(state: ConditionState, conditions?: readonly ConditionText[]): Promise<void> {
    await this.#alone(() => this.#write(state, conditions))
  }

  /**
   * Says in the conditions that the CR waits, unless they say anything. May be called in the middle of the run: nothing of what it has found
   * is written, and the CR counts as one that nobody has looked at.
   */
  async tell(message: string): Promise<void> {
    await this.#alone(async () => {
      if (!isUntold(this.#cr)) return
      const state: ConditionState = { type: 'progressing', reason: reasons.Progressing, message, existing: false }
      const conditions = this.#stamped(state, undefined)
      await this.#patch({ status: { conditions } }, 'status')
    })
  }

  /** Patches `metadata` of the CR, provided that nobody changed the CR since it was read. */
  async patchMetadata(metadata: Fields): Promise<void> {
    await this.#alone(() => this.#patch({ metadata }))
  }

  /** The CR as the apiserver has it now. @throws ConflictError when it is not the same CR in the same state any more. */
  async confirmLive(): Promise<void> {
    await this.#alone(async () => {
      const live = await this.context.kube.get<CustomResource>(this.#type, nameOf(this.#cr))
      if (live?.metadata.resourceVersion !== this.#cr.metadata.resourceVersion) {
        if (live !== undefined) this.context.resources.record(live)
        throw new ConflictError(undefined)
      }
    })
  }

  /** One call after the other: each names the version that the one before has left. */
  async #alone(call: () => Promise<void>): Promise<void> {
    const ended = this.#call.then(call)
    // Whoever made the call hears of its failure.
    this.#call = ended.catch(() => undefined)
    await ended
  }

  async #write(state: ConditionState, conditions: readonly ConditionText[] | undefined): Promise<void> {
    for (let tries = 1; ; tries++) {
      const patch = mergePatch(statusOf(this.#cr), this.#next(state, conditions))
      if (patch === undefined) return
      try {
        await this.#patch({ status: patch }, 'status')
        if (this.memory.answer?.nonce === internalOf(this.#cr).create?.nonce) this.memory.answer = undefined
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
      ...(this.#kind === undefined ? before : common(before)),
      ...this.#kind,
      ...this.#own,
      internal: this.#bookkeeping(),
      ...this.#answer(state),
      // Looking away is no acting on a spec: an edit made meanwhile is yet to be carried out.
      observedGeneration: state.type === 'paused' ? before.observedGeneration : this.#generation,
      conditions: this.#stamped(state, conditions),
    }
  }

  /** Undefined when nothing is kept: the field itself is not there then. */
  #bookkeeping(): InternalStatus | undefined {
    const kept: InternalStatus = withoutAbsent({ ...internalOf(this.#cr), ...this.#internal })
    return Object.keys(kept).length === 0 ? undefined : kept
  }

  #stamped(state: ConditionState, conditions: readonly ConditionText[] | undefined): readonly Condition[] {
    const previous = statusOf(this.#cr).conditions ?? []
    const next = conditionsFor(state, previous, conditions)
    return stampConditions(next, previous, this.#generation, this.context.clock.now())
  }

  /** A request that comes while Culvert looks away is answered once it looks again. */
  #answer(state: ConditionState): Pick<CommonStatus, 'lastHandledReconcileAt'> {
    const answered = this.#request !== undefined && state.type !== 'paused'
    return answered ? { lastHandledReconcileAt: this.#request } : {}
  }

  async #patch(patch: Fields, subresource?: 'status'): Promise<void> {
    const { resourceVersion, uid } = this.#cr.metadata
    const options = { resourceVersion, uid, ...(subresource === undefined ? {} : { subresource }) }
    this.#cr = await this.context.resources.write(this.#cr, () => {
      return this.context.kube.mergePatch<CustomResource>(this.#type, nameOf(this.#cr), patch, options)
    })
  }

  /**
   * Somebody wrote the CR between the POST and the storing of its answer. The answer is stored on the newest copy,
   * unless the CR is gone or its create has moved on: then it is not this run's to store.
   */
  async #rereadForStoring(): Promise<void> {
    const live = await this.context.kube.get<CustomResource>(this.#type, nameOf(this.#cr))
    const before = internalOf(this.#cr).create?.nonce
    if (live?.metadata.uid !== this.#cr.metadata.uid || internalOf(live).create?.nonce !== before) {
      throw new ConflictError(undefined)
    }
    this.#cr = live
    this.#overtaken = true
    this.context.resources.record(live)
  }
}

const COMMON_FIELDS = [
  'id',
  'uri',
  'createdAt',
  'adopted',
  'accountRef',
  'lastHandledReconcileAt',
  'output',
  'rotatedAt',
  'lastHandledRotateAt',
] as const

function common(status: CommonStatus & Fields): Fields {
  return Object.fromEntries(COMMON_FIELDS.map((field) => [field, status[field]]))
}

function withoutAbsent(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Characters of an address that a status takes. */
const LONGEST_URI = 2048

/** What the CRD would refuse is left out: the id beside it could not be stored. */
function addressOf({ uri, created_at: createdAt }: RemoteObject): OwnStatus {
  return {
    ...(typeof uri === 'string' && uri.length <= LONGEST_URI ? { uri } : {}),
    ...(typeof createdAt === 'string' && isRFC3339(createdAt) ? { createdAt } : {}),
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof KubeError && error.code === 'Conflict'
}
