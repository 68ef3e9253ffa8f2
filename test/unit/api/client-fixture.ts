import { afterEach } from 'vitest'
import { type ApiClientOptions, type ClosableApiClient, createApiClient } from '../../../src/api/client.ts'
import { ApiError } from '../../../src/api/errors.ts'
import { RateBudget } from '../../../src/api/rate-budget.ts'
import { systemClock } from '../../../src/util/clock.ts'
import type { Random } from '../../../src/util/random.ts'
import { type Handler, startServer, type TestServer } from '../../builders/http-server.ts'

export const KEY = 'key-of-the-account'

/** The shortest waits that jitter allows, always the same. */
const lowRandom: Random = { next: () => 0, hex: (bytes) => '00'.repeat(bytes) }

const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource.close()
})

export async function serve(handler: Handler): Promise<TestServer> {
  const server = await startServer(handler)
  open.push(server)
  return server
}

export function clientFor(baseURL: string, overrides: Partial<ApiClientOptions> = {}): ClosableApiClient {
  const clock = systemClock
  const client = createApiClient({
    baseURL,
    apiKey: () => KEY,
    budget: new RateBudget({ clock, random: lowRandom }),
    clock,
    random: lowRandom,
    userAgent: 'culvert/test',
    ...overrides,
  })
  open.push(client)
  return client
}

/** The ApiError that `call` fails with. */
export async function failure(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof ApiError) return error
  throw new Error('expected an ApiError', { cause: error })
}
