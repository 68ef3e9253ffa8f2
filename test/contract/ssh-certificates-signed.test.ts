import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Resource } from '../builders/contract/api-client.ts'
import { fingerprint, readCertificate } from '../builders/contract/read-certificate.ts'
import { sshKeys } from '../builders/contract/ssh-keys.ts'
import { startWorld, type World } from '../builders/contract/world.ts'
import { openSSH } from '../builders/openssh.ts'
import { stated } from './facts/rules/all.ts'

let world: World
let sshKeygen: string
beforeAll(async () => {
  world = await startWorld()
  sshKeygen = await openSSH('ssh-keygen')
})
afterAll(() => world.close())

const authorities: readonly { readonly title: string; readonly body: object; readonly signature: string }[] = [
  { title: 'RSA 2048', body: { private_key_type: 'rsa', key_size: 2048 }, signature: 'rsa-sha2-512' },
  { title: 'RSA 4096', body: { private_key_type: 'rsa', key_size: 4096 }, signature: 'rsa-sha2-512' },
  {
    title: 'ECDSA P-256',
    body: { private_key_type: 'ecdsa', elliptic_curve: 'P-256' },
    signature: 'ecdsa-sha2-nistp256',
  },
  {
    title: 'ECDSA P-384',
    body: { private_key_type: 'ecdsa', elliptic_curve: 'P-384' },
    signature: 'ecdsa-sha2-nistp384',
  },
  {
    title: 'ECDSA P-521',
    body: { private_key_type: 'ecdsa', elliptic_curve: 'P-521' },
    signature: 'ecdsa-sha2-nistp521',
  },
  { title: 'Ed25519', body: { private_key_type: 'ed25519' }, signature: 'ssh-ed25519' },
]

const validity = { valid_after: '2026-03-01T12:00:00Z', valid_until: '2031-12-31T23:59:59Z' }

describe.each(authorities)('an authority with $title', ({ body, signature }) => {
  let authority: Resource
  beforeAll(async () => {
    authority = await world.api.create('ssh_certificate_authorities', { ...body })
  })

  /** Common to both uses. */
  const expectSigned = (created: Resource, use: 'user' | 'host', publicKey: string): void => {
    const read = readCertificate(sshKeygen, String(created.certificate))
    expect(read).toMatchObject({
      type: `${publicKey.split(' ')[0]}-cert-v01@openssh.com`,
      use,
      subject: fingerprint(sshKeygen, publicKey),
      authority: fingerprint(sshKeygen, String(authority.public_key)),
      signature,
      keyId: created.id,
      serial: expect.stringMatching(/^[1-9]\d*$/),
      validAfter: created.valid_after,
      validBefore: created.valid_until,
    })
    expect(String(created.certificate).split(' ')[2]).toBe(publicKey.split(' ')[2])
  }

  test.each(Object.entries(sshKeys))(`${stated('ssh-certificates.signed')}: user, %s`, async (_type, public_key) => {
    const created = await world.api.create('ssh_user_certificates', {
      ssh_certificate_authority_id: authority.id,
      public_key,
      principals: ['root', 'deploy'],
      // Not in the order that the format requires.
      critical_options: { 'source-address': '192.0.2.0/24,2001:db8::1', 'force-command': 'date -u "+%F %T"' },
      extensions: { 'permit-user-rc': '', 'permit-X11-forwarding': '', 'group@example.org': 'ops', 'permit-pty': '' },
      ...validity,
    })
    expectSigned(created, 'user', public_key)
    const read = readCertificate(sshKeygen, String(created.certificate))
    expect(read.principals).toEqual(['root', 'deploy'])
    expect(read.criticalOptions).toEqual(['force-command date -u "+%F %T"', 'source-address 192.0.2.0/24,2001:db8::1'])
    expect(read.extensions.map((line) => line.replace(/ UNKNOWN OPTION.*/, ''))).toEqual([
      'group@example.org',
      'permit-X11-forwarding',
      'permit-pty',
      'permit-user-rc',
    ])
  })

  test.each(Object.entries(sshKeys))(`${stated('ssh-certificates.signed')}: host, %s`, async (_type, public_key) => {
    const created = await world.api.create('ssh_host_certificates', {
      ssh_certificate_authority_id: authority.id,
      public_key,
      principals: ['www.example.org', '192.0.2.7'],
      ...validity,
    })
    expectSigned(created, 'host', public_key)
    expect(readCertificate(sshKeygen, String(created.certificate))).toMatchObject({
      principals: ['www.example.org', '192.0.2.7'],
      criticalOptions: [],
      extensions: [],
    })
  })
})

test('a certificate with nothing but defaults is one that OpenSSH reads', async () => {
  const { id } = await world.api.create('ssh_certificate_authorities', {})
  const minimal = { ssh_certificate_authority_id: id, public_key: sshKeys.ed25519 }
  const user = await world.api.create('ssh_user_certificates', minimal)
  expect(readCertificate(sshKeygen, String(user.certificate))).toMatchObject({
    principals: [],
    criticalOptions: [],
    extensions: ['permit-pty', 'permit-user-rc'],
    validAfter: user.created_at,
  })
  const host = await world.api.create('ssh_host_certificates', minimal)
  expect(readCertificate(sshKeygen, String(host.certificate))).toMatchObject({ principals: [], extensions: [] })
  expect(readCertificate(sshKeygen, String(host.certificate)).serial).not.toBe(
    readCertificate(sshKeygen, String(user.certificate)).serial,
  )
})
