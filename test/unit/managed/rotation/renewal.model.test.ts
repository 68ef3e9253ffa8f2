import { describe, expect, test } from 'vitest'
import { kinds } from '../../../../src/kinds/index.ts'
import type { Condition } from '../../../../src/managed/descriptor/common.ts'
import { KindsRegistry } from '../../../../src/managed/kinds-registry.ts'
import { sshKeys } from '../../../builders/contract/ssh-keys.ts'
import { ModelWorld } from '../../../builders/model-world.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const KIND = 'SSHUserCertificate'
const PATH = 'ssh_user_certificates'
const spec = {
  sshCertificateAuthorityRef: { id: 'sshca_1' },
  publicKey: sshKeys.ed25519,
  principals: ['alice'],
  validFor: '9m',
}

/** A world with the certificate, just issued. */
async function issued(more: Readonly<Record<string, unknown>> = {}): Promise<ModelWorld> {
  const world = ModelWorld.start()
  world.apply(KIND, 'alice', { ...spec, ...more })
  await world.clock.advance(SECOND)
  return world
}

function ids(world: ModelWorld): readonly string[] {
  return world.account.list(PATH).map(({ id }) => id)
}

function condition(world: ModelWorld, type: string): Condition | undefined {
  return world.get(KIND, 'alice')?.status?.conditions?.find((entry) => entry.type === type)
}

describe('a certificate with a length', () => {
  test('is renewed a hundred times, each time before it expires, and Ready all the while', async () => {
    const world = await issued()
    const before = world.writes.length
    for (let renewals = 0; renewals < 100; renewals++) {
      await world.clock.advance(6 * MINUTE)
      expect(condition(world, 'Ready')?.status).toBe('True')
    }
    expect(world.account.created.filter((text) => text.startsWith(PATH))).toHaveLength(101)
    expect(ids(world)).toEqual([world.get(KIND, 'alice')?.status?.id])
    expect(world.violations).toEqual([])
    expect(world.events.filter((event) => event.endsWith('Renewing'))).toHaveLength(100)
    // Attempt, create, status; then the former one is deleted and the status says so.
    expect(world.writes.slice(before)).toHaveLength(100 * 5)
    world.kill()
  })

  test('is renewed as early as the spec says, and the status says when', async () => {
    const world = await issued({ renewBefore: '1m' })
    const [first] = ids(world)
    const { status } = world.get(KIND, 'alice') ?? {}
    expect(status?.renewsAt).toBe('2026-01-01T00:08:00.000Z')
    const renewsAt = new KindsRegistry(kinds).managedKind(KIND)?.status.certificate?.renewsAt
    expect(renewsAt?.(status ?? {})).toBe(status?.renewsAt)
    await world.clock.advance(8 * MINUTE - 5 * SECOND)
    expect(ids(world)).toEqual([first])
    await world.clock.advance(10 * SECOND)
    expect(ids(world)).not.toContain(first)
    world.kill()
  })

  test('that cannot be renewed shows it long before it expires, and is renewed when it can be, expired or not', async () => {
    const world = await issued()
    const [first] = ids(world)
    world.apiFaults.push(...Array.from({ length: 100 }, () => 'refused' as const))
    await world.clock.advance(6 * MINUTE)
    expect(condition(world, 'Renewed')).toMatchObject({ status: 'False', reason: 'RenewalFailing' })
    expect(condition(world, 'Ready')?.status).toBe('True')
    expect(condition(world, 'Synced')?.status).toBe('True')
    expect(world.events.filter((event) => event === `${KIND}/alice RenewalFailing`)).toHaveLength(1)
    expect(Date.parse(world.get(KIND, 'alice')?.status?.renewsAt as string)).toBeLessThan(world.clock.now())
    await world.clock.advance(4 * MINUTE)
    expect(condition(world, 'Ready')).toMatchObject({ status: 'False', reason: 'Expired' })
    expect(ids(world)).toEqual([first])
    world.apiFaults.length = 0
    await world.clock.advance(10 * MINUTE)
    expect(condition(world, 'Ready')?.status).toBe('True')
    expect(condition(world, 'Renewed')?.status).toBe('True')
    expect(ids(world)).toHaveLength(1)
    expect(ids(world)).not.toContain(first)
    world.kill()
  })

  test('that expired while nobody looked is issued anew at once', async () => {
    const world = await issued()
    const [first] = ids(world)
    world.kill()
    await world.clock.advance(60 * MINUTE)
    world.startOperator()
    await world.clock.advance(5 * SECOND)
    expect(condition(world, 'Ready')?.status).toBe('True')
    expect(ids(world)).toHaveLength(1)
    expect(ids(world)).not.toContain(first)
    world.kill()
  })
})

test.each([
  ['an end', { validFor: undefined, validUntil: '2026-01-01T00:09:00Z' }],
  ['a start', { validAfter: '2026-01-01T00:00:00Z' }],
])(
  'a certificate with %s that the spec names is never renewed, since the next would be the same',
  async (_title, more) => {
    const world = await issued(more)
    const [first] = ids(world)
    const { length } = world.writes
    expect(condition(world, 'Renewed')).toBeUndefined()
    await world.clock.advance(30 * MINUTE)
    expect(condition(world, 'Ready')).toMatchObject({ status: 'False', reason: 'Expired' })
    expect(ids(world)).toEqual([first])
    expect(world.writes.slice(length).filter((write) => write.includes(PATH))).toEqual([])
    world.kill()
  },
)

test('a renewal that took effect without an answer is found again, and what showed the failure goes', async () => {
  const world = await issued()
  const [first] = ids(world)
  world.apiFaults.push('lost')
  await world.clock.advance(6 * MINUTE + SECOND)
  expect(condition(world, 'Renewed')?.reason).toBe('RenewalFailing')
  await world.clock.advance(MINUTE)
  expect(condition(world, 'Renewed')?.status).toBe('True')
  expect(ids(world)).toHaveLength(1)
  expect(ids(world)).not.toContain(first)
  expect(world.account.created.filter((text) => text.startsWith(PATH))).toHaveLength(2)
  world.kill()
})
