import { ApiError } from './errors.ts'

/** The error for an answer that is not what the contract describes. Whatever was asked for may have been done. */
export function invalid(call: string, what: string): ApiError {
  return new ApiError('InvalidResponse', `${call}: ${what}`, { definite: false })
}
