import { expect, onTestFinished, test } from 'vitest'
import { collections } from '../../../src/api/collections.ts'
import type { RateBudget } from '../../../src/api/rate-budget.ts'
import type { LiveSession, SessionConfig } from '../../../src/managed/accounts/session.ts'
import { Fingerprints } from '../../../src/managed/run/fingerprints.ts'
import { type SessionFactoryOptions, sessionFactory } from '../../../src/operator/sessions.ts'
import { systemClock } from '../../../src/util/clock.ts'
import { systemRandom } from '../../../src/util/random.ts'
import { startServer } from '../../builders/http-server.ts'

/** An API that refuses the first request for a minute, and a session for each account name and key. */
async function open() {
  const keys: (string | undefined)[] = []
  const server = await startServer(({ headers }, response) => {
    keys.push(headers.authorization)
    if (keys.length === 1) response.writeHead(429, { 'retry-after': '60' }).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end('{"ip_policies":[],"next_page_uri":null}')
  })
  onTestFinished(() => server.close())
  const make = sessionFactory({
    fingerprints: new Fingerprints(Buffer.alloc(32, 1)),
    metrics: { rateLimitWait: () => undefined, apiRequest: () => undefined },
    audit: { record: () => undefined },
    clock: systemClock,
    random: systemRandom,
    proxies: {},
    requestTimeoutMs: 5_000,
    budgets: new Map<string, RateBudget>(),
    keysOf: () => () => [],
    beforeWrite: () => undefined,
    onLostKey: () => undefined,
    recheck: () => undefined,
  } as unknown as SessionFactoryOptions)
  const session = (name: string, apiKey: string, limits: Partial<SessionConfig> = {}): LiveSession => {
    const made = make(
      { kind: 'Account', namespace: 'shop', name },
      {
        baseURL: server.url,
        apiKey,
        versionHeader: 'Service-Version',
        caBundle: undefined,
        requestsPerMinute: undefined,
        burst: undefined,
        ...limits,
      },
    )
    onTestFinished(() => made.close())
    return made
  }
  return { keys, session }
}

const list = (session: LiveSession): Promise<unknown> => session.cache.refresh(collections.ipPolicies)

test('a 429 with Retry-After to one account holds another with the same address and key, until its key changes', async () => {
  const { keys, session } = await open()
  const [one, two] = [session('one', 'k1'), session('two', 'k1')]
  await expect(list(one)).rejects.toMatchObject({ code: 'RateLimited' })
  await expect(list(two)).rejects.toMatchObject({ code: 'RateLimited' })
  await expect(list(session('two', 'k1', { burst: 5 }))).rejects.toMatchObject({ code: 'RateLimited' })
  expect(keys).toEqual(['Bearer k1'])
  await list(session('two', 'k2'))
  expect(keys).toEqual(['Bearer k1', 'Bearer k2'])
})
