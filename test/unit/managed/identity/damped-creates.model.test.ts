import { describe, expect, test } from 'vitest'
import { ApiError, type ApiErrorCode } from '../../../../src/api/errors.ts'
import type { Condition } from '../../../../src/managed/descriptor/common.ts'
import { ModelWorld } from '../../../builders/model-world.ts'

const SECOND = 1000
const HOUR = 3600 * SECOND

function posts(world: ModelWorld, path: string): number {
  return world.writes.filter((write) => write === `POST ${path}`).length
}

function synced(world: ModelWorld, kind: string): Condition | undefined {
  return world.get(kind, 'ci')?.status?.conditions?.find(({ type }) => type === 'Synced')
}

function isSynced(world: ModelWorld, kind: string): boolean {
  return synced(world, kind)?.status === 'True'
}

/** Whatever the API does with a write in the collection, it answers in this way and keeps nothing. */
function answering(world: ModelWorld, path: string, code: ApiErrorCode, method = 'POST'): void {
  world.account.refusing = (write) => {
    if (write.path !== path || write.method !== method) return undefined
    return new ApiError(code, `${method} ${path}: no`, { definite: false })
  }
}

test.each(['two\nlines', 'fine'])(
  'creates get rare while each is answered with the id of an object that a resource holds, token %j',
  async (token) => {
    const world = ModelWorld.start()
    world.apply('TunnelCredential', 'other', {})
    await world.clock.advance(SECOND)
    const held = world.get('TunnelCredential', 'other')?.status?.id ?? ''
    world.account.telling = () => token
    world.account.naming = () => held
    const before = posts(world, 'credentials')
    world.apply('TunnelCredential', 'ci', {})
    await world.clock.advance(3 * HOUR)
    expect(posts(world, 'credentials') - before).toBeLessThanOrEqual(10)
    expect(posts(world, 'credentials') - before).toBeGreaterThanOrEqual(7)
    expect(world.account.list('credentials').map(({ id }) => id)).toEqual([held])
    expect([world.violations, world.bugs]).toEqual([[], []])
    world.account.telling = undefined
    world.account.naming = undefined
    await world.until('in sync', () => isSynced(world, 'TunnelCredential'), 2 * HOUR)
    expect(world.account.list('credentials')).toHaveLength(2)
    world.kill()
  },
)

const policy = { rules: [{ cidr: '192.0.2.0/24', action: 'Allow' }] }

describe.each([
  ['an object', 'Backend', 'backends/tunnel_group', { type: 'TunnelGroup', tunnelGroup: {} }],
  ['a child', 'IPPolicy', 'ip_policy_rules', policy],
] as const)('creates of %s', (_, kind, path, spec) => {
  test('get rare while no answer can be used, and edits and requests do not hasten them', async () => {
    const world = ModelWorld.start()
    answering(world, path, 'InvalidResponse')
    world.apply(kind, 'ci', spec)
    await world.clock.advance(3 * HOUR)
    // The first again at once, then 1, 3, 7, 15, 31 and 63 minutes later; then every hour.
    expect(posts(world, path)).toBeLessThanOrEqual(10)
    expect(posts(world, path)).toBeGreaterThanOrEqual(7)
    expect(synced(world, kind)).toMatchObject({ status: 'False', reason: 'ApiError', message: `POST ${path}: no` })
    const before = posts(world, path)
    for (let edit = 0; edit < 20; edit++) {
      world.apply(kind, 'ci', { ...spec, description: `edit ${edit}` })
      world.patch(kind, 'ci', { metadata: { annotations: { 'culvert.dev/reconcile-requested-at': `${edit}` } } })
      await world.clock.advance(2 * SECOND)
    }
    expect(posts(world, path) - before).toBeLessThanOrEqual(1)
    world.account.refusing = undefined
    await world.until('in sync', () => isSynced(world, kind), 2 * HOUR)
    expect(world.account.list(path)).toHaveLength(1)
    expect([world.violations, world.bugs]).toEqual([[], []])
    world.kill()
  })

  test.each(['ServerError', 'Timeout', 'Network'] as const)(
    'are spaced like other failed calls while the API fails: %s',
    async (code) => {
      const world = ModelWorld.start()
      answering(world, path, code)
      world.apply(kind, 'ci', spec)
      await world.clock.advance(HOUR)
      expect(posts(world, path)).toBeLessThanOrEqual(20)
      expect(posts(world, path)).toBeGreaterThanOrEqual(7)
      world.account.refusing = undefined
      await world.until('in sync', () => isSynced(world, kind), 310 * SECOND)
      world.kill()
    },
  )

  test('are repeated at once after a single lost answer', async () => {
    const world = ModelWorld.start()
    answering(world, path, 'InvalidResponse')
    world.apply(kind, 'ci', spec)
    await world.until('sent', () => posts(world, path) === 1, SECOND)
    world.account.refusing = undefined
    await world.until('in sync', () => isSynced(world, kind), 10 * SECOND)
    expect(posts(world, path)).toBe(2)
    world.kill()
  })
})

test('updates get rare while no answer can be used', async () => {
  const world = ModelWorld.start()
  world.apply('Backend', 'ci', { type: 'TunnelGroup', tunnelGroup: {} })
  await world.clock.advance(SECOND)
  answering(world, 'backends/tunnel_group', 'InvalidResponse', 'PATCH')
  world.apply('Backend', 'ci', { type: 'TunnelGroup', tunnelGroup: {}, description: 'new' })
  await world.clock.advance(HOUR)
  expect(world.writes.filter((write) => write.startsWith('PATCH backends')).length).toBeLessThanOrEqual(30)
  world.kill()
})
