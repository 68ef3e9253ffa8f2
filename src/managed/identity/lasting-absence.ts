import { ApiError } from '../../api/errors.ts'
import type { Reconciliation } from '../run/reconciliation.ts'
import { UnansweredMemory } from './unanswered-memory.ts'

/**
 * The error for a write that was answered with 404 although what it is about exists. A replica that lags behind may
 * have answered, so that trying again helps; if it lasts, it is a refusal: the body names an id that does not exist
 * (`management-api.md § Errors` shows no status codes).
 *
 * @param about the request: another one counts anew
 */
export function lastingAbsence({ context, memory }: Reconciliation, about: string, error: ApiError): ApiError {
  const now = context.clock.monotonic()
  const before = memory.of(UnansweredMemory).absence
  const { since } = before?.about === about ? before : { since: now }
  memory.of(UnansweredMemory).absence = { about, since }
  if (now - since < context.times.readLagMs) return error
  const { definite, errorCode, operationId, status } = error
  return new ApiError('Invalid', error.message, { definite, errorCode, operationId, status, cause: error })
}
