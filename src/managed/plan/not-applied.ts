import { reasons } from '../descriptor/reasons.ts'
import { TerminalError } from '../run/control-flow-errors.ts'
import { describe } from './announce.ts'
import type { Operation, ReplaceOperation } from './plan.ts'

/** Without this check, an API that accepts a create and does not apply it would be sent another with each retry. */
export function createNotApplied({ fields }: ReplaceOperation): TerminalError {
  const about = fields.join(', ')
  return new TerminalError(reasons.Rejected, `the API accepted a create but did not apply it: ${about} still differs`)
}

/**
 * Reported once for the same spec and the same state. The write is not repeated until one of them changes or a
 * reconcile is requested.
 */
export function writeNotApplied(operations: readonly Operation[]): TerminalError {
  const about = operations.map(describe).join(', ')
  return new TerminalError(reasons.Rejected, `the API accepted a write but did not apply it: ${about}`)
}
