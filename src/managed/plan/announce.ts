import { type WriteReason, writeReasons } from '../../telemetry/write-origin.ts'
import { generationOf, internalOf, statusOf } from '../cr.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import { reasons } from '../descriptor/reasons.ts'
import { TerminalError } from '../run/control-flow-errors.ts'
import { compareFingerprints } from '../run/fingerprints.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import type { Operation, ReplaceOperation } from './plan.ts'
import type { Wanted } from './wanted.ts'

/** Records the Event for a plan, which distinguishes corrected drift from an edit, and counts drift in the metric. */
export function announce(run: Reconciliation, operations: readonly Operation[]): void {
  const { context, cr, descriptor, unstored } = run
  if (unstored || internalOf(cr).create === undefined) return
  const about = describeAll(operations)
  if (!isSettled(run)) {
    context.events.record(cr, { type: 'Normal', reason: 'Updating', message: about })
    return
  }
  for (const operation of operations) {
    for (const field of driftFields(descriptor, operation)) context.metrics.drift(cr.kind, field)
  }
  context.events.record(cr, {
    type: 'Warning',
    reason: 'DriftCorrected',
    message: `changed outside Culvert, reverted: ${about}`,
  })
}

function driftFields({ children }: ManagedDescriptor, operation: Operation): readonly string[] {
  if ('fields' in operation) return operation.fields
  return children === undefined ? [] : [children.field]
}

/** How many writes a message names; the others are counted. */
const NAMED = 5

/** The writes of a plan, in words short enough for a message. */
export function describeAll(operations: readonly Operation[]): string {
  const named = operations.slice(0, NAMED).map(describe).join(', ')
  return operations.length > NAMED ? `${named} and ${operations.length - NAMED} more writes` : named
}

/** One write, in words. */
export function describe(operation: Operation): string {
  if (operation.type === 'replace') return `replace the object to change ${operation.fields.join(', ')}`
  if (!('target' in operation)) return `update ${operation.fields.join(', ')}`
  return operation.type === 'update'
    ? `update ${operation.about} (${operation.fields.join(', ')})`
    : `${operation.type} ${operation.about}`
}

/** Whether the CR was in sync at its current generation: any difference now was made by another client. */
function isSettled({ cr }: Reconciliation): boolean {
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

/** Without this check, an API that accepts a create and does not apply it would be sent another with each retry. */
export function createNotApplied({ fields }: ReplaceOperation): TerminalError {
  const about = fields.join(', ')
  return new TerminalError(reasons.Rejected, `the API accepted a create but did not apply ${about}`)
}

/**
 * Reported once for the same spec and the same state. The write is not repeated until one of them changes or a
 * reconcile is requested.
 */
export function writeNotApplied(operations: readonly Operation[]): TerminalError {
  const about = operations.map(describe).join(', ')
  return new TerminalError(reasons.Rejected, `the API accepted a write but did not apply it: ${about}`)
}
