import { expect, test } from 'vitest'
import type { KubeObject } from '../../src/kube/types.ts'
import { sshKeys } from '../builders/contract/ssh-keys.ts'
import { until } from './support/wait.ts'
import { conditionOf, core, type Resource, World } from './support/world.ts'

const authorityRef = { sshCertificateAuthorityRef: { name: 'team' } }
const alice = {
  ...authorityRef,
  publicKey: sshKeys.ed25519,
  principals: ['alice'],
  output: { secret: { name: 'alice-certificate' } },
}

async function withAuthority(): Promise<World> {
  const world = await World.open()
  await world.apply('SSHCertificateAuthority', 'team', {})
  return world
}

/** The certificate that the Secret holds. */
async function held(world: World): Promise<string> {
  const key = { namespace: world.namespace, name: 'alice-certificate' }
  const secret = await world.kube.get<KubeObject & { data?: Record<string, string> }>(core('secrets', 'Secret'), key)
  return Buffer.from(secret?.data?.['id-cert.pub'] ?? '', 'base64').toString()
}

/** Waits until another object has taken the place of the one that `before` stood for. */
async function replaced(world: World, kind: string, before: Resource): Promise<Resource> {
  return world.until(kind, before.metadata.name, 'stands for another object', ({ status = {} }) => {
    return status.id !== before.status?.id && status.internal?.superseded === undefined
  })
}

/** The one certificate of the account, once there is no other and the Secret holds it. */
async function only(world: World, path = 'ssh_user_certificates'): Promise<Record<string, unknown>> {
  return until('one certificate is left', async () => {
    const [first, ...others] = await world.remote(path)
    return others.length === 0 ? first : undefined
  })
}

test('a change issues a new certificate, which replaces the old one at the API and in the Secret', async () => {
  await using world = await withAuthority()
  await world.apply('SSHUserCertificate', 'alice', alice)
  const before = await world.ready('SSHUserCertificate', 'alice')
  const mark = world.mark()

  await world.apply('SSHUserCertificate', 'alice', {
    ...alice,
    principals: ['alice', 'deploy'],
    description: 'on call',
  })
  const after = await replaced(world, 'SSHUserCertificate', before)
  expect(await only(world)).toMatchObject({ id: after.status?.id, principals: ['alice', 'deploy'] })
  await until('the Secret has it', async () => (await held(world)) === `${after.status?.certificate}\n`)
  const writes = world.writes(mark).map(({ method, path }) => `${method} ${path}`)
  expect(writes).toEqual(['POST /ssh_user_certificates', `DELETE /ssh_user_certificates/${before.status?.id}`])

  // Order and comment mean nothing, nor does time.
  const same = { ...alice, publicKey: `${sshKeys.ed25519} too\n`, principals: ['deploy', 'alice'], validFor: '24h' }
  await world.apply('SSHUserCertificate', 'alice', { ...same, description: 'on call' })
  expect((await world.ready('SSHUserCertificate', 'alice')).status?.id).toBe(after.status?.id)
  await world.resync()
  expect(world.writes(mark)).toHaveLength(2)
})

test('another public key in the Secret issues another certificate, and a private key is refused and sent nowhere', async () => {
  await using world = await withAuthority()
  const { publicKey: _, ...rest } = alice
  const spec = { ...rest, publicKeyFrom: { secretKeyRef: { name: 'alice-key', key: 'id.pub' } } }
  await world.secret('alice-key', { 'id.pub': sshKeys.ed25519 })
  await world.apply('SSHUserCertificate', 'alice', spec)
  await world.ready('SSHUserCertificate', 'alice')
  await world.secret('alice-key', { 'id.pub': sshKeys.ecdsa384 })
  const after = await world.until('SSHUserCertificate', 'alice', 'is of the other key', ({ status }) => {
    return status?.keyType === 'ecdsa' && status.internal?.superseded === undefined
  })
  expect(await only(world)).toMatchObject({ id: after.status?.id, public_key: sshKeys.ecdsa384 })

  const mark = world.mark()
  await world.secret('alice-key', { 'id.pub': '-----BEGIN OPENSSH PRIVATE KEY-----\nsecret\n' })
  const synced = await world.reason('SSHUserCertificate', 'alice', 'Synced', 'InvalidInput')
  expect(synced.message).toContain('spec.publicKeyFrom: contains a private key')
  expect(world.writes(mark)).toEqual([])
})

test('a certificate that expires as its spec says is no longer Ready from then on, and nothing is written to the API', {
  tags: 'nightly',
}, async () => {
  await using world = await withAuthority()
  const validUntil = new Date(Date.now() + 6000).toISOString()
  await world.apply('SSHUserCertificate', 'alice', { ...alice, validUntil })
  await world.until('SSHUserCertificate', 'alice', 'was issued', ({ status }) => status?.certificate !== undefined)
  const mark = world.mark()
  const expired = await world.reason('SSHUserCertificate', 'alice', 'Ready', 'Expired')
  expect(expired.message).toContain('set a later validUntil')
  expect(conditionOf(await world.get('SSHUserCertificate', 'alice'), 'Stalled')?.status).toBe('True')
  expect(world.writes(mark)).toEqual([])

  await world.apply('SSHUserCertificate', 'alice', { ...alice, validFor: '1h' })
  await world.ready('SSHUserCertificate', 'alice')
})

test('an authority that was deleted at the API is recreated, and its certificates are reissued', {
  tags: 'nightly',
}, async () => {
  await using world = await withAuthority()
  const spec = {
    ...authorityRef,
    publicKey: sshKeys.rsa,
    principals: ['a.example.com'],
    output: { configMap: { name: 'host' } },
  }
  await world.apply('SSHHostCertificate', 'host', spec)
  const before = await world.ready('SSHHostCertificate', 'host')
  const authority = await world.ready('SSHCertificateAuthority', 'team')
  await world.api.delete(`/ssh_certificate_authorities/${authority.status?.id}`)
  await world.resync()
  const after = await replaced(world, 'SSHHostCertificate', before)
  const { status } = await world.ready('SSHCertificateAuthority', 'team')
  expect(await only(world, 'ssh_host_certificates')).toMatchObject({
    id: after.status?.id,
    ssh_certificate_authority_id: status?.id,
  })
  const key = { namespace: world.namespace, name: 'host' }
  await until('clients receive the new key', async () => {
    const map = await world.kube.get<KubeObject & { data?: Record<string, string> }>(
      core('configmaps', 'ConfigMap'),
      key,
    )
    return map?.data?.known_hosts === `@cert-authority a.example.com ${status?.publicKey}\n`
  })
})
