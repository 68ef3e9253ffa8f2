import { ApiError } from './errors.ts'

/** The error for an answer that does not match the contract. The request may have been carried out. */
export function invalid(call: string, what: string): ApiError {
  return new ApiError('InvalidResponse', `${call}: ${what}`, { definite: false })
}
