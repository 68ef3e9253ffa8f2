import { describe, expect, test } from 'vitest'
import type { Condition } from '../../../../src/managed/descriptor/common.ts'
import { sshKeys } from '../../../builders/contract/ssh-keys.ts'
import { begin, conditionOf, countOf, eventsOf, idsIn, reported, type Scene } from '../../simulation/scenario.ts'
import { faults, nextWrites, onWrite } from '../../simulation/shaped-answers.ts'
import type { SimulatedWorld } from '../../simulation/world.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const KIND = 'SSHUserCertificate'
const PATH = 'ssh_user_certificates'
const spec = {
  sshCertificateAuthorityRef: { name: 'signer' },
  publicKey: sshKeys.ed25519,
  principals: ['alice'],
  validFor: '9m',
}

/** A world with the certificate, just issued. */
async function issued(more: Readonly<Record<string, unknown>> = {}): Promise<Scene> {
  const scene = await begin([KIND, 'SSHCertificateAuthority'])
  scene.world.apply('SSHCertificateAuthority', 'signer', {})
  scene.world.apply(KIND, 'alice', { ...spec, ...more })
  await scene.world.advance(SECOND)
  return scene
}

function condition(world: SimulatedWorld, type: string): Condition | undefined {
  return conditionOf(world.get(KIND, 'alice'), type)
}

describe('a certificate with a length', () => {
  test('is renewed a hundred times, each time before it expires, and Ready all the while', {
    tags: 'nightly',
  }, async () => {
    const { world, oracle, writes } = await issued()
    const before = writes.length
    for (let renewals = 0; renewals < 100; renewals++) {
      await world.advance(6 * MINUTE)
      expect(condition(world, 'Ready')?.status).toBe('True')
    }
    expect(countOf(writes, `api POST /${PATH}`)).toBe(101)
    expect(await idsIn(world, PATH)).toEqual([world.get(KIND, 'alice')?.status?.id])
    expect(oracle.violations).toEqual([])
    expect(countOf(eventsOf(world), `${KIND}/alice Renewing`)).toBe(100)
    // Attempt, create, status; then the former one is deleted and the status says so.
    expect(writes.slice(before)).toHaveLength(100 * 5)
  })

  test('is renewed as early as the spec says, and the status says when', async () => {
    const { world } = await issued({ renewBefore: '1m' })
    const [first] = await idsIn(world, PATH)
    const { status } = world.get(KIND, 'alice') ?? {}
    expect(status?.renewsAt).toBe('2026-01-01T00:08:00.000Z')
    const renewsAt = world.kinds.managedKind(KIND)?.status.certificate?.renewsAt
    expect(renewsAt?.(status ?? {})).toBe(status?.renewsAt)
    await world.advance(8 * MINUTE - 5 * SECOND)
    expect(await idsIn(world, PATH)).toEqual([first])
    await world.advance(10 * SECOND)
    expect(await idsIn(world, PATH)).not.toContain(first)
  })

  test('that cannot be renewed shows it long before it expires, and is renewed when it can be, expired or not', async () => {
    const { world } = await issued()
    const [first] = await idsIn(world, PATH)
    world.trouble = onWrite(() => faults.refused)
    await world.advance(6 * MINUTE)
    expect(condition(world, 'Renewed')).toMatchObject({ status: 'False', reason: 'RenewalFailing' })
    expect(condition(world, 'Ready')?.status).toBe('True')
    expect(condition(world, 'Synced')?.status).toBe('True')
    expect(countOf(eventsOf(world), `${KIND}/alice RenewalFailing`)).toBe(1)
    expect(Date.parse(world.get(KIND, 'alice')?.status?.renewsAt as string)).toBeLessThan(
      Date.UTC(2026, 0, 1) + world.time.now,
    )
    await world.advance(4 * MINUTE)
    expect(condition(world, 'Ready')).toMatchObject({ status: 'False', reason: 'Expired' })
    expect(await idsIn(world, PATH)).toEqual([first])
    world.calm()
    await world.advance(10 * MINUTE)
    expect(condition(world, 'Ready')?.status).toBe('True')
    expect(condition(world, 'Renewed')?.status).toBe('True')
    expect(await idsIn(world, PATH)).toHaveLength(1)
    expect(await idsIn(world, PATH)).not.toContain(first)
  })

  test('that expired while nobody looked is reissued at once', async () => {
    const { world } = await issued()
    const [first] = await idsIn(world, PATH)
    world.down()
    await world.advance(60 * MINUTE)
    world.up()
    await world.advance(5 * SECOND)
    expect(condition(world, 'Ready')?.status).toBe('True')
    expect(await idsIn(world, PATH)).toHaveLength(1)
    expect(await idsIn(world, PATH)).not.toContain(first)
  })
})

test.each([
  ['an end', { validFor: undefined, validUntil: '2026-01-01T00:09:00Z' }],
  ['a start', { validAfter: '2026-01-01T00:00:00Z' }],
])(
  'a certificate with %s that the spec sets is never renewed, since the next would be the same',
  async (_title, more) => {
    const { world, writes } = await issued(more)
    const [first] = await idsIn(world, PATH)
    const { length } = writes
    expect(condition(world, 'Renewed')).toBeUndefined()
    await world.advance(30 * MINUTE)
    expect(condition(world, 'Ready')).toMatchObject({ status: 'False', reason: 'Expired' })
    expect(await idsIn(world, PATH)).toEqual([first])
    expect(writes.slice(length).filter((write) => write.includes(PATH))).toEqual([])
  },
)

test('a renewal that took effect without an answer is found again, and what showed the failure goes', async () => {
  const { world, writes } = await issued()
  const [first] = await idsIn(world, PATH)
  world.trouble = nextWrites(faults.lost)
  await reported(world, () => world.get(KIND, 'alice'), 'Renewed', 'RenewalFailing')
  await world.advance(MINUTE)
  expect(condition(world, 'Renewed')?.status).toBe('True')
  expect(await idsIn(world, PATH)).toHaveLength(1)
  expect(await idsIn(world, PATH)).not.toContain(first)
  expect(countOf(writes, `api POST /${PATH}`)).toBe(2)
})
