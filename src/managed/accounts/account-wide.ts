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
