import { ApiError } from '../../api/errors.ts'
import type { Reconciliation } from '../reconcile/reconciliation.ts'

/**
 * The error for a write that was answered with 404 although what it is about exists. A replica that lags behind may
 * have answered, so that trying again helps; if it lasts, it is a refusal: the body names an id that does not exist
 * (`management-api.md § Errors` shows no status codes).
 *
 * @param about the request: another one restarts the count
 */
export function lastingAbsence({ context, memory }: Reconciliation, about: string, error: ApiError): ApiError {
  const now = context.clock.monotonic()
  if (memory.plan.absence?.about !== about) memory.plan.absence = { about, since: now }
  if (now - memory.plan.absence.since < context.times.readLagMs) return error
  const { definite, errorCode, operationId, status } = error
  return new ApiError('Invalid', error.message, { definite, errorCode, operationId, status, cause: error })
}
