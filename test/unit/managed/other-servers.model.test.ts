import { describe, expect, test } from 'vitest'
import type { ApiErrorCode } from '../../../src/api/errors.ts'
import { createdBy, recoverable } from '../../../src/managed/identity/own-objects.ts'
import type { UpdateOperation } from '../../../src/managed/plan/plan.ts'
import { sendUpdate } from '../../../src/managed/plan/send-update.ts'
import type { Reconciliation } from '../../../src/managed/reconcile/reconciliation.ts'
import { writeReasons } from '../../../src/telemetry/write-origin.ts'
import { cr, marked } from '../../builders/custom-resource.ts'
import { refusal } from '../../builders/model-account.ts'
import { ModelWorld } from '../../builders/model-world.ts'

/** What a server that keeps the contract may do, and ours does not. */

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const STATUSES: readonly (readonly [ApiErrorCode, number])[] = [
  ['Conflict', 409],
  ['Invalid', 400],
  ['Invalid', 422],
]

function conditionOf(world: ModelWorld, kind: string, type: string) {
  const found = world.get(kind, 'ci')?.status?.conditions?.find((each) => each.type === type)
  return found && { status: found.status, reason: found.reason }
}

function isReady(world: ModelWorld, kind: string): boolean {
  return ['Ready', 'Synced'].every((type) => conditionOf(world, kind, type)?.status === 'True')
}

/** Writes to edges at the API. */
function toEdges(world: ModelWorld, from = 0): readonly string[] {
  return world.writes.slice(from).filter((write) => write.endsWith(' edges/tcp'))
}

test.each(['', '{}', 'a bot'])('a bot user that shows the metadata %j is created once', async (metadata) => {
  const world = ModelWorld.start()
  world.account.shownBeside.set('bot_users', { metadata })
  world.apply('BotUser', 'ci', { displayName: 'ci' })
  await world.clock.advance(10 * MINUTE)
  expect(isReady(world, 'BotUser')).toBe(true)
  expect(world.account.list('bot_users')).toMatchObject([{ name: 'ci' }])
  world.kill()
})

describe.each(STATUSES)('an object in use whose deletion is refused as %s with %i', (code, status) => {
  function inUse(world: ModelWorld, id: string | undefined): void {
    world.account.refusing = ({ method, id: about }) => {
      return method === 'DELETE' && about === id ? refusal(code, status, `${id} is in use`) : undefined
    }
  }

  test('is deleted soon after it is free', async () => {
    const world = ModelWorld.start()
    world.apply('Backend', 'ci', { type: 'TunnelGroup', tunnelGroup: {} })
    await world.until('Ready', () => isReady(world, 'Backend'))
    inUse(world, world.get('Backend', 'ci')?.status?.id)
    world.delete('Backend', 'ci')
    await world.clock.advance(2 * MINUTE)
    expect(conditionOf(world, 'Backend', 'Ready')).toEqual({ status: 'False', reason: 'Rejected' })
    world.account.refusing = undefined
    await world.clock.advance(MINUTE)
    expect(world.get('Backend', 'ci')).toBeUndefined()
    expect(world.account.all()).toEqual([])
    world.kill()
  })

  test('does not disturb the one that has replaced it', async () => {
    const world = ModelWorld.start()
    world.apply('TunnelCredential', 'ci', { rotation: { interval: '1h', overlap: '1m' } })
    await world.until('Ready', () => isReady(world, 'TunnelCredential'))
    const former = world.get('TunnelCredential', 'ci')?.status?.id
    inUse(world, former)
    await world.clock.advance(65 * MINUTE)
    expect(world.get('TunnelCredential', 'ci')?.status?.id).not.toBe(former)
    expect(isReady(world, 'TunnelCredential')).toBe(true)
    world.account.refusing = undefined
    await world.clock.advance(MINUTE)
    expect(world.account.list('credentials')).toHaveLength(1)
    world.kill()
  })
})

test.each(STATUSES)('an update refused as %s with %i is sent each other way once', async (code, status) => {
  const sent: unknown[] = []
  const run = {
    collection: {},
    memory: { plan: { written: () => undefined } },
    because: () => ({}),
    session: {
      cache: {
        update: async (_collection: unknown, _id: string, body: unknown) => {
          sent.push(body)
          if (sent.length < 3) throw refusal(code, status, 'certificate_id and the policy exclude each other')
        },
      },
    },
  } as unknown as Reconciliation
  const operation: UpdateOperation = {
    type: 'update',
    fields: ['a'],
    body: { a: 1 },
    alternatives: [{ a: 2 }, { a: 3 }],
  }
  await sendUpdate(run, 'rd_1', operation, writeReasons.spec)
  expect(sent).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }])
})

describe('a service that takes rules of a policy only as single objects', () => {
  const trafficPolicy = { inbound: [{ expressions: ['true'], actions: [{ type: 'deny' }] }] }
  function start(): ModelWorld {
    const world = ModelWorld.start()
    world.account.refusing = ({ method, path, body }) => {
      const { inbound } = (body?.policy ?? {}) as { readonly inbound?: unknown }
      const isRefused = Array.isArray(inbound) && inbound.length < 2
      return isRefused ? refusal('Invalid', 400, `${method} ${path}: policy.inbound: an object`) : undefined
    }
    return world
  }

  test('gets the edge that way, created once, and its edits', async () => {
    const world = start()
    world.apply('Edge', 'ci', { protocol: 'TCP', trafficPolicy })
    await world.until('Ready', () => isReady(world, 'Edge'), MINUTE)
    expect(toEdges(world)).toEqual(['POST edges/tcp', 'POST edges/tcp'])
    const { length } = world.writes
    world.apply('Edge', 'ci', { protocol: 'TCP', trafficPolicy: { inbound: [{ actions: [{ type: 'log' }] }] } })
    await world.clock.advance(10 * MINUTE)
    expect(isReady(world, 'Edge')).toBe(true)
    expect(world.account.list('edges/tcp')).toMatchObject([{ policy: { inbound: { actions: { type: 'log' } } } }])
    expect(toEdges(world, length)).toEqual(['PATCH edges/tcp', 'PATCH edges/tcp'])
    expect([world.violations, world.bugs]).toEqual([[], []])
    world.kill()
  })

  test('gets the first form of what it refuses in both, and the condition says so', async () => {
    const world = start()
    world.account.refusing = () => refusal('Invalid', 400, 'no')
    world.apply('Edge', 'ci', { protocol: 'TCP', trafficPolicy })
    await world.clock.advance(5 * MINUTE)
    expect(toEdges(world)).toEqual(['POST edges/tcp', 'POST edges/tcp'])
    expect(conditionOf(world, 'Edge', 'Synced')).toEqual({ status: 'False', reason: 'Rejected' })
    world.kill()
  })
})

describe('a service that wants what a module refers to, also where it is disabled', () => {
  function start(): ModelWorld {
    const world = ModelWorld.start()
    world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: {} })
    world.account.refusing = ({ body }) => {
      const { backend } = (body ?? {}) as { readonly backend?: { readonly backend_id?: unknown } }
      const isEmpty = backend !== undefined && backend.backend_id === undefined
      return isEmpty ? refusal('Invalid', 400, 'backend.backend_id is missing') : undefined
    }
    return world
  }

  test('gets a new edge without a disabled module', async () => {
    const world = start()
    world.apply('Edge', 'ci', { protocol: 'TCP', backend: { name: 'web', enabled: false } })
    await world.until('Ready', () => isReady(world, 'Edge'), MINUTE)
    expect(world.account.list('edges/tcp')).toHaveLength(1)
    world.kill()
  })

  test('keeps it in a module that has left the spec', async () => {
    const world = start()
    world.apply('Edge', 'ci', { protocol: 'TCP', backend: { name: 'web' } })
    await world.until('Ready', () => isReady(world, 'Edge'), MINUTE)
    const { length } = world.writes
    world.apply('Edge', 'ci', { protocol: 'TCP', backend: null })
    await world.clock.advance(30 * MINUTE)
    expect(isReady(world, 'Edge')).toBe(true)
    expect(world.account.list('edges/tcp')).toMatchObject([{ backend: { enabled: false } }])
    expect(toEdges(world, length)).toEqual(['PATCH edges/tcp', 'PATCH edges/tcp'])
    world.kill()
  })
})

describe('a service that answers 404 for an id in a body', () => {
  const absent = refusal('NotFound', 404, 'there is no bkdtg_1')

  test('is asked to create again soon, then every ten minutes, and the condition says what is missing', async () => {
    const world = ModelWorld.start()
    world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: {} })
    world.account.refusing = ({ method, path }) => (method === 'POST' && path === 'edges/tcp' ? absent : undefined)
    world.apply('Edge', 'ci', { protocol: 'TCP', backend: { name: 'web' } })
    await world.clock.advance(30 * SECOND)
    expect(conditionOf(world, 'Edge', 'Synced')).toEqual({ status: 'False', reason: 'ApiError' })
    await world.clock.advance(10 * MINUTE)
    expect(conditionOf(world, 'Edge', 'Synced')).toEqual({ status: 'False', reason: 'Rejected' })
    const { length } = world.writes
    await world.clock.advance(HOUR)
    expect(toEdges(world, length).length).toBeLessThanOrEqual(7)
    world.account.refusing = undefined
    await world.until('Ready', () => isReady(world, 'Edge'), 15 * MINUTE)
    expect(world.account.list('edges/tcp')).toHaveLength(1)
    world.kill()
  })

  test('is asked to update again soon, then every ten minutes, without a list for each', async () => {
    const world = ModelWorld.start()
    world.apply('Edge', 'ci', { protocol: 'TCP' })
    await world.until('Ready', () => isReady(world, 'Edge'))
    world.account.refusing = ({ method }) => (method === 'PATCH' ? absent : undefined)
    world.apply('Edge', 'ci', { protocol: 'TCP', description: 'edited' })
    await world.clock.advance(10 * MINUTE)
    expect(conditionOf(world, 'Edge', 'Synced')).toEqual({ status: 'False', reason: 'Rejected' })
    const { length } = world.writes
    await world.clock.advance(HOUR)
    expect(toEdges(world, length).length).toBeLessThanOrEqual(7)
    world.account.refusing = undefined
    await world.until('Ready', () => isReady(world, 'Edge'), 15 * MINUTE)
    expect(world.account.list('edges/tcp')).toMatchObject([{ description: 'edited' }])
    world.kill()
  })
})

describe('objects with ids in no order', () => {
  const older = marked('z', {}, { created_at: '2026-01-01T00:00:00Z' })
  const newer = marked('b', {}, { created_at: '2026-01-01t00:00:01.000000000000z' })
  const newest = marked('c', {}, { created_at: '2026-01-01T05:30:02+05:30' })

  test('are told apart by their age', () => {
    const own = { installation: 'here', uid: 'mine', nonce: 'a' }
    expect(recoverable([newest, older, newer], cr(), 'here')).toEqual([older, newer, newest])
    expect(createdBy([newer, newest, older], own)).toEqual([older, newer, newest])
  })

  test('are in a fixed order where their age is the same, or not shown', () => {
    const [a, b] = [marked('a', {}, { created_at: null }), marked('b', {}, { created_at: 'long ago' })]
    expect(recoverable([b, older, a], cr(), 'here')).toEqual([a, b, older])
  })
})
