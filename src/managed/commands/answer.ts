import { ApiError } from '../../api/errors.ts'
import type { Result } from './progress.ts'

/** What an answer without success says of an action. @throws what is no failed call. */
export function resultOf(error: unknown): Result {
  if (!(error instanceof ApiError)) throw error
  if (!error.definite) return { state: 'Unknown', message: error.message }
  switch (error.code) {
    case 'NotFound':
      return { state: 'Gone', message: error.message }
    // Surely nothing reached the agent, and later the same request may be well: never sent, or turned away at the door.
    case 'Network':
    case 'Timeout':
    case 'NotLeader':
    case 'Suspended':
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
      // Codes are not documented: they are passed on, and nothing is decided by them.
      return { state: 'Refused', code: error.errorCode, message: error.message }
  }
}
