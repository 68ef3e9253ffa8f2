import { KubeError } from '../../kube/kube-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { done, type Outcome } from '../../runtime/outcome.ts'
import { equalJSON } from '../../util/json.ts'
import { isDeleting, isPaused, type ResourceName } from '../cr.ts'
import type { Condition, Fields } from '../descriptor/common.ts'
import type { EventSink } from '../run/context.ts'
import { TerminalError, WaitError } from '../run/control-flow-errors.ts'
import { writeStatus } from '../run/merge-patch.ts'
import { kubeReason } from '../run/result.ts'
import type { ComposedKind, Composition, Failed, OwnedPart, Report, Result, Step } from './composition.ts'
import { OwnedObjects, type OwnedObjectsOptions, outdated } from './owned-objects.ts'
import { isSettled } from './wanted.ts'

/** Retry interval of lasting problems. Their fix requeues the owner; this is only the fallback. */
export const LASTING_MS = 600_000

export interface ComposedContext extends Omit<OwnedObjectsOptions, 'readOwner'> {
  readonly events: EventSink
}

/** The newest copy of the owner, and what it has so far. */
interface Run<Owner> {
  owner: Owner
  readonly parts: OwnedPart[]
}

/** Why a course did not get to its end. */
interface Failure {
  readonly error: unknown
  readonly said: Failed
}

/**
 * Keeps what owners of one kind consist of: applies, deletes, and reports once. Everything is owned by its owner, so
 * that the garbage collector deletes it (docs/decisions/0057-composed-objects.md).
 */
export class ComposedReconciler<Owner extends KubeObject, Plan extends Composition> {
  readonly #kind: ComposedKind<Owner, Plan>
  readonly #context: ComposedContext
  readonly #objects: OwnedObjects

  constructor(kind: ComposedKind<Owner, Plan>, context: ComposedContext) {
    this.#kind = kind
    this.#context = context
    const { kube } = context
    const readOwner = (owner: KubeObject) => kube.get(kind.typeOf(owner.kind), owner.metadata)
    this.#objects = new OwnedObjects({ ...context, readOwner })
  }

  /** The owner is gone. */
  forget(owner: KubeObject): void {
    this.#objects.forget(owner)
    this.#kind.forget?.(owner)
  }

  async reconcile(name: ResourceName): Promise<Outcome> {
    const owner = this.#kind.find(name)
    try {
      if (owner === undefined || !this.#isServed(owner)) return await this.#withdraw(name)
      return isDeleting(owner) || isPaused(owner) ? done : await this.#keep(owner)
    } catch (error) {
      return { type: 'backoff', error }
    }
  }

  #isServed(owner: Owner): boolean {
    return this.#kind.serving?.isServed(owner) ?? true
  }

  /** Of an owner that Culvert no longer serves, everything goes; that of a deleted one is the garbage collector's. */
  async #withdraw(name: ResourceName): Promise<Outcome> {
    const { serving } = this.#kind
    const left = serving?.partsOf(name).filter(({ stored }) => !isDeleting(stored)) ?? []
    if (serving === undefined || left.length === 0) return done
    const owner = await this.#context.kube.get<Owner>(this.#kind.typeOf(name.kind), name)
    // If it is served, the watch is behind, and will wake it again.
    if (owner === undefined || isDeleting(owner) || isPaused(owner) || this.#isServed(owner)) return done
    await this.#write(owner, serving.withdrawn(owner))
    await this.#remove(owner, left)
    return done
  }

  async #keep(owner: Owner): Promise<Outcome> {
    const run: Run<Owner> = { owner, parts: [] }
    const failures: Failure[] = []
    const attempt = async (act: () => Promise<void>): Promise<void> => {
      try {
        await act()
      } catch (error) {
        failures.push(failureOf(error))
      }
    }
    let plan: Plan | undefined
    await attempt(async () => {
      plan = await this.#kind.compose(owner)
    })
    for (const { steps, unfinished } of plan?.courses ?? []) {
      await attempt(async () => {
        for (const step of steps) await this.#act(run, step)
        if (unfinished !== undefined) throw unfinished
      })
    }
    const { parts } = run
    const haveMoved = failures.length === 0 && parts.every(({ role, stored }) => role !== 'entry' || isSettled(stored))
    await this.#remove(run.owner, plan?.surplus.filter(({ role }) => haveMoved || role !== 'place') ?? [])
    const said = failures.map((failure) => failure.said)
    const failed = said.find(({ type }) => type === 'stalled') ?? plan?.problem ?? said[0]
    const result: Result = failed ?? { type: 'kept', parts }
    const report = await this.#kind.report(run.owner, result, plan)
    await this.#report(run.owner, result, report)
    return outcomeOf(failures, report)
  }

  async #act(run: Run<Owner>, step: Step): Promise<void> {
    const { owner } = run
    const objects = this.#objects
    switch (step.do) {
      case 'record':
        for (const event of step.events ?? []) this.#context.events.record(owner, event)
        run.owner = await this.#write(owner, { ...(owner.status as Fields | undefined), ...step.status })
        return
      case 'check':
        return await objects.check(owner, step.wanted).catch(step.explain)
      case 'make':
        await objects.make(owner, await step.wanted())
        return
      case 'keep': {
        const { type, role } = step.wanted
        run.parts.push({ type, role, stored: await objects.keep(owner, step.wanted, step.written) })
        return
      }
      case 'takeBack':
        return await objects.takeBack(owner, step.type, step.left)
      case 'remove':
        return await objects.remove(owner, step)
    }
  }

  async #remove(owner: Owner, parts: readonly OwnedPart[]): Promise<void> {
    for (const { type, stored } of parts) {
      if (!isDeleting(stored)) await this.#objects.remove(owner, { type, name: stored.metadata.name })
    }
  }

  /** Writes the status, and by an Event what needs a person, once. */
  async #report(owner: Owner, result: Result, { status, notes = [], events = [] }: Report): Promise<void> {
    for (const { part, annotations } of notes) {
      const { metadata } = part.stored
      await this.#context.kube.mergePatch(part.type, metadata, { metadata: { annotations } }, { uid: metadata.uid })
    }
    const written = await this.#write(owner, status)
    const isNews = !equalJSON(saidIn(owner), saidIn(written))
    if (result.type === 'stalled' && isNews) {
      const { reason, message } = result
      this.#context.events.record(owner, { type: 'Warning', reason, message })
    }
    for (const event of events) this.#context.events.record(owner, event)
  }

  async #write(owner: Owner, status: Fields): Promise<Owner> {
    const { kube } = this.#context
    const written = await writeStatus(kube, this.#kind.typeOf(owner.kind), owner, status).catch(outdated)
    if (written !== undefined) this.#kind.record(written)
    return written ?? owner
  }
}

/** What the conditions of an owner say. */
function saidIn({ status }: KubeObject) {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Condition[] }
  return conditions.map(({ type, reason, message }) => ({ type, reason, message }))
}

/**
 * What the API server refuses, such as an Edge that a policy of the administrator forbids, needs a person.
 *
 * @throws the error itself if it is not worth a write: nothing is said of the owner then
 */
function failureOf(error: unknown): Failure {
  if (error instanceof WaitError || error instanceof TerminalError) {
    const { code: reason, message } = error
    return { error, said: { type: error instanceof WaitError ? 'waiting' : 'stalled', reason, message } }
  }
  if (!(error instanceof KubeError) || error.code === 'NotLeader' || error.code === 'Aborted') throw error
  const isRefused = error.isRefusedWrite || error.code === 'Invalid' || error.code === 'Forbidden'
  const { message } = error
  return { error, said: { type: isRefused ? 'stalled' : 'waiting', reason: kubeReason(error), message } }
}

/** What is waited for wakes the owner; the times are only fallbacks. */
function outcomeOf(failures: readonly Failure[], { dueMs }: Report): Outcome {
  const errors = failures.map(({ error }) => error)
  const unexpected = errors.find((error) => error instanceof KubeError)
  if (unexpected !== undefined) return { type: 'backoff', error: unexpected }
  const [first] = failures
  if (first === undefined) {
    return dueMs === undefined ? done : { type: 'after', ms: dueMs, reason: 'the next step', priority: 'poll' }
  }
  const ms = Math.min(...errors.map((error) => (error instanceof WaitError ? error.retryMs : LASTING_MS)))
  return { type: 'after', ms, reason: first.said.reason, priority: 'drift' }
}
