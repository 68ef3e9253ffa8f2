import { expect, test } from 'vitest'
import { collections } from '../../../../src/api/collections.ts'
import { ApiError } from '../../../../src/api/errors.ts'
import { UnlistableError } from '../../../../src/api/list-refusals.ts'
import { LiveSession } from '../../../../src/managed/accounts/session.ts'
import { Fingerprints } from '../../../../src/managed/inputs/fingerprints.ts'
import { FakeClock } from '../../../builders/fake-clock.ts'
import { ModelAccount } from '../../../builders/model-account.ts'
import { ModelAccountClient } from '../../../builders/model-account-client.ts'
import { ModelProcess } from '../../../builders/model-process.ts'

function openSession(held: readonly string[] = [], policies = 0) {
  const clock = new FakeClock()
  const account = new ModelAccount()
  const looks: string[] = []
  const client = new ModelAccountClient({
    account: () => account,
    process: new ModelProcess(clock),
    clock,
    requestTimeoutMs: 1000,
    nextFault: () => undefined,
    onRead: () => undefined,
    onWrite: () => undefined,
  })
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
  return { session, account, looks, list, client, clock }
}

const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `backends-tunnel_group_${String(index + 1).padStart(6, '0')}`)

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
  const { session, account, list, looks } = openSession(held)
  for (const _ of held) account.create('backends/tunnel_group', {})
  await list()
  session.unblock(session.blocked())
  for (const id of held.slice(0, 5)) account.delete('backends/tunnel_group', id)
  await list()
  expect(session.blocked()).toBeUndefined()
  account.delete('backends/tunnel_group', held[5] ?? '')
  looks.length = 0
  await list()
  expect(session.blocked()?.reason).toBe('IdentityUnproven')
  expect(looks).not.toEqual([])
})

test('objects in a closed collection do not raise how many may vanish elsewhere', async () => {
  const held = ids(7)
  const { session, account, list, client, clock } = openSession(held, 93)
  for (const _ of held) account.create('backends/tunnel_group', {})
  await list()
  session.unblock(session.blocked())
  const refusal = new ApiError('Forbidden', 'GET ip_policies: no', { definite: true, status: 403 })
  const { list: others } = client
  client.list = (collection) =>
    collection === collections.ipPolicies ? Promise.reject(refusal) : others.call(client, collection)
  const closing = session.cache.refresh(collections.ipPolicies).catch(() => undefined)
  await clock.advance(10)
  await closing
  for (const id of held.slice(0, 6)) account.delete('backends/tunnel_group', id)
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
  const { session, account, list } = openSession([])
  for (const _ of ids(20)) account.create('backends/tunnel_group', {})
  await list()
  session.unblock(session.blocked())
  for (const id of ids(20)) account.delete('backends/tunnel_group', id)
  await list()
  expect(session.blocked()).toBeUndefined()
})

test('changes are handed out once', async () => {
  const { session, account, list } = openSession()
  account.create('backends/tunnel_group', {})
  await list()
  expect(session.takeChanges().map(({ type }) => type)).toEqual(['appeared'])
  expect(session.takeChanges()).toEqual([])
})
