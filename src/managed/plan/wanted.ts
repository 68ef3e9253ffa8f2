import { type CustomResource, internalOf } from '../cr.ts'
import type { CommonSpec } from '../descriptor/common.ts'
import type { Desired } from '../descriptor/desired.ts'
import type { InternalStatus } from '../descriptor/internal.ts'
import type { OwnMetadata } from '../descriptor/metadata.ts'
import type { ResolvedInputs } from '../inputs/inputs.ts'
import { formatMarker } from '../markers/marker.ts'
import type { SentReference } from '../references/crossings.ts'
import type { ResolvedReferences } from '../references/resolve.ts'
import type { ManagedContext } from '../run/context.ts'
import type { Reconciliation } from '../run/reconciliation.ts'

/** The wanted state of a CR, with its references and inputs resolved. */
export interface Wanted {
  readonly desired: Desired<CommonSpec>
  readonly references: ResolvedReferences
  readonly inputs: ResolvedInputs
}

/** Notes what was sent with the last write: it is stored together with the result. */
export function recordSent(run: Reconciliation, { inputs, references }: Wanted): void {
  const { applied } = references
  run.recordInternal({
    inputsFingerprint: inputs.fingerprint,
    references: applied.length === 0 ? undefined : applied,
  })
}

/**
 * The part of `status.internal` that must be durable before a write that drops references: those that the object has
 * before and after it. Whether a write took place is unknown until its result is stored, and an edge that may have lost
 * an IP policy must not count as restricted by it. Empty if the write drops none.
 */
export function referencesKept({ cr }: Reconciliation, { references: { applied } }: Wanted): InternalStatus {
  const { references = [] } = internalOf(cr)
  const kept = references.filter((sent) => applied.some((next) => isSameTarget(sent, next)))
  return kept.length === references.length ? {} : { references: kept }
}

function isSameTarget(left: SentReference, right: SentReference): boolean {
  const isNamed = left.name !== undefined || right.name !== undefined
  const isSame = isNamed ? left.name === right.name && left.namespace === right.namespace : left.id === right.id
  return left.kind === right.kind && isSame
}

/** The marker of this CR's objects for `nonce`, as a metadata string, together with the user's own keys. */
export function markerText(context: ManagedContext, cr: CustomResource, nonce: string, metadata?: OwnMetadata): string {
  const { name, namespace = '', uid } = cr.metadata
  return formatMarker({ installation: context.installation, kind: cr.kind, namespace, name, uid, nonce }, metadata)
}
