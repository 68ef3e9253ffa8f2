import type { RemoteObject } from '../../api/types.ts'
import type { ConditionDoc } from '../../schema/definition.ts'
import type { CommonStatus, Fields } from './common.ts'
import type { InternalStatus } from './internal.ts'
import type { Reason } from './reasons.ts'

/** What a kind reports about its object. */
export interface Reported<Spec> {
  /**
   * Status fields of the kind, from what the API returned; `kept` names the modules that Culvert owns. The spec tells
   * of which type the object is, where the kind has types and the object may not show it.
   */
  shown(remote: RemoteObject, kept: InternalStatus, spec?: Spec): Fields
  readiness(view: ReadinessView<Spec>): Readiness
  /**
   * Why nothing that the API returned for the object may be used, in words that quote little of it; undefined if it
   * may. Then nothing is written, at the API or in the cluster. Absent: it always may.
   */
  answerProblem?(spec: Spec, remote: RemoteObject): string | undefined
  /** For kinds with certificates. */
  readonly certificate?: CertificateTimes
}

/** The end of the certificates of a kind. */
export interface CertificateTimes {
  /** When the certificate of the object will be renewed, from its status. */
  renewsAt(status: Fields): string | undefined
  /** Until when the certificate is valid, from its status. Absent: the service does not say. */
  expiresAt?(status: Fields): string | undefined
}

/** A condition's content, which another version of Culvert may have written. */
export interface ConditionText {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

/** On both sides of a reference between namespaces: a condition of every managed kind (`references/grant-conditions.ts`). */
export const REFERENCES_GRANTED: ConditionDoc = {
  type: 'ReferencesGranted',
  description:
    'False after the grant of a cross-namespace reference in use was withdrawn; absent otherwise. The reference is kept until the spec that contains it changes.',
}

/** On what a Service consists of, for those who read only that (`services/followed.ts`). */
export const SERVICE_FOLLOWED: ConditionDoc = {
  type: 'ServiceFollowed',
  description:
    'False while the configuration of the Service that owns the Edge cannot be applied, for example because of an invalid annotation; the message says what to fix. Absent otherwise.',
}

/** A condition of the kind, in addition to the common ones. */
export interface KindCondition extends ConditionText {
  readonly reason: Reason
}

/** Whether the remote object, which equals the spec, is Ready. */
export interface Readiness {
  readonly ready: boolean
  readonly reason: Reason
  readonly message: string
  /** Lasts until a person acts: shown as Stalled. */
  readonly stalled?: boolean
  /** Of types that `KindDefinition.conditions` declares, each as a `ConditionDoc` (src/schema/definition.ts). */
  readonly conditions?: readonly KindCondition[]
  /** Parts of the object that no permitted resource declares: in a shared account, the CR is then not Synced. */
  readonly undeclared?: string
  /** Read the remote object again after this many milliseconds. Absent: the account's resync notices changes. */
  readonly pollMs?: number
}

export interface ReadinessView<Spec> {
  readonly spec: Spec
  readonly remote: RemoteObject
  /** How many children of the object no CR manages; absent for a kind without parts. */
  readonly unclaimed?: number | undefined
  /** Wall time in milliseconds. */
  readonly now: number
  /** The status as noted by the run, with the previous conditions; absent: nothing is known. */
  readonly status?: CommonStatus & Fields
  /** The resource that holds another object of the account, as last written. Absent: none is known. */
  readonly holderOf?: (id: string) => Holder | undefined
}

/** A resource to which the one that reports refers. When its status changes, the latter reports again. */
export interface Holder {
  readonly spec: unknown
  readonly status: CommonStatus & Fields
}

/** Longest wait that a timer allows. */
const LONGEST_WAIT_MS = 20 * 24 * 60 * 60 * 1000

/** `pollMs` for something that happens in `ms`: then, or the longest wait that a timer allows if that is sooner. */
export function pollIn(ms: number): number {
  return Math.min(ms, LONGEST_WAIT_MS)
}
