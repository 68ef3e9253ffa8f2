import { internalOf } from '../cr.ts'
import type { ManagedDescriptor } from '../descriptor/descriptor.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import type { Operation } from './plan.ts'
import { isSettled } from './write-reason.ts'

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
    message: `changed at the API, put back: ${about}`,
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
  if (operation.type === 'replace') return `replace the object for ${operation.fields.join(', ')}`
  if (!('target' in operation)) return `update ${operation.fields.join(', ')}`
  return operation.type === 'update'
    ? `update ${operation.about} (${operation.fields.join(', ')})`
    : `${operation.type} ${operation.about}`
}
