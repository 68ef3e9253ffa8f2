import type { KeptObjects } from '../../api/types.ts'
import { KubeError } from '../../kube/kube-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { ObjectSource } from '../../runtime/object-source.ts'
import { done, type Outcome } from '../../runtime/outcome.ts'
import type { Clock } from '../../util/clock.ts'
import { jitter, type Random } from '../../util/random.ts'
import { durationMs } from '../../util/time.ts'
import { type AccountKey, type AccountResource, accountText, keyOfAccount } from '../account-resource.ts'
import { isPaused, type ResourceName } from '../cr.ts'
import { type MirrorDescriptor, type MirrorSettings, mirrorDefaults } from '../descriptor/mirror.ts'
import type { KindCondition } from '../descriptor/readiness.ts'
import { type KindsRegistry, resourceTypeOf } from '../kinds-registry.ts'
import { isAccountWide } from '../run/account-wide.ts'
import type { EventSink } from '../run/context.ts'
import { kubeReason } from '../run/result.ts'
import type { AccountSession } from '../run/session.ts'
import { planMirror, removalOf } from './mirror-plan.ts'
import { crowdedOut, tooMany } from './mirror-report.ts'
import { hasPlace, isOn, mirrorNamespace, settingsOf } from './mirror-settings.ts'
import type { MirrorWriter } from './mirror-writer.ts'
import { type MirroredObject, mirrorName } from './mirrored.ts'

/** Checking whether an account may be used yet costs nothing. */
const NOT_READY_MS = 1000

/** The mirrors' view of the watches. */
export interface MirrorResources {
  account(key: AccountKey): AccountResource | undefined
  mirrored(name: ResourceName): MirroredObject | undefined
  mirroredOf(kind: string, account: AccountResource): readonly MirroredObject[]
  mirrorHolder(object: KubeObject): AccountResource | undefined
  /** Accounts that are mirrored into a namespace. */
  mirroredInto(kind: string, namespace: string): readonly AccountResource[]
}

export interface MirrorContext {
  readonly kinds: KindsRegistry
  readonly resources: MirrorResources
  /** The session of an account; undefined if it has none. */
  readonly session: (key: AccountKey) => AccountSession | undefined
  readonly writer: MirrorWriter
  readonly events: EventSink
  /** Reports the conditions of an account about objects that are not shown. */
  readonly report: (key: AccountKey, account: AccountResource | undefined, conditions: readonly KindCondition[]) => void
  readonly metrics: MirrorMetrics
  readonly clock: Clock
  readonly random: Random
}

export interface MirrorMetrics {
  /**
   * Sets how many objects an account lists beyond those that are shown; undefined: none are mirrored. `account` is
   * `Kind/namespace/name`.
   */
  leftOut(account: string, count: number | undefined): void
}

/** One account's objects of one collection: the name of the account with the kind that mirrors them. */
export interface MirrorKey {
  readonly kind: string
  /** Of an Account; undefined for a ClusterAccount. */
  readonly namespace?: string | undefined
  readonly name: string
}

/** The mirrors to reconcile for an account. */
export function mirrorKeys(kinds: KindsRegistry, account: AccountKey): readonly MirrorKey[] {
  const { namespace, name } = account
  return kinds.mirrors.map(({ definition: { kind } }) => ({ kind, namespace, name }))
}

/**
 * Keeps the CRs that mirror a collection in sync with it: one list per interval, and only the writes that differences
 * require.
 */
export class MirrorReconciler {
  readonly #context: MirrorContext
  /** The monotonic time when each mirror is due, and the settings from which it was computed. */
  readonly #next = new Map<string, { readonly at: number; readonly settings: string }>()

  constructor(context: MirrorContext) {
    this.#context = context
  }

  /** Whether the account's objects are shown from a list that this process made, or are not mirrored at all. */
  isSettled(kind: string, account: AccountResource): boolean {
    const descriptor = this.#context.kinds.mirrors.find(({ definition }) => definition.kind === kind)
    const enabled = descriptor !== undefined && isOn(settingsOf(descriptor, account))
    return !enabled || this.#next.has(`${kind} ${accountText(keyOfAccount(account))}`)
  }

  /** Another operator mirrors the account's objects from now on. */
  leave(account: AccountKey): void {
    for (const { kind } of mirrorKeys(this.#context.kinds, account))
      this.#next.delete(`${kind} ${accountText(account)}`)
    this.#tell(account, undefined, [])
  }

  /** `signal` stops it between two writes: the next list finds what is left. */
  async reconcile(key: MirrorKey, signal: AbortSignal): Promise<Outcome> {
    const descriptor = this.#context.kinds.mirrors.find(({ definition }) => definition.kind === key.kind)
    const account = this.#context.resources.account(mirrorAccount(key))
    const memory = `${key.kind} ${accountText(mirrorAccount(key))}`
    if (descriptor === undefined || account === undefined) {
      // The garbage collector deletes what the account owned.
      this.#next.delete(memory)
      this.#tell(mirrorAccount(key), undefined, [])
      return done
    }
    if (isPaused(account)) return done
    const settings = settingsOf(descriptor, account)
    try {
      if (isOn(settings)) return await this.#show(descriptor, account, settings, memory, signal)
      this.#next.delete(memory)
      this.#tell(keyOfAccount(account), account, [])
      await this.#hide(descriptor, account, signal)
      return done
    } catch (error) {
      if (error instanceof KubeError) this.#complain(account, error)
      return { type: 'backoff', error }
    }
  }

  async #show(
    descriptor: MirrorDescriptor,
    account: AccountResource,
    settings: MirrorSettings,
    memory: string,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { clock, random, resources, writer } = this.#context
    const text = JSON.stringify(settings)
    const began = clock.monotonic()
    const next = this.#next.get(memory)
    if (next !== undefined && next.settings === text && next.at > began) return later(next.at - began)
    const { kind } = descriptor.definition
    const namespace = mirrorNamespace(settings, account)
    const intervalMs = durationMs(settings.interval ?? mirrorDefaults.interval)
    const plannedNext = (): Outcome => {
      const at = began + jitter(random, intervalMs, 0.1)
      this.#next.set(memory, { at, settings: text })
      return later(Math.max(1, at - clock.monotonic()))
    }
    if (!hasPlace(account, resources.mirroredInto(kind, namespace))) {
      this.#tell(keyOfAccount(account), account, [crowdedOut(namespace)])
      await this.#hide(descriptor, account, signal)
      return plannedNext()
    }
    const session = this.#context.session(keyOfAccount(account))
    if (session === undefined || session.blocked() !== undefined) {
      return { type: 'after', ms: NOT_READY_MS, reason: 'the account is not Ready', priority: 'drift' }
    }
    const limit = settings.maxSessions ?? mirrorDefaults.maxSessions
    const mirrored = resources.mirroredOf(kind, account)
    const shown = new Set(mirrored.map(({ metadata }) => metadata.name))
    const prefers = (id: string): boolean => shown.has(mirrorName(descriptor.namePrefix, id))
    const { objects: listed, leftOut } = await list(session, descriptor, { limit, prefers })
    this.#tell(keyOfAccount(account), account, leftOut === 0 ? [] : [tooMany(limit)], leftOut)
    const plan = planMirror({
      descriptor,
      account,
      namespace,
      listed,
      mirrored: resources.mirroredOf(kind, account),
      isTaken: (name) => {
        const object = resources.mirrored({ kind, namespace, name })
        const holder = object === undefined ? undefined : resources.mirrorHolder(object)
        return holder !== undefined && holder.metadata.uid !== account.metadata.uid
      },
    })
    await writer.write(resourceTypeOf(descriptor), plan, signal)
    return plannedNext()
  }

  #tell(
    key: AccountKey,
    account: AccountResource | undefined,
    conditions: readonly KindCondition[],
    leftOut?: number,
  ): void {
    this.#context.report(key, account, conditions)
    this.#context.metrics.leftOut(accountText(key), leftOut)
  }

  async #hide(descriptor: MirrorDescriptor, account: AccountResource, signal: AbortSignal): Promise<void> {
    const mirrored = this.#context.resources.mirroredOf(descriptor.definition.kind, account)
    if (mirrored.length > 0) {
      await this.#context.writer.write(resourceTypeOf(descriptor), removalOf(mirrored), signal)
    }
  }

  /** Reported as an Event only: the account stays Ready without its mirror. */
  #complain(account: AccountResource, error: KubeError): void {
    if (error.code === 'NotLeader' || error.code === 'Aborted') return
    this.#context.events.record(account, {
      type: 'Warning',
      reason: kubeReason(error),
      message: `spec.mirrorSessions: the sessions of the account cannot be shown: ${error.message}`,
    })
  }
}

async function list(session: AccountSession, { collection }: MirrorDescriptor, keep: KeptObjects) {
  try {
    return await session.calls.list(collection, { priority: 'drift', keep })
  } catch (error) {
    if (isAccountWide(error)) session.reportFailure(error)
    throw error
  }
}

/** The account whose objects a mirror shows. */
export function mirrorAccount({ namespace, name }: MirrorKey): AccountKey {
  return namespace === undefined ? { kind: 'ClusterAccount', name } : { kind: 'Account', namespace, name }
}

function later(ms: number): Outcome {
  return { type: 'after', ms, reason: 'interval', priority: 'drift' }
}

/**
 * Wakes the mirrors of an account when anything about it changes. That is cheap, since a list is only made when due.
 * Edits of the mirrors wake nothing; the next list corrects them.
 */
export function subscribeMirrors(
  kinds: KindsRegistry,
  accounts: ReadonlyMap<string, ObjectSource<AccountResource>>,
  wake: (key: MirrorKey) => void,
): void {
  for (const reflector of accounts.values()) {
    reflector.subscribe(({ object }) => {
      for (const key of mirrorKeys(kinds, keyOfAccount(object))) wake(key)
    })
  }
}
