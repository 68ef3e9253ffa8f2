import { describe, expect, test } from 'vitest'
import type { Condition } from '../../../../src/managed/descriptor/common.ts'
import { configMapType, secretType } from '../../../../src/managed/inputs/inputs.ts'
import type { DataObject } from '../../../../src/managed/outputs/place.ts'
import { sshKeys } from '../../../builders/contract/ssh-keys.ts'
import { ModelWorld } from '../../../builders/model-world.ts'
import { authorityLine, certificateLine } from '../../../builders/ssh-lines.ts'
import { unfitCertificates, unfitKeys, unfitTokens } from '../../../builders/unfit-answers.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const UNFIT = 'two\nlines'
const REQUEST = 'culvert.dev/rotate-requested-at'

function condition(world: ModelWorld, kind: string, type: string): Condition | undefined {
  return world.get(kind, 'ci')?.status?.conditions?.find((entry) => entry.type === type)
}

function isReady(world: ModelWorld, kind: string): boolean {
  return ['Ready', 'Synced'].every((type) => condition(world, kind, type)?.status === 'True')
}

function dataOf(world: ModelWorld, name = 'ci'): DataObject['data'] {
  return world.kube.get<DataObject>(secretType, { namespace: 'shop', name })?.data
}

function token(world: ModelWorld): string {
  return atob(dataOf(world)?.token ?? '')
}

function posts(world: ModelWorld, path: string): number {
  return world.writes.filter((write) => write === `POST ${path}`).length
}

const tokenKinds = [
  ['APIKey', 'api_keys'],
  ['TunnelCredential', 'credentials'],
] as const

describe.each(tokenKinds)('the token of the kind %s', (kind, path) => {
  test.each(unfitTokens)(
    'is not written when it is %s: the object goes, a condition tells, and creates get rare',
    async (_, value) => {
      const world = ModelWorld.start()
      world.account.telling = () => value
      world.apply(kind, 'ci', {})
      await world.clock.advance(SECOND)
      expect(condition(world, kind, 'Synced')).toMatchObject({ status: 'False', reason: 'AnswerRefused' })
      expect(condition(world, kind, 'Ready')).toMatchObject({ status: 'False' })
      expect(world.account.all()).toEqual([])
      expect(dataOf(world) ?? {}).toEqual({})
      // At once, and 1, 3, 7, 15, 31 and 63 minutes later; then every hour.
      await world.clock.advance(8 * HOUR)
      expect(posts(world, path)).toBeLessThanOrEqual(7 + 8)
      expect(posts(world, path)).toBeGreaterThanOrEqual(12)
      expect(world.writes.filter((write) => write === `DELETE ${path}`)).toHaveLength(posts(world, path))
      expect(world.account.all()).toEqual([])
      expect(dataOf(world) ?? {}).toEqual({})
      expect([world.violations, world.bugs]).toEqual([[], []])
      world.account.telling = undefined
      await world.until('Ready', () => isReady(world, kind), 2 * HOUR)
      expect(world.account.list(path)).toHaveLength(1)
      expect(world.account.tokens.get(token(world))).toBe(world.get(kind, 'ci')?.status?.id)
      world.kill()
    },
  )

  test('is refused no sooner for edits and requests, and costs nothing in between', async () => {
    const world = ModelWorld.start()
    world.account.telling = () => UNFIT
    world.apply(kind, 'ci', {})
    await world.clock.advance(SECOND)
    for (let edit = 0; edit < 20; edit++) {
      world.apply(kind, 'ci', { description: `edit ${edit}` })
      world.patch(kind, 'ci', { metadata: { annotations: { 'culvert.dev/reconcile-requested-at': `${edit}` } } })
      await world.clock.advance(2 * SECOND)
    }
    expect(posts(world, path)).toBe(1)
    expect(world.events.filter((event) => event.endsWith('AnswerRefused')).length).toBeLessThanOrEqual(2)
    world.kill()
  })

  test('leaves nothing behind, whenever the process dies and whatever becomes of the deletion', async () => {
    for (let dies = 0; dies < 60; dies += 3) {
      const world = ModelWorld.start()
      world.account.telling = () => UNFIT
      world.apply(kind, 'ci', {})
      await world.clock.advance(dies)
      world.kill()
      world.startOperator()
      if (dies % 2 === 0) world.apiFaults.push('broken', 'lost', 'late')
      await world.clock.advance(5 * MINUTE)
      world.account.telling = undefined
      await world.until('Ready', () => isReady(world, kind), 3 * HOUR)
      expect(world.account.list(path).map(({ id }) => id)).toEqual([world.get(kind, 'ci')?.status?.id])
      expect(world.account.tokens.get(token(world))).toBe(world.get(kind, 'ci')?.status?.id)
      expect([world.violations, world.bugs]).toEqual([[], []])
      world.kill()
    }
  })

  test('in the Secret stays, and works, when one that should take its turn is unfit', async () => {
    const world = ModelWorld.start()
    world.apply(kind, 'ci', { rotation: { interval: '10m', overlap: '1m' } })
    await world.clock.advance(SECOND)
    const before = token(world)
    const { id } = world.get(kind, 'ci')?.status ?? {}
    world.account.telling = () => UNFIT
    world.patch(kind, 'ci', { metadata: { annotations: { [REQUEST]: 'now' } } })
    await world.clock.advance(3 * HOUR)
    expect(token(world)).toBe(before)
    expect(world.account.list(path).map((object) => object.id)).toEqual([id])
    expect(condition(world, kind, 'Ready')?.status).toBe('True')
    expect(condition(world, kind, 'Rotated')).toMatchObject({ status: 'False', reason: 'RotationFailing' })
    expect(condition(world, kind, 'Rotated')?.message).toContain('a token that is not')
    expect(posts(world, path)).toBeLessThanOrEqual(10)
    world.account.telling = undefined
    await world.until('rotated', () => token(world) !== before, 2 * HOUR)
    await world.clock.advance(2 * MINUTE)
    expect(world.account.list(path).map((object) => object.id)).toEqual([world.get(kind, 'ci')?.status?.id])
    expect([world.violations, world.bugs]).toEqual([[], []])
    world.kill()
  })

  test('that got lost is issued anew no sooner for being unfit', async () => {
    const world = ModelWorld.start()
    world.apply(kind, 'ci', {})
    await world.clock.advance(SECOND)
    const { id } = world.get(kind, 'ci')?.status ?? {}
    world.account.telling = () => UNFIT
    world.kube.mergePatch(secretType, { namespace: 'shop', name: 'ci' }, { data: { token: null } })
    await world.clock.advance(3 * HOUR)
    expect(posts(world, path)).toBeLessThanOrEqual(12)
    expect(dataOf(world) ?? {}).toEqual({})
    expect(world.account.list(path).map((object) => object.id)).toEqual([id])
    expect(condition(world, kind, 'Synced')).toMatchObject({ status: 'False', reason: 'AnswerRefused' })
    expect(world.events.filter((event) => event.endsWith('Reissued')).length).toBeLessThanOrEqual(12)
    world.account.telling = undefined
    await world.until('Ready', () => isReady(world, kind), 2 * HOUR)
    expect(world.account.tokens.get(token(world))).toBe(world.get(kind, 'ci')?.status?.id)
    world.kill()
  })

  test('that is unfit takes away nothing that somebody holds', async () => {
    const world = ModelWorld.start()
    world.apply(kind, 'other', {})
    await world.clock.advance(SECOND)
    const held = world.get(kind, 'other')?.status?.id ?? ''
    world.account.telling = () => UNFIT
    world.account.naming = () => held
    world.apply(kind, 'ci', {})
    await world.clock.advance(HOUR)
    expect(condition(world, kind, 'Synced')?.status).toBe('False')
    expect(world.account.get(path, held)).toBeDefined()
    world.kill()
  })
})

describe('derived outputs', () => {
  const user = {
    sshCertificateAuthorityRef: { id: 'sshca_1' },
    publicKey: sshKeys.ed25519,
    principals: ['alice'],
    validFor: '9m',
    output: { secret: { name: 'ci' } },
  }
  const USER = 'SSHUserCertificate'
  const CERTIFICATES = 'ssh_user_certificates'
  const AUTHORITY = 'SSHCertificateAuthority'
  const authority = { output: { configMap: { name: 'ci' } } }

  function shows(world: ModelWorld, certificate: unknown): void {
    world.account.shownBeside.set(CERTIFICATES, { certificate })
  }

  test.each(unfitCertificates)(
    'hold no certificate that is %s: its object goes, and creates get rare',
    async (_, value) => {
      const world = ModelWorld.start()
      shows(world, value)
      world.apply(USER, 'ci', user)
      await world.clock.advance(2 * HOUR)
      expect(condition(world, USER, 'Synced')).toMatchObject({ reason: 'AnswerRefused' })
      expect(dataOf(world)).toBeUndefined()
      expect(world.account.all()).toEqual([])
      expect(posts(world, CERTIFICATES)).toBeLessThanOrEqual(9)
      shows(world, certificateLine())
      await world.until('Ready', () => isReady(world, USER), 2 * HOUR)
      expect(atob(dataOf(world)?.['id-cert.pub'] ?? '')).toBe(`${certificateLine()}\n`)
      world.kill()
    },
  )

  test.each(unfitKeys)('hold no public key that is %s', async (_, value) => {
    const world = ModelWorld.start()
    world.account.shownBeside.set('ssh_certificate_authorities', { public_key: value })
    world.apply(AUTHORITY, 'ci', authority)
    await world.clock.advance(2 * HOUR)
    expect(condition(world, AUTHORITY, 'Synced')).toMatchObject({ reason: 'AnswerRefused' })
    expect(world.kube.get(configMapType, { namespace: 'shop', name: 'ci' })).toBeUndefined()
    expect(world.account.all()).toEqual([])
    expect(posts(world, 'ssh_certificate_authorities')).toBeLessThanOrEqual(9)
    world.kill()
  })

  test('stay when a renewal brings a certificate that is none: the present one is good until it expires', async () => {
    const world = ModelWorld.start()
    shows(world, certificateLine('first'))
    world.apply(USER, 'ci', user)
    await world.clock.advance(SECOND)
    const [first] = world.account.list(CERTIFICATES)
    shows(world, `${certificateLine()}\nssh-ed25519 AAAA`)
    await world.clock.advance(8 * MINUTE)
    expect(atob(dataOf(world)?.['id-cert.pub'] ?? '')).toBe(`${certificateLine('first')}\n`)
    expect(world.account.list(CERTIFICATES)).toEqual([first])
    expect(condition(world, USER, 'Renewed')).toMatchObject({ status: 'False', reason: 'RenewalFailing' })
    world.kill()
  })

  test('stay when a later answer is unfit, and so does the object', async () => {
    const world = ModelWorld.start()
    world.account.shownBeside.set('ssh_certificate_authorities', { public_key: authorityLine })
    world.apply(AUTHORITY, 'ci', authority)
    await world.clock.advance(SECOND)
    const data = () => world.kube.get<DataObject>(configMapType, { namespace: 'shop', name: 'ci' })?.data
    const before = data()
    const [made] = world.account.list('ssh_certificate_authorities')
    for (const [, value] of unfitKeys) {
      world.account.replace('ssh_certificate_authorities', { ...made, id: made?.id ?? '', public_key: value })
      await world.clock.advance(3 * MINUTE)
      expect(condition(world, AUTHORITY, 'Synced')).toMatchObject({ status: 'False', reason: 'AnswerRefused' })
      expect(data()).toEqual(before)
    }
    expect(condition(world, AUTHORITY, 'Ready')?.status).toBe('True')
    expect(world.writes.filter((write) => write.startsWith('DELETE'))).toEqual([])
    expect(world.account.list('ssh_certificate_authorities')).toHaveLength(1)
    world.kill()
  })
})
