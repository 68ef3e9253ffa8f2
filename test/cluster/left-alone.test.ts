import { expect, test } from 'vitest'
import type { JournalEntry } from '../../src/emulator/http/journal.ts'
import { refTo } from '../kinds/shared/objects.ts'
import { conditionOf, type Resource, World } from './support/world.ts'

type Body = Readonly<Record<string, unknown>>

/** Fields of each PATCH, `id` aside: every update body carries it. Of one that a fault has refused nothing is reported. */
function patched(entries: readonly JournalEntry[]): readonly Body[] {
  return entries
    .filter(({ method }) => method === 'PATCH')
    .map(({ body }) => Object.fromEntries(Object.entries((body ?? {}) as Body).filter(([name]) => name !== 'id')))
}

async function openSeeded(): Promise<World> {
  const world = await World.open()
  world.emulator.admin.seed({
    objects: {
      tls_certificates: [{ id: 'cert_mine' }],
      endpoint_configurations: [{ id: 'ec_one' }, { id: 'ec_two' }],
    },
  })
  return world
}

const domain = 'shop.tunnel.example'
const managed = { domain, certificate: { type: 'Managed' } }

async function held(world: World): Promise<Body> {
  const [object] = await world.remote('reserved_domains')
  return object ?? {}
}

test('for an API that refuses a policy next to the certificate, the certificate is cleared first', {
  tags: 'nightly',
}, async () => {
  await using world = await openSeeded()
  await world.apply('ReservedDomain', 'shop', { domain })
  const { status } = await world.ready('ReservedDomain', 'shop')
  const path = `/reserved_domains/${status?.id}`
  // By somebody else: it may be left of a policy, as far as anybody can tell.
  await world.api.patch(path, { id: status?.id, certificate_id: 'cert_mine' })
  await world.resync()
  await world.ready('ReservedDomain', 'shop')
  expect(await held(world)).toMatchObject({ certificate: refTo('cert_mine') })
  const mark = world.mark()
  world.emulator.admin.addFault({ match: { method: 'PATCH', path }, act: { type: 'status', status: 400 } })
  await world.apply('ReservedDomain', 'shop', managed)
  await world.ready('ReservedDomain', 'shop')
  const policy = { authority: 'letsencrypt', private_key_type: 'rsa' }
  expect(patched(world.writes(mark))).toEqual([{}, { certificate_id: null, certificate_management_policy: policy }])
})

test('endpoint configurations attached by others stay, and those that the spec named go with it', async () => {
  await using world = await openSeeded()
  await world.apply('ReservedDomain', 'shop', { domain })
  await world.apply('ReservedAddress', 'shop', { region: 'eu' })
  const ids = [
    (await world.ready('ReservedDomain', 'shop')).status?.id,
    (await world.ready('ReservedAddress', 'shop')).status?.id,
  ]
  const [domainPath, addressPath] = [`/reserved_domains/${ids[0]}`, `/reserved_addrs/${ids[1]}`]
  const theirs = { http_endpoint_configuration_id: 'ec_one', https_endpoint_configuration_id: 'ec_one' }
  await world.api.patch(domainPath, { id: ids[0], ...theirs })
  await world.api.patch(addressPath, { id: ids[1], endpoint_configuration_id: 'ec_one' })
  const mark = world.mark()
  await world.resync()
  await world.apply('ReservedDomain', 'shop', { domain, description: 'edited' })
  await world.apply('ReservedAddress', 'shop', { region: 'eu', description: 'edited' })
  await world.ready('ReservedDomain', 'shop')
  await world.ready('ReservedAddress', 'shop')
  expect(patched(world.writes(mark))).toEqual([{ description: 'edited' }, { description: 'edited' }])

  // Named in the spec they are the spec's, and then go with it; the other one stays theirs.
  const ours = { httpEndpointConfigurationRef: { id: 'ec_two' } }
  await world.apply('ReservedDomain', 'shop', { domain, description: 'edited', ...ours })
  await world.apply('ReservedAddress', 'shop', {
    description: 'edited',
    endpointConfigurationRef: { id: 'ec_one' },
    region: 'eu',
  })
  await world.ready('ReservedDomain', 'shop')
  await world.ready('ReservedAddress', 'shop')
  await world.apply('ReservedDomain', 'shop', { domain, description: 'edited' })
  await world.apply('ReservedAddress', 'shop', { region: 'eu', description: 'edited' })
  await world.ready('ReservedDomain', 'shop')
  await world.ready('ReservedAddress', 'shop')
  expect((await world.api.get(domainPath)).body).toMatchObject({
    http_endpoint_configuration: null,
    https_endpoint_configuration: refTo('ec_one'),
  })
  expect((await world.api.get(addressPath)).body).toMatchObject({ endpoint_configuration: null })
})

const sinkhole = { type: 'HTTPResponse', httpResponse: { statusCode: 503 } }

test('an ingress whose key type changes stays Ready while its certificate works', { tags: 'nightly' }, async () => {
  await using world = await World.open({ emulator: { certSeconds: 5 } })
  const spec = (privateKeyType: string) => ({
    domain: 'agents.tunnel.example',
    certificate: { type: 'Managed', managed: { privateKeyType } },
  })
  await world.apply('AgentIngress', 'agents', spec('RSA'))
  await world.reason('AgentIngress', 'agents', 'Ready', 'CertificatePending')
  await world.ready('AgentIngress', 'agents')
  const seen: string[] = []
  await world.apply('AgentIngress', 'agents', spec('ECDSA'))
  const hasJob = (cr: Resource): boolean => cr.status?.provisioningJob !== undefined
  await world.until('AgentIngress', 'agents', 'has another certificate made', (cr) => {
    if (hasJob(cr)) seen.push(`${conditionOf(cr, 'Ready')?.status} ${conditionOf(cr, 'CertificateReady')?.reason}`)
    return hasJob(cr)
  })
  expect(seen).toEqual(['True CertificateIssued'])
  await world.until('AgentIngress', 'agents', 'has it', (cr) => {
    expect(conditionOf(cr, 'Ready')?.status).toBe('True')
    return !hasJob(cr)
  })
})

test('one backend named twice is refused with both paths, and accepted once one of them is gone', async () => {
  await using world = await World.open()
  await world.apply('Backend', 'web', sinkhole)
  const id = (await world.ready('Backend', 'web')).status?.id
  const twice = [{ name: 'web' }, { id }]
  await world.apply('Backend', 'order', { type: 'Failover', failover: { backendRefs: twice } })
  const weighted = { backendRefs: twice.map((ref) => ({ ...ref, weight: 1 })) }
  await world.apply('Backend', 'shares', { type: 'Weighted', weighted })
  for (const [name, list] of [
    ['order', 'failover'],
    ['shares', 'weighted'],
  ] as const) {
    const { message } = await world.reason('Backend', name, 'Synced', 'InvalidSpec')
    expect(message).toContain(
      `spec.${list}.backendRefs[0] and spec.${list}.backendRefs[1] refer to the same Backend (${id})`,
    )
  }
  expect(await world.remote('backends/failover')).toEqual([])
  await world.apply('Backend', 'order', { type: 'Failover', failover: { backendRefs: [{ name: 'web' }] } })
  await world.ready('Backend', 'order')
})

test('a policy that was deleted at the API stays in its edge and does not block adding another', {
  tags: 'nightly',
}, async () => {
  await using world = await World.open()
  const policies = await Promise.all(
    ['10.0.0.0/8', '172.16.0.0/12', '192.0.2.1/32'].map(async (cidr) => {
      const id = await world.api.create('/ip_policies')
      await world.api.create('/ip_policy_rules', { ip_policy_id: id, cidr, action: 'allow' })
      return id
    }),
  )
  const restricted = (...ids: readonly string[]) => ({
    protocol: 'TCP',
    ipRestriction: { ipPolicyRefs: ids.map((id) => ({ id })) },
  })
  const [first = '', second = '', third = ''] = policies
  await world.apply('Edge', 'shop', restricted(first, second))
  await world.apply('IPRestriction', 'agents', { type: 'Agent', ipPolicyRefs: [{ id: first }, { id: second }] })
  await world.ready('Edge', 'shop')
  await world.ready('IPRestriction', 'agents')
  await world.api.delete(`/ip_policies/${first}`)
  const mark = world.mark()
  await world.resync()
  await world.apply('Edge', 'shop', { ...restricted(first, second), description: 'edited' })
  await world.ready('Edge', 'shop')
  expect(patched(world.writes(mark))).toEqual([{ description: 'edited' }])

  await world.apply('Edge', 'shop', restricted(first, second, third))
  await world.apply('IPRestriction', 'agents', {
    type: 'Agent',
    ipPolicyRefs: [{ id: first }, { id: second }, { id: third }],
  })
  await world.ready('Edge', 'shop', 60_000)
  await world.ready('IPRestriction', 'agents', 60_000)
  const ids = (policy: Body): unknown =>
    (policy as { readonly ip_policies: readonly { id: string }[] }).ip_policies.map(({ id }) => id)
  const [edge] = await world.remote('edges/tcp')
  expect(ids(edge?.ip_restriction as Body)).toEqual([second, third])
  const [restriction] = await world.remote('ip_restrictions')
  expect(ids(restriction ?? {})).toEqual([second, third])
  const after = world.mark()
  await world.resync()
  await world.ready('Edge', 'shop')
  expect(world.writes(after)).toEqual([])
})

test('an SSH authority is deleted despite expired certificates, and names the unmanaged ones with a remedy', async () => {
  await using world = await World.open()
  await world.apply('SSHCertificateAuthority', 'team', {})
  const { status } = await world.ready('SSHCertificateAuthority', 'team')
  const body = {
    ssh_certificate_authority_id: status?.id,
    public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIONcyrIpYBPfb2q3df2M5Se4kcmqFcH9W7jHLbR3jC6v',
    principals: ['alice'],
  }
  const past = { valid_after: '2020-01-01T00:00:00Z', valid_until: '2020-01-02T00:00:00Z' }
  await world.api.create('/ssh_user_certificates', { ...body, ...past })
  const valid = await world.api.create('/ssh_user_certificates', body)
  // A certificate of a resource that names its end is not renewed.
  await world.apply('SSHUserCertificate', 'former', {
    sshCertificateAuthorityRef: { name: 'team' },
    publicKey: body.public_key,
    principals: ['bob'],
    validAfter: past.valid_after,
    validUntil: past.valid_until,
  })
  await world.reason('SSHUserCertificate', 'former', 'Ready', 'Expired')
  await world.delete('SSHCertificateAuthority', 'team')
  const waiting = await world.until('SSHCertificateAuthority', 'team', 'says what holds it', (cr) => {
    return conditionOf(cr, 'Ready')?.message.includes(valid) === true
  })
  const message = conditionOf(waiting, 'Ready')?.message
  expect(message).toMatch(new RegExp(`^in use by ssh_user_certificates/${valid}\\. `))
  expect(message).toContain('delete them in the service')
  await world.api.delete(`/ssh_user_certificates/${valid}`)
  await world.annotate('SSHCertificateAuthority', 'team', { 'culvert.dev/reconcile-requested-at': 'now' })
  await world.gone('SSHCertificateAuthority', 'team', 60_000)
})
