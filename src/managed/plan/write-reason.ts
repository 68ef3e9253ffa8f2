import { type WriteReason, writeReasons } from '../../telemetry/write-origin.ts'
import { generationOf, internalOf, statusOf } from '../cr.ts'
import { compareFingerprints } from '../run/fingerprints.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import type { Wanted } from './wanted.ts'

/** Whether the CR was in sync at its current generation: any difference now was made by another client. */
export function isSettled({ cr }: Reconciliation): boolean {
  const { observedGeneration, conditions } = statusOf(cr)
  const synced = conditions?.some(({ type, status }) => type === 'Synced' && status === 'True') ?? false
  return synced && observedGeneration === generationOf(cr)
}

/** Why an existing object is written to, unless a more specific reason is known. */
export function updateReason(run: Reconciliation, wanted: Wanted): WriteReason {
  if (run.unstored) return writeReasons.recovery
  if (dependenciesChanged(run, wanted)) return writeReasons.dependency
  return isSettled(run) ? writeReasons.drift : writeReasons.spec
}

/**
 * Whether inputs or references changed under the same spec. A new spec may name other inputs and references, so it is
 * the cause then.
 */
function dependenciesChanged(run: Reconciliation, { inputs, references }: Wanted): boolean {
  const { inputsFingerprint, references: applied = [] } = internalOf(run.cr)
  if (statusOf(run.cr).observedGeneration !== generationOf(run.cr)) return false
  const isChanged = compareFingerprints(inputsFingerprint, inputs.fingerprint) === 'different'
  return isChanged || JSON.stringify(references.applied) !== JSON.stringify(applied)
}

/** Why the object is replaced by its rotation: renewal for certificates, rotation for tokens. */
export function rotationReason({ descriptor }: Reconciliation): WriteReason {
  return descriptor.rotation?.type === 'renewal' ? writeReasons.renewal : writeReasons.rotation
}
