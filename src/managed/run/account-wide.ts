import { ApiError, type ApiErrorCode } from '../../api/errors.ts'

const TROUBLE: ReadonlySet<ApiErrorCode> = new Set([
  'Unauthorized',
  'Forbidden',
  'Network',
  'Timeout',
  'ServerError',
  'InvalidResponse',
])

/** Whether a call failed in a way that may affect the whole account, so that the account should be checked. */
export function isAccountWide(error: unknown): error is ApiError {
  return error instanceof ApiError && TROUBLE.has(error.code)
}

/** Failures of the process, the key or a whole collection, which are reported in the same way wherever they occur. */
const ELSEWHERE: ReadonlySet<ApiErrorCode> = new Set([
  'NotLeader',
  'Aborted',
  'Suspended',
  'Unauthorized',
  'Unlistable',
])

/** Whether a call failed for a specific reason, which the caller may report in its own words. */
export function isOfThisCall(error: unknown): error is ApiError {
  return error instanceof ApiError && !ELSEWHERE.has(error.code)
}
