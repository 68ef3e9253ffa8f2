import { ApiError } from '../api/errors.ts'
import type { ApiClient } from '../api/types.ts'
import { type Clock, sleep } from '../util/clock.ts'

type Reader = Pick<ApiClient, 'list'>

/** Pause where the API does not say how long it wants, in milliseconds. */
const PAUSE_MS = 10_000
/** An API that refuses so often in a row is not read at all. */
const MOST_PAUSES = 20

/**
 * A reader that waits as long as an API asks for after too many requests, and says so: no one else tries again for a
 * person who runs a command.
 */
export function patientReader(reader: Reader, clock: Clock, tell: (text: string) => void): Reader {
  return {
    list: async (collection, options) => {
      for (let pauses = 0; ; pauses += 1) {
        try {
          return await reader.list(collection, options)
        } catch (error) {
          if (!(error instanceof ApiError) || error.code !== 'RateLimited' || pauses === MOST_PAUSES) throw error
          const ms = error.retryAfterMs ?? PAUSE_MS
          tell(`the API requests a pause: reading ${collection.path} again in ${Math.ceil(ms / 1000)} s`)
          await sleep(clock, ms)
        }
      }
    },
  }
}
