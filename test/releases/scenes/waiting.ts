import { caPem } from '../../builders/contract/ca-pem.ts'
import { managed } from '../../cluster/support/cases.ts'
import type { World } from '../../cluster/support/world.ts'
import { specsOf } from '../../kinds/lookup.ts'
import { type Scene, type Subject, saying } from '../scene.ts'

const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }

/** One spec with references of each kind. */
const referring = managed.flatMap(({ definition: { kind } }) => {
  return specsOf(kind)
    .filter(({ needs }) => needs('any').length > 0)
    .slice(0, 1)
})

/** Nothing has been created for any of these: they wait for others, or people must correct them. */
export const waiting: Scene = {
  name: 'waiting',
  about: 'Resources that wait for what they refer to, or that nobody can carry out until somebody corrects something.',
  async play({ world }) {
    return [...(await forReferences(world)), ...(await forInputs(world)), ...(await forCorrection(world))]
  },
}

async function forReferences(world: World): Promise<readonly Subject[]> {
  const name = 'reference'
  for (const { kind, spec } of referring) await world.apply(kind, name, spec(name))
  await world.apply('Backend', 'no-account', { ...tunnels, accountRef: { name: 'missing' } })
  const told = referring.map(({ kind }) => saying(world, kind, name, 'ReferenceNotReady', 'InProgress'))
  return Promise.all([...told, saying(world, 'Backend', 'no-account', 'AccountNotReady', 'InProgress')])
}

async function forInputs(world: World): Promise<readonly Subject[]> {
  const key = { name: 'missing', key: 'value' }
  await world.apply('EventDestination', 'secret', { type: 'Monitor', monitor: { apiKeySecretRef: key } })
  await world.apply('CertificateAuthority', 'config-map', { caPEMFrom: { configMapKeyRef: key } })
  await world.apply('SSHCredential', 'secret', { publicKeyFrom: { secretKeyRef: key } })
  const privateKey = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n'
  await world.configMap('bad-input', { pem: `${caPem}${privateKey}` })
  const bad = { configMapKeyRef: { name: 'bad-input', key: 'pem' } }
  await world.apply('CertificateAuthority', 'bad-input', { caPEMFrom: bad })
  return [
    await saying(world, 'EventDestination', 'secret', 'SecretMissing', 'InProgress'),
    await saying(world, 'SSHCredential', 'secret', 'SecretMissing', 'InProgress'),
    await saying(world, 'CertificateAuthority', 'config-map', 'ConfigMapMissing', 'InProgress'),
    await saying(world, 'CertificateAuthority', 'bad-input', 'InvalidInput', 'Failed'),
  ]
}

async function forCorrection(world: World): Promise<readonly Subject[]> {
  const failed = (kind: string, name: string, reason: string) => saying(world, kind, name, reason, 'Failed')
  for (const [name, other] of [
    ['cycle-a', 'cycle-b'],
    ['cycle-b', 'cycle-a'],
  ] as const) {
    await world.apply('Backend', name, { type: 'Failover', failover: { backendRefs: [{ name: other }] } })
  }
  await world.apply('Backend', 'bad-spec', { ...tunnels, rawMetadata: '{"culvert":{}}' })
  await world.apply('IPPolicy', 'own-rules', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  await world.ready('IPPolicy', 'own-rules')
  const rule = { ipPolicyRef: { name: 'own-rules' }, cidr: '10.1.0.0/16', action: 'Allow' }
  await world.apply('IPPolicyRule', 'refused', rule)
  for (const kind of ['APIKey', 'TunnelCredential']) {
    await world.secret('of-somebody-else', { keep: 'theirs' })
    await world.apply(kind, 'foreign-secret', { output: { secret: { name: 'of-somebody-else' } } })
  }
  await world.apply('SSHCertificateAuthority', 'foreign-config-map', { output: { configMap: { name: 'bad-input' } } })
  await world.api.create('/reserved_domains', { domain: 'taken.tunnel.example' })
  await world.apply('ReservedDomain', 'taken', { domain: 'taken.tunnel.example' })
  await world.apply('Edge', 'unknown-id', { protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ id: 'ipp_unknown' }] } })
  const unknown = { externalID: 'bkdtg_unknown', managementPolicy: 'Observe' }
  await world.apply('Backend', 'observes-nothing', { ...tunnels, ...unknown })
  return [
    await failed('Backend', 'cycle-a', 'ReferenceCycle'),
    await failed('Backend', 'cycle-b', 'ReferenceCycle'),
    await failed('Backend', 'bad-spec', 'InvalidSpec'),
    await failed('IPPolicyRule', 'refused', 'ReferenceRefused'),
    await failed('APIKey', 'foreign-secret', 'OutputNotOwned'),
    await failed('TunnelCredential', 'foreign-secret', 'OutputNotOwned'),
    await failed('SSHCertificateAuthority', 'foreign-config-map', 'OutputNotOwned'),
    await failed('ReservedDomain', 'taken', 'Conflict'),
    await failed('Edge', 'unknown-id', 'Rejected'),
    await failed('Backend', 'observes-nothing', 'RemoteMissing'),
    ...(await notTaken(world)),
  ]
}

/** Remote objects that these resources may not have. */
async function notTaken(world: World): Promise<readonly Subject[]> {
  await world.apply('Backend', 'owner', tunnels)
  const { status } = await world.ready('Backend', 'owner')
  const held = { externalID: String(status?.id), managementPolicy: 'Observe' }
  await world.apply('Backend', 'not-adoptable', { ...tunnels, ...held })
  const id = await world.api.create('/backends/tunnel_group')
  await world.apply('Backend', 'vanished', { ...tunnels, externalID: id, managementPolicy: 'Manage' })
  await world.ready('Backend', 'vanished')
  await world.api.delete(`/backends/tunnel_group/${id}`)
  await world.resync()
  const former = await world.api.create('/backends/http_response', { body: 'of a former life', status_code: 200 })
  const restored = { type: 'HTTPResponse', httpResponse: { body: 'of a former life', statusCode: 200 } }
  const note = `${world.namespace}/former-life/11111111-2222-3333-4444-555555555555/${former}/0123456789abcdef`
  await world.apply('Backend', 'former-life', restored, { annotations: { 'internal.culvert.dev/id': note } })
  return [
    await saying(world, 'Backend', 'not-adoptable', 'NotAdoptable', 'Failed'),
    await saying(world, 'Backend', 'vanished', 'RemoteMissing', 'Failed'),
    await saying(world, 'Backend', 'former-life', 'AlreadyExists', 'Failed'),
  ]
}
