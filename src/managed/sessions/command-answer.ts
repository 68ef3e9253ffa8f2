import { ApiError } from '../../api/errors.ts'
import type { Result } from './command-progress.ts'

/** The result of an action whose request failed. @throws any error that is not a failed call. */
export function resultOf(error: unknown): Result {
  if (!(error instanceof ApiError)) throw error
  if (!error.definite) return { state: 'Unknown', message: error.message }
  switch (error.code) {
    case 'NotFound':
      return { state: 'Gone', message: error.message }
    // The request certainly did not reach the agent, and may succeed later: it was never sent, or rejected at the API's
    // entrance.
    case 'Network':
    case 'Timeout':
    case 'NotLeader':
    case 'Suspended':
    case 'Unlistable':
    case 'Aborted':
    case 'RateLimited':
    case 'Unauthorized':
      return { state: 'Pending' }
    case 'Forbidden':
    case 'Conflict':
    case 'Invalid':
    case 'ServerError':
    case 'InvalidResponse':
    case 'Redirect':
    case 'HostNotAllowed':
      // Error codes are not documented: they are passed on, and nothing depends on them.
      return { state: 'Refused', code: error.errorCode, message: error.message }
  }
}
