import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectRefusal, type Resource } from '../builders/contract/api-client.ts'
import { fingerprint, readCertificate } from '../builders/contract/read-certificate.ts'
import { hardwareKeys, sshKeys } from '../builders/contract/ssh-keys.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { openSSH } from '../builders/openssh.ts'
import { stated } from './facts/rules/all.ts'

let world: World
let sshKeygen: string
let authority: Resource
beforeAll(async () => {
  world = await startWorld()
  sshKeygen = await openSSH('ssh-keygen')
  authority = await world.api.create('ssh_certificate_authorities', {})
})
afterAll(() => world.close())

const day = 24 * 3600
const collections = ['ssh_user_certificates', 'ssh_host_certificates'] as const
type Body = Readonly<Record<string, unknown>>

const bodyOf = (fields: Body = {}): Body => ({
  ssh_certificate_authority_id: authority.id,
  public_key: sshKeys.ed25519,
  ...fields,
})
const certify = (path: string, fields: Body = {}): Promise<Resource> => world.api.create(path, bodyOf(fields))

async function expectRefused(path: string, fields: Body, name: string): Promise<void> {
  const answer = await world.api.call('POST', `/${path}`, { body: bodyOf(fields) })
  expect(answer.status, `${JSON.stringify(fields)}: ${answer.text}`).toBe(400)
  expect(String(expectRefusal(answer, 400, name).details.field).split(/[.[]/)[0]).toBe(name)
}

describe('SSH certificate authorities', () => {
  const path = 'ssh_certificate_authorities'
  const bitsOf = (line: unknown): number => Buffer.from(String(line).split(' ')[1] ?? '', 'base64').length

  test(stated('ssh-ca.defaults'), async () => {
    const types = [
      [{}, 'ed25519', 'ssh-ed25519'],
      [{ private_key_type: 'ed25519' }, 'ed25519', 'ssh-ed25519'],
      [{ private_key_type: 'ecdsa' }, 'ecdsa', 'ecdsa-sha2-nistp256'],
      [{ private_key_type: 'ecdsa', elliptic_curve: 'P-384' }, 'ecdsa', 'ecdsa-sha2-nistp384'],
      [{ private_key_type: 'ecdsa', elliptic_curve: 'P-521' }, 'ecdsa', 'ecdsa-sha2-nistp521'],
      [{ private_key_type: 'ecdsa', elliptic_curve: 'p256' }, 'ecdsa', 'ecdsa-sha2-nistp256'],
      [{ private_key_type: 'ecdsa', elliptic_curve: 'secp384r1' }, 'ecdsa', 'ecdsa-sha2-nistp384'],
      [{ private_key_type: 'ecdsa', elliptic_curve: '', key_size: 0 }, 'ecdsa', 'ecdsa-sha2-nistp256'],
      [{ private_key_type: '', elliptic_curve: '', key_size: 0 }, 'ed25519', 'ssh-ed25519'],
      [{ private_key_type: 'rsa' }, 'rsa', 'ssh-rsa'],
    ] as const
    for (const [body, key_type, format] of types) {
      const created = await world.api.create(path, body)
      expect(created.key_type, JSON.stringify(body)).toBe(key_type)
      expect(String(created.public_key).split(' ')[0]).toBe(format)
      // Name, exponent and 4096 bits with their lengths and a sign byte.
      if (key_type === 'rsa') expect(bitsOf(created.public_key)).toBe(4 + 7 + 4 + 3 + 4 + 1 + 512)
    }
    const small = await world.api.create(path, { private_key_type: 'rsa', key_size: 2048 })
    expect(bitsOf(small.public_key)).toBe(4 + 7 + 4 + 3 + 4 + 1 + 256)
  })

  test(stated('ssh-ca.fields-fit'), async () => {
    const misfits: readonly (readonly [Body, string])[] = [
      [{ elliptic_curve: 'P-256' }, 'elliptic_curve'],
      [{ private_key_type: 'rsa', elliptic_curve: 'P-256' }, 'elliptic_curve'],
      [{ private_key_type: 'ed25519', elliptic_curve: 'P-256' }, 'elliptic_curve'],
      [{ key_size: 2048 }, 'key_size'],
      [{ private_key_type: 'ecdsa', key_size: 2048 }, 'key_size'],
      [{ private_key_type: 'rsa', key_size: 1024 }, 'key_size'],
      [{ private_key_type: 'rsa', key_size: 3072 }, 'key_size'],
      [{ private_key_type: 'ecdsa', elliptic_curve: 'P-224' }, 'elliptic_curve'],
    ]
    for (const [body, name] of misfits) {
      expectRefusal(await world.api.call('POST', `/${path}`, { body }), 400, name)
    }
  })

  test(stated('ssh-ca.public-key'), async () => {
    expect(authority.public_key).toMatch(/^ssh-ed25519 [A-Za-z0-9+/]+=*$/)
    expect(fingerprint(sshKeygen, String(authority.public_key))).toMatch(/^SHA256:/)
    const other = await world.api.create(path, {})
    expect(other.public_key).not.toBe(authority.public_key)
    const updated = await world.api.update(path, other.id, { description: 'renamed' })
    expect(updated.public_key).toBe(other.public_key)
  })

  test(stated('ssh-ca.delete'), async () => {
    for (const collection of collections) {
      const { id: signer } = await world.api.create(path, {})
      const certificate = await certify(collection, { ssh_certificate_authority_id: signer })
      await world.api.remove(`/${path}/${signer}`)
      expect(await world.api.get(collection, certificate.id)).toEqual(certificate)
      await world.api.update(collection, certificate.id, { description: 'still there' })
      await expectRefused(collection, { ssh_certificate_authority_id: signer }, 'ssh_certificate_authority_id')
    }
  })
})

describe.each(collections)('%s', (path) => {
  test(stated('ssh-certificates.key-type'), async () => {
    for (const [name, public_key] of Object.entries(sshKeys)) {
      const created = await certify(path, { public_key })
      expect(created).toMatchObject({ public_key, key_type: name.replace(/\d+$/, name === 'ed25519' ? '25519' : '') })
    }
    for (const [key_type, public_key] of Object.entries(hardwareKeys)) {
      const created = await certify(path, { public_key })
      const [type = ''] = public_key.split('@')
      expect(created).toMatchObject({ public_key, key_type })
      expect(String(created.certificate).split(' ')[0]).toBe(`${type}-cert-v01@openssh.com`)
    }
  })

  test(stated('ssh-certificates.public-key'), async () => {
    const [type = '', blob = ''] = sshKeys.ed25519.split(' ')
    const certificate = String((await certify(path)).certificate)
    for (const public_key of ['', 'ssh-ed25519', blob, `ssh-rsa ${blob}`, `${type} ${blob.slice(4)}`, certificate]) {
      await expectRefused(path, { public_key }, 'public_key')
    }
  })

  test('an authority that does not exist is a 400 naming field and id', async () => {
    const body = bodyOf({ ssh_certificate_authority_id: 'sshca_none' })
    expectRefusal(await world.api.call('POST', `/${path}`, { body }), 400, 'ssh_certificate_authority_id', 'sshca_none')
  })

  test(stated('ssh-certificates.validity'), async () => {
    const seconds = (time: unknown): number => Date.parse(String(time)) / 1000
    const standard = await certify(path)
    expect(standard.valid_after).toBe(standard.created_at)
    const length = seconds(standard.valid_until) - seconds(standard.created_at)
    expect(length).toBe(path === 'ssh_user_certificates' ? day : 365 * day)

    const valid_after = '2030-01-01T00:00:00Z'
    for (const valid_until of ['2030-01-01T00:00:00Z', '2029-12-31T23:59:59Z']) {
      await expectRefused(path, { valid_after, valid_until }, 'valid_until')
    }
    const short = await certify(path, { valid_after, valid_until: '2030-01-01T00:00:01Z' })
    expect(short).toMatchObject({ valid_after, valid_until: '2030-01-01T00:00:01Z' })
    // Each is checked against the default of the other.
    await expectRefused(path, { valid_until: '2020-01-01T00:00:00Z' }, 'valid_until')
    await expectRefused(path, { valid_after: '2090-01-01T00:00:00Z' }, 'valid_until')
  })

  test('the defaults of the validity follow the emulated clock', async () => {
    await world.admin.advance(1000 * day)
    const { valid_after, certificate } = await certify(path)
    expect(Math.abs(Date.parse(String(valid_after)) - (await world.admin.now()))).toBeLessThan(day * 1000)
    expect(readCertificate(sshKeygen, String(certificate)).validAfter).toBe(valid_after)
  })

  test(stated('ssh-certificates.times'), async () => {
    const created = await certify(path, {
      valid_after: '2029-12-31T23:30:00.75-01:00',
      valid_until: '9999-12-31t23:59:59z',
    })
    expect(created).toMatchObject({ valid_after: '2030-01-01T00:30:00Z', valid_until: '9999-12-31T23:59:59Z' })
    expect(readCertificate(sshKeygen, String(created.certificate)).validBefore).toBe('9999-12-31T23:59:59Z')
    for (const valid_after of [
      'now',
      '2030-01-01',
      '2030-01-01T00:00:00',
      '2030-01-01 00:00:00Z',
      '2030-02-30T00:00:00Z',
      '2030-01-01T24:00:00Z',
      '2030-01-01T00:00:60Z',
      '2030-01-01T00:00:00+24:00',
      '1969-12-31T23:59:59Z',
      '9999-12-31T23:59:59-01:00',
    ]) {
      await expectRefused(path, { valid_after, valid_until: '9999-12-31T23:59:59Z' }, 'valid_after')
    }
  })

  test(stated('ssh-certificates.principals'), async () => {
    const most = Array.from({ length: 256 }, (_, index) => `user-${index}`)
    const created = await certify(path, { principals: most })
    expect(created.principals).toEqual(most)
    expect(readCertificate(sshKeygen, String(created.certificate)).principals).toEqual(most)
    await expectRefused(path, { principals: [...most, 'one-more'] }, 'principals')
    await expectRefused(path, { principals: ['root', ''] }, 'principals')
    await expectRefused(path, { principals: ['root\0'] }, 'principals')
  })
})

describe('options of user certificates', () => {
  const path = 'ssh_user_certificates'
  const read = async (fields: Body) => readCertificate(sshKeygen, String((await certify(path, fields)).certificate))

  test(stated('ssh-certificates.critical-options'), async () => {
    for (const name of ['verify-required', 'permit-pty', 'Force-Command', '']) {
      await expectRefused(path, { critical_options: { [name]: 'x' } }, 'critical_options')
    }
    const { criticalOptions } = await read({ critical_options: { 'force-command': 'ls -l' } })
    expect(criticalOptions).toEqual(['force-command ls -l'])
    await expectRefused(path, { critical_options: { 'force-command': '' } }, 'critical_options')
    await expectRefused(path, { critical_options: { 'force-command': 'ls\0-l' } }, 'critical_options')
  })

  test(stated('ssh-certificates.source-address'), async () => {
    for (const addresses of ['192.0.2.1', '192.0.2.0/24,2001:db8::/32', '::1/128']) {
      const { criticalOptions } = await read({ critical_options: { 'source-address': addresses } })
      expect(criticalOptions).toEqual([`source-address ${addresses}`])
    }
    for (const addresses of ['', 'example.org', '192.0.2.1/24', '192.0.2.1, 192.0.2.2', '192.0.2.1,', '10.0.0.0/33']) {
      await expectRefused(path, { critical_options: { 'source-address': addresses } }, 'critical_options')
    }
  })

  test(stated('ssh-certificates.extensions'), async () => {
    const standard = await certify(path)
    expect(standard.extensions).toEqual({ 'permit-pty': '', 'permit-user-rc': '' })
    expect((await certify(path, { extensions: null })).extensions).toEqual(standard.extensions)
    const none = await certify(path, { extensions: {} })
    expect(none.extensions).toEqual({})
    expect(readCertificate(sshKeygen, String(none.certificate)).extensions).toEqual([])
    const own = await certify(path, { extensions: { 'login@github.example': 'somebody' } })
    expect(own.extensions).toEqual({ 'login@github.example': 'somebody' })
    await expectRefused(path, { extensions: { 'permit-pty': 'yes' } }, 'extensions')
    await expectRefused(path, { extensions: { '': '' } }, 'extensions')
  })

  test('are not known to host certificates', async () => {
    for (const name of ['critical_options', 'extensions']) {
      await expectRefused('ssh_host_certificates', { [name]: {} }, name)
    }
  })
})
