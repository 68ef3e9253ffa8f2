import { describe, expect, test } from 'vitest'
import type { Fault } from '../../simulation/faults.ts'
import { begin, conditionOf, countOf, idsIn, objectsIn, patch, ready, until } from '../../simulation/scenario.ts'
import { faults, onWrite, showing } from '../../simulation/shaped-answers.ts'
import type { SimulatedWorld } from '../../simulation/world.ts'

const SECOND = 1000
const HOUR = 3600 * SECOND

/** An answer that cannot be read, and never was carried out. */
const UNREADABLE: Fault = {
  type: 'answer',
  when: 'before',
  answer: { status: 200, headers: { 'content-type': 'application/json' }, body: '"no"' },
}

/** Whatever the API does with a write in the collection, it answers in this way and keeps nothing. */
function answering(world: SimulatedWorld, collection: string, fault: Fault, by = 'POST'): void {
  world.trouble = onWrite(({ method, path }) => {
    return method === by && path.startsWith(collection) ? fault : undefined
  })
}

test.each(['two\nlines', 'fine'])(
  'creates get rare while each is answered with the id of an object that a resource holds, token %j',
  async (token) => {
    const { world, oracle, writes } = await begin(['TunnelCredential'])
    world.apply('TunnelCredential', 'other', {})
    const held = await ready(world, 'TunnelCredential', 'other')
    world.trouble = showing('credentials', (object) => ({ ...object, id: held, token }), 'POST')
    const from = writes.length
    world.apply('TunnelCredential', 'ci', {})
    await world.advance(3 * HOUR)
    expect(countOf(writes, 'api POST /credentials', from)).toBeLessThanOrEqual(10)
    expect(countOf(writes, 'api POST /credentials', from)).toBeGreaterThanOrEqual(7)
    expect(await idsIn(world, 'credentials')).toEqual([held])
    expect(oracle.violations).toEqual([])
    world.calm()
    await ready(world, 'TunnelCredential', 'ci', 2 * HOUR)
    expect(await objectsIn(world, 'credentials')).toHaveLength(2)
  },
)

const policy = { rules: [{ cidr: '192.0.2.0/24', action: 'Allow' }] }

describe.each([
  ['an object', 'Backend', 'backends/tunnel_group', { type: 'TunnelGroup', tunnelGroup: {} }],
  ['a child', 'IPPolicy', 'ip_policy_rules', policy],
] as const)('creates of %s', (_, kind, path, spec) => {
  const POST = `api POST /${path}`

  test('get rare while no answer can be used, and edits and requests do not hasten them', async () => {
    const { world, oracle, writes } = await begin([kind])
    answering(world, path, UNREADABLE)
    world.apply(kind, 'ci', spec)
    await world.advance(3 * HOUR)
    // The first again at once, then 1, 3, 7, 15, 31 and 63 minutes later; then every hour.
    expect(countOf(writes, POST)).toBeLessThanOrEqual(10)
    expect(countOf(writes, POST)).toBeGreaterThanOrEqual(7)
    const message = expect.stringContaining(`POST ${path}: the response is not`)
    expect(conditionOf(world.get(kind, 'ci'), 'Synced')).toMatchObject({ status: 'False', reason: 'ApiError', message })
    const { length } = writes
    for (let edit = 0; edit < 20; edit++) {
      world.apply(kind, 'ci', { ...spec, description: `edit ${edit}` })
      patch(world, kind, 'ci', { metadata: { annotations: { 'culvert.dev/reconcile-requested-at': `${edit}` } } })
      await world.advance(2 * SECOND)
    }
    expect(countOf(writes, POST, length)).toBeLessThanOrEqual(1)
    world.calm()
    await ready(world, kind, 'ci', 2 * HOUR)
    expect(await objectsIn(world, path)).toHaveLength(1)
    expect(oracle.violations).toEqual([])
  })

  test.each(['broken', 'unsent', 'reset'] as const)(
    'are spaced like other failed calls while the API fails: %s',
    async (how) => {
      const { world, writes } = await begin([kind])
      answering(world, path, how === 'reset' ? { type: 'reset', when: 'before' } : faults[how])
      world.apply(kind, 'ci', spec)
      await world.advance(HOUR)
      expect(countOf(writes, POST)).toBeLessThanOrEqual(20)
      expect(countOf(writes, POST)).toBeGreaterThanOrEqual(7)
      world.calm()
      await ready(world, kind, 'ci', 310 * SECOND)
    },
  )

  test('are repeated at once after a single lost answer', async () => {
    const { world, writes } = await begin([kind])
    answering(world, path, UNREADABLE)
    world.apply(kind, 'ci', spec)
    await until(world, 'sent', () => countOf(writes, POST) === 1, SECOND)
    world.calm()
    await ready(world, kind, 'ci', 10 * SECOND)
    expect(countOf(writes, POST)).toBe(2)
  })
})

test('updates get rare while no answer can be used', async () => {
  const { world, writes } = await begin(['Backend'])
  world.apply('Backend', 'ci', { type: 'TunnelGroup', tunnelGroup: {} })
  await ready(world, 'Backend', 'ci')
  answering(world, 'backends/tunnel_group', UNREADABLE, 'PATCH')
  world.apply('Backend', 'ci', { type: 'TunnelGroup', tunnelGroup: {}, description: 'new' })
  await world.advance(HOUR)
  expect(countOf(writes, 'api PATCH /backends/tunnel_group/{id}')).toBeLessThanOrEqual(30)
})
