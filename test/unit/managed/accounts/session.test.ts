import { expect, test } from 'vitest'
import { collections } from '../../../../src/api/collections.ts'
import { ApiError } from '../../../../src/api/errors.ts'
import { UnlistableError } from '../../../../src/api/list-refusals.ts'
import { LiveSession } from '../../../../src/managed/accounts/session.ts'
import { Fingerprints } from '../../../../src/managed/run/fingerprints.ts'
import { FakeClock } from '../../../builders/fake-clock.ts'
import { ModelApi } from '../../../builders/model-api.ts'

function openSession(held: readonly string[] = [], policies = 0) {
  const clock = new FakeClock()
  const client = Object.assign(new ModelApi(clock), { close: async () => undefined, command: async () => undefined })
  const looks: string[] = []
  const session = new LiveSession({
    key: { kind: 'Account', namespace: 'shop', name: 'default' },
    config: {
      baseURL: 'https://api.example.com',
      apiKey: 'key',
      versionHeader: 'Service-Version',
      caBundle: undefined,
      requestsPerMinute: undefined,
      burst: undefined,
    },
    client,
    clock,
    fingerprints: new Fingerprints(Buffer.alloc(32, 1)),
    keysOf: () => () => [],
    knownObjects: (counts) =>
      (counts(collections.tunnelGroupBackends) ? held.length : 0) + (counts(collections.ipPolicies) ? policies : 0),
    isHeld: (id) => held.includes(id),
    recheck: () => looks.push('look'),
  })
  const list = async (): Promise<void> => {
    const listed = session.cache.refresh(collections.tunnelGroupBackends)
    await clock.advance(10)
    await listed
  }
  return { session, looks, list, client, clock }
}

const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `bkdtg_${String(index + 1).padStart(6, '0')}`)

test('an account that was not judged yet may not be used', () => {
  const { session } = openSession()
  expect(session.starting).toBe(true)
  expect(session.blocked()?.silent).toBe(true)
  expect(session.unblock(session.blocked())).toBe(true)
  expect(session.blocked()).toBeUndefined()
})

test('a block that came after the judgement is not lifted by it', () => {
  const { session } = openSession()
  session.unblock(session.blocked())
  const judged = session.blocked()
  session.reportFailure(new ApiError('Unauthorized', 'GET ip_policies: 401', { definite: true, status: 401 }))
  expect(session.unblock(judged)).toBe(false)
  expect(session.blocked()?.reason).toBe('AccountNotReady')
})

test('one object too many that vanishes stops all use in the same instant', async () => {
  const held = ids(7)
  const { session, client, list, looks } = openSession(held)
  for (const id of held) client.put(id)
  await list()
  session.unblock(session.blocked())
  for (const id of held.slice(0, 5)) client.store.delete(id)
  await list()
  expect(session.blocked()).toBeUndefined()
  client.store.delete(held[5] ?? '')
  looks.length = 0
  await list()
  expect(session.blocked()?.reason).toBe('IdentityUnproven')
  expect(looks).not.toEqual([])
})

test('objects in a closed collection do not raise how many may vanish elsewhere', async () => {
  const held = ids(7)
  const { session, list, client, clock } = openSession(held, 93)
  for (const id of held) client.put(id)
  await list()
  session.unblock(session.blocked())
  const refusal = new ApiError('Forbidden', 'GET ip_policies: no', { definite: true, status: 403 })
  const { list: others } = client
  client.list = (collection) =>
    collection === collections.ipPolicies ? Promise.reject(refusal) : others.call(client, collection)
  const closing = session.cache.refresh(collections.ipPolicies).catch(() => undefined)
  await clock.advance(10)
  await closing
  for (const id of held.slice(0, 6)) client.store.delete(id)
  await list()
  expect(session.blocked()?.message).toContain('6 of 7 known objects')
})

test('a resource that waits for a collection asks for a check until the account has found it closed', () => {
  const { session, looks } = openSession()
  const web = { kind: 'Backend', namespace: 'shop', name: 'web' }
  expect(session.awaitList('edges/tcp', web)).toBe(false)
  expect(looks).toHaveLength(1)
  const refusal = new ApiError('Forbidden', 'GET edges/tcp: no', { definite: true, status: 403 })
  session.closed.note([new UnlistableError(collections.tcpEdges, refusal)], () => 1_000)
  expect(session.awaitList('edges/tcp', web)).toBe(true)
  expect(looks).toHaveLength(1)
  // The list has been complete since, as the cache says, and the account has not been checked.
  expect(session.hasOpened).toBe(true)
})

test('objects that nobody holds may vanish in any number', async () => {
  const { session, client, list } = openSession([])
  for (const id of ids(20)) client.put(id)
  await list()
  session.unblock(session.blocked())
  for (const id of ids(20)) client.store.delete(id)
  await list()
  expect(session.blocked()).toBeUndefined()
})

test('changes are handed out once', async () => {
  const { session, client, list } = openSession()
  client.put('bkdtg_1')
  await list()
  expect(session.takeChanges().map(({ type }) => type)).toEqual(['appeared'])
  expect(session.takeChanges()).toEqual([])
})
