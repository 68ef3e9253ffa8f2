import { describe, expect, test } from 'vitest'
import { configMapType, secretType } from '../../../../src/kube/core-types.ts'
import type { DataObject } from '../../../../src/managed/outputs/place.ts'
import { sshKeys } from '../../../builders/contract/ssh-keys.ts'
import { authorityLine, certificateLine } from '../../../builders/ssh-lines.ts'
import { unfitCertificates, unfitKeys, unfitTokens } from '../../../builders/unfit-answers.ts'
import type { Trouble } from '../../simulation/faults.ts'
import {
  begin,
  conditionOf,
  countOf,
  eventsOf,
  idsIn,
  isReady,
  objectsIn,
  patch,
  ready,
  secretOf,
} from '../../simulation/scenario.ts'
import { either, faults, nextWrites, showing } from '../../simulation/shaped-answers.ts'
import { NAMESPACE, type SimulatedWorld } from '../../simulation/world.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const UNFIT = 'two\nlines'
const REQUEST = 'culvert.dev/rotate-requested-at'

const tokenKinds = [
  ['APIKey', 'api_keys'],
  ['TunnelCredential', 'credentials'],
] as const

/** The API tells this instead of a token. */
function telling(path: string, token: unknown): Trouble {
  return showing(path, (object) => ({ ...object, token }), 'POST')
}

async function opened(world: SimulatedWorld, kind: string): Promise<string | undefined> {
  return await world.api.openedBy(kind, secretOf(world, 'ci')?.token ?? '')
}

describe.each(tokenKinds)('the token of the kind %s', (kind, path) => {
  const condition = (world: SimulatedWorld, type: string) => conditionOf(world.get(kind, 'ci'), type)
  const POST = `api POST /${path}`

  test.each(unfitTokens)('is not written when it is %s: the object goes, and a condition tells', async (_, value) => {
    const { world, oracle, writes } = await begin([kind])
    world.trouble = telling(path, value)
    world.apply(kind, 'ci', {})
    // At once, and 1, 3, 7 and 15 minutes later.
    await world.advance(20 * MINUTE)
    expect(condition(world, 'Synced')).toMatchObject({ status: 'False', reason: 'AnswerRefused' })
    expect(condition(world, 'Ready')).toMatchObject({ status: 'False' })
    expect(countOf(writes, POST)).toBeGreaterThanOrEqual(5)
    expect(countOf(writes, POST)).toBeLessThanOrEqual(6)
    expect(countOf(writes, `api DELETE /${path}/{id}`)).toBe(countOf(writes, POST))
    expect(await objectsIn(world, path)).toEqual([])
    expect(secretOf(world, 'ci') ?? {}).toEqual({})
    expect(oracle.violations).toEqual([])
    world.calm()
    await ready(world, kind, 'ci', 2 * HOUR)
    expect(await idsIn(world, path)).toEqual([await opened(world, kind)])
  })

  test('is asked for ever more rarely while it is unfit', async () => {
    const { world, writes } = await begin([kind])
    world.trouble = telling(path, UNFIT)
    world.apply(kind, 'ci', {})
    // At once, and 1, 3, 7, 15, 31 and 63 minutes later; then every hour.
    await world.advance(8 * HOUR)
    expect(countOf(writes, POST)).toBeLessThanOrEqual(7 + 8)
    expect(countOf(writes, POST)).toBeGreaterThanOrEqual(12)
    expect(countOf(writes, `api DELETE /${path}/{id}`)).toBe(countOf(writes, POST))
    expect(await objectsIn(world, path)).toEqual([])
    world.calm()
    await ready(world, kind, 'ci', 2 * HOUR)
    expect(await idsIn(world, path)).toEqual([await opened(world, kind)])
  })

  test('is refused no sooner for edits and requests, and costs nothing in between', async () => {
    const { world, writes } = await begin([kind])
    world.trouble = telling(path, UNFIT)
    world.apply(kind, 'ci', {})
    await world.advance(SECOND)
    for (let edit = 0; edit < 20; edit++) {
      world.apply(kind, 'ci', { description: `edit ${edit}` })
      patch(world, kind, 'ci', { metadata: { annotations: { 'culvert.dev/reconcile-requested-at': `${edit}` } } })
      await world.advance(2 * SECOND)
    }
    expect(countOf(writes, POST)).toBe(1)
    expect(countOf(eventsOf(world), `${kind}/ci AnswerRefused`)).toBeLessThanOrEqual(2)
  })

  test('leaves nothing behind, whenever the process dies and whatever becomes of the deletion', async () => {
    for (let dies = 0; dies < 60; dies += 3) {
      const { world, oracle } = await begin([kind])
      const failing = dies % 2 === 0 ? nextWrites(faults.broken, faults.lost, faults.late) : nextWrites()
      world.trouble = telling(path, UNFIT)
      world.apply(kind, 'ci', {})
      await world.advance(dies)
      world.down()
      world.up()
      world.trouble = either(failing, telling(path, UNFIT))
      await world.advance(5 * MINUTE)
      world.calm()
      await ready(world, kind, 'ci', 3 * HOUR)
      expect(await idsIn(world, path)).toEqual([world.get(kind, 'ci')?.status?.id])
      expect(await opened(world, kind)).toBe(world.get(kind, 'ci')?.status?.id)
      expect(oracle.violations).toEqual([])
    }
  })

  test('in the Secret stays, and works, when one that should take its turn is unfit', async () => {
    const { world, oracle, writes } = await begin([kind])
    world.apply(kind, 'ci', { rotation: { interval: '10m', overlap: '1m' } })
    const id = await ready(world, kind, 'ci')
    const before = secretOf(world, 'ci')
    world.trouble = telling(path, UNFIT)
    world.annotate(kind, 'ci', { [REQUEST]: 'now' })
    await world.advance(3 * HOUR)
    expect(secretOf(world, 'ci')).toEqual(before)
    expect(await idsIn(world, path)).toEqual([id])
    expect(condition(world, 'Ready')?.status).toBe('True')
    expect(condition(world, 'Rotated')).toMatchObject({ status: 'False', reason: 'RotationFailing' })
    expect(condition(world, 'Rotated')?.message).toContain('a token that is not')
    expect(countOf(writes, POST)).toBeLessThanOrEqual(10)
    world.calm()
    await world.until(() => secretOf(world, 'ci')?.token !== before?.token, 2 * HOUR)
    await world.advance(2 * MINUTE)
    expect(await idsIn(world, path)).toEqual([world.get(kind, 'ci')?.status?.id])
    expect(await opened(world, kind)).toBe(world.get(kind, 'ci')?.status?.id)
    expect(oracle.violations).toEqual([])
  })

  test('that got lost is reissued no sooner for being unfit', async () => {
    const { world, writes } = await begin([kind])
    world.apply(kind, 'ci', {})
    const id = await ready(world, kind, 'ci')
    world.trouble = telling(path, UNFIT)
    world.server.patch(secretType, { namespace: NAMESPACE, name: 'ci' }, { data: { token: null } })
    await world.advance(3 * HOUR)
    expect(countOf(writes, POST)).toBeLessThanOrEqual(12)
    expect(secretOf(world, 'ci') ?? {}).toEqual({})
    expect(await idsIn(world, path)).toEqual([id])
    expect(condition(world, 'Synced')).toMatchObject({ status: 'False', reason: 'AnswerRefused' })
    expect(countOf(eventsOf(world), `${kind}/ci Reissued`)).toBeLessThanOrEqual(12)
    world.calm()
    await ready(world, kind, 'ci', 2 * HOUR)
    expect(await opened(world, kind)).toBe(world.get(kind, 'ci')?.status?.id)
  })

  test('that is unfit takes away nothing that somebody holds', async () => {
    const { world } = await begin([kind])
    world.apply(kind, 'other', {})
    const held = await ready(world, kind, 'other')
    world.trouble = showing(path, (object) => ({ ...object, id: held, token: UNFIT }), 'POST')
    world.apply(kind, 'ci', {})
    await world.advance(HOUR)
    expect(condition(world, 'Synced')?.status).toBe('False')
    expect(await idsIn(world, path)).toContain(held)
  })
})

describe('derived outputs', () => {
  const user = {
    sshCertificateAuthorityRef: { name: 'ci' },
    publicKey: sshKeys.ed25519,
    principals: ['alice'],
    validFor: '9m',
    output: { secret: { name: 'ci' } },
  }
  const USER = 'SSHUserCertificate'
  const CERTIFICATES = 'ssh_user_certificates'
  const AUTHORITY = 'SSHCertificateAuthority'
  const AUTHORITIES = 'ssh_certificate_authorities'
  const authority = { output: { configMap: { name: 'ci' } } }
  const of = (world: SimulatedWorld, kind: string, type: string) => conditionOf(world.get(kind, 'ci'), type)

  function showsCertificate(certificate: unknown, method?: string): Trouble {
    return showing(CERTIFICATES, (object) => ({ ...object, certificate }), method)
  }

  function showsKey(publicKey: unknown): Trouble {
    return showing(AUTHORITIES, (object) => ({ ...object, public_key: publicKey }))
  }

  function published(world: SimulatedWorld): DataObject['data'] {
    return world.kube.get<DataObject>(configMapType, { namespace: NAMESPACE, name: 'ci' })?.data
  }

  test.each(unfitCertificates)(
    'hold no certificate that is %s: its object goes, and creates get rare',
    async (_, value) => {
      const { world, writes } = await begin([USER, AUTHORITY])
      world.apply(AUTHORITY, 'ci', {})
      await ready(world, AUTHORITY, 'ci')
      world.trouble = showsCertificate(value)
      world.apply(USER, 'ci', user)
      await world.advance(HOUR)
      expect(of(world, USER, 'Synced')).toMatchObject({ reason: 'AnswerRefused' })
      expect(secretOf(world, 'ci')).toBeUndefined()
      expect(await objectsIn(world, CERTIFICATES)).toEqual([])
      expect(countOf(writes, `api POST /${CERTIFICATES}`)).toBeLessThanOrEqual(8)
      world.trouble = showsCertificate(certificateLine())
      await ready(world, USER, 'ci', 2 * HOUR)
      expect(secretOf(world, 'ci')?.['id-cert.pub']).toBe(`${certificateLine()}\n`)
    },
  )

  test.each(unfitKeys)('hold no public key that is %s', async (_, value) => {
    const { world, writes } = await begin([AUTHORITY])
    world.trouble = showsKey(value)
    world.apply(AUTHORITY, 'ci', authority)
    await world.advance(HOUR)
    expect(of(world, AUTHORITY, 'Synced')).toMatchObject({ reason: 'AnswerRefused' })
    expect(published(world)).toBeUndefined()
    expect(await objectsIn(world, AUTHORITIES)).toEqual([])
    expect(countOf(writes, `api POST /${AUTHORITIES}`)).toBeLessThanOrEqual(8)
  })

  test('stay when a renewal brings a certificate that is none: the current one remains valid until it expires', async () => {
    const { world } = await begin([USER, AUTHORITY])
    world.apply(AUTHORITY, 'ci', {})
    world.apply(USER, 'ci', user)
    const first = await ready(world, USER, 'ci')
    const before = secretOf(world, 'ci')
    world.trouble = showing(CERTIFICATES, (object) => {
      return object.id === first ? object : { ...object, certificate: `${certificateLine()}\nssh-ed25519 AAAA` }
    })
    await world.advance(8 * MINUTE)
    expect(secretOf(world, 'ci')).toEqual(before)
    expect(await idsIn(world, CERTIFICATES)).toEqual([first])
    expect(of(world, USER, 'Renewed')).toMatchObject({ status: 'False', reason: 'RenewalFailing' })
  })

  test('stay when a later answer is unfit, and so does the object', async () => {
    const { world, writes } = await begin([AUTHORITY])
    world.apply(AUTHORITY, 'ci', authority)
    const id = await ready(world, AUTHORITY, 'ci')
    const before = published(world)
    expect(before).toBeDefined()
    for (const [, value] of unfitKeys) {
      world.trouble = showsKey(value)
      await world.advance(3 * MINUTE)
      expect(of(world, AUTHORITY, 'Synced')).toMatchObject({ status: 'False', reason: 'AnswerRefused' })
      expect(published(world)).toEqual(before)
    }
    expect(isReady(world, AUTHORITY, 'ci', ['Ready'])).toBe(true)
    expect(writes.filter((write) => write.includes('DELETE'))).toEqual([])
    expect(await idsIn(world, AUTHORITIES)).toEqual([id])
  })

  test('take a key whose spelling is ordinary', async () => {
    const { world } = await begin([AUTHORITY])
    world.trouble = showsKey(authorityLine)
    world.apply(AUTHORITY, 'ci', authority)
    await ready(world, AUTHORITY, 'ci')
    expect(published(world)?.['ca.pub']).toBe(`${authorityLine}\n`)
  })
})
