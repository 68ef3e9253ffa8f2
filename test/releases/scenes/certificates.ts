import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import { conditionOf, type Resource, type World } from '../../cluster/support/world.ts'
import { DNS_FLAGS, type Scene, type Subject, saying } from '../scene.ts'

const managedCertificate = { certificate: { type: 'Managed' } }

/** Jobs that take longer than any wait. */
export const certificatesPending: Scene = {
  name: 'certificates-pending',
  about: 'Domains and agent ingresses whose certificates are being provisioned.',
  world: { emulator: { certSeconds: 86_400 } },
  async play({ world }) {
    await world.apply('ReservedDomain', 'pending', { domain: 'pending.tunnel.example', ...managedCertificate })
    await world.apply('AgentIngress', 'pending', { domain: 'agents.tunnel.example', ...managedCertificate })
    return [
      await saying(world, 'ReservedDomain', 'pending', 'CertificatePending', 'InProgress'),
      await saying(world, 'AgentIngress', 'pending', 'CertificatePending', 'InProgress'),
    ]
  },
}

/** Reasons that prevent certificates from being issued, and certificates that are not yet or no longer valid. */
export const certificatesFailing: Scene = {
  name: 'certificates-failing',
  about: 'Domains and agent ingresses whose certificates cannot be issued, and SSH certificates outside their time.',
  world: { flags: DNS_FLAGS },
  async play({ world }) {
    const { admin } = world.emulator
    admin.addFault({
      type: 'certificate',
      domain: 'internal.tunnel.example',
      errorCode: 'INTERNAL_ERROR',
      times: 1_000_000,
    })
    await world.apply('ReservedDomain', 'dns', { domain: '*.apps.example.com', ...managedCertificate })
    await world.apply('AgentIngress', 'dns', { domain: 'agents.example.com', ...managedCertificate })
    await world.apply('ReservedDomain', 'internal', { domain: 'internal.tunnel.example', ...managedCertificate })
    await world.apply('ReservedDomain', 'unmanaged', { domain: 'unmanaged.example.com', dns: { endpoint: true } })
    await world.apply('ReservedDomain', 'not-needed', { domain: 'not.tunnel.example', dns: { endpoint: true } })
    const told = await sshCertificates(world)
    return [
      ...told,
      await saying(world, 'ReservedDomain', 'dns', 'DNSError', 'Failed'),
      await saying(world, 'AgentIngress', 'dns', 'DNSError', 'Failed'),
      await saying(world, 'ReservedDomain', 'internal', 'InternalError', 'InProgress'),
      await saying(world, 'ReservedDomain', 'unmanaged', 'CRDNotInstalled', 'Current'),
      await saying(world, 'ReservedDomain', 'not-needed', 'NotNeeded', 'Current'),
    ]
  },
}

async function sshCertificates(world: World): Promise<readonly Subject[]> {
  await world.apply('SSHCertificateAuthority', 'team', {})
  const certificate = (name: string, fields: Record<string, unknown>) => ({
    sshCertificateAuthorityRef: { name: 'team' },
    publicKey: sshKeys.ed25519,
    principals: [name],
    ...fields,
  })
  const kinds = ['SSHUserCertificate', 'SSHHostCertificate']
  const soon = new Date(Date.now() + 6000).toISOString()
  const told: Subject[] = []
  for (const kind of kinds) {
    await world.apply(kind, 'expired', certificate('expired', { validUntil: soon }))
    await world.apply(kind, 'future', certificate('future', { validAfter: '2090-01-01T00:00:00Z', validFor: '24h' }))
    told.push(await saying(world, kind, 'future', 'NotYetValid', 'InProgress'))
  }
  for (const kind of kinds) told.push(await saying(world, kind, 'expired', 'Expired', 'Failed'))
  return told
}

/** The certificate in use still works while its successor cannot be issued. */
export const renewalFailing: Scene = {
  name: 'renewal-failing',
  about: 'A domain whose certificate works and cannot be renewed, long before it expires.',
  async play({ world }) {
    const { admin } = world.emulator
    const domain = { domain: 'shop.example.com' }
    await world.apply('ReservedDomain', 'renewal', domain)
    const { status } = await world.ready('ReservedDomain', 'renewal')
    for (const record of (status?.dnsRecords ?? []) as Parameters<typeof admin.putDns>[0][]) admin.putDns(record)
    await world.apply('ReservedDomain', 'renewal', { ...domain, ...managedCertificate })
    const issued = await world.until('ReservedDomain', 'renewal', 'has a certificate', (cr: Resource) => {
      return conditionOf(cr, 'CertificateReady')?.reason === 'CertificateIssued'
    })
    admin.deleteDns()
    admin.setClock(Date.parse(String(issued.status?.renewsAt)) + 60_000)
    await world.resync()
    return [await saying(world, 'ReservedDomain', 'renewal', 'RenewalFailing', 'Current')]
  },
}

/** The records that domains need, as published for ExternalDNS. */
export const dnsEndpoints: Scene = {
  name: 'dns-endpoints',
  about: 'Domains whose records are kept in DNSEndpoints of ExternalDNS, and such whose may not be.',
  crds: ['dnsendpoints.yaml'],
  world: { flags: DNS_FLAGS },
  async play({ world }) {
    const ask = (name: string, domain: string) => {
      return world.apply('ReservedDomain', name, { domain, dns: { endpoint: true } })
    }
    await ask('kept', 'kept.example.org')
    await world.operator.stop()
    await world.startOperator(['--dns-domains', 'kept.example.org'])
    await world.reason('ReservedDomain', 'kept', 'DNSEndpointReady', 'InSync')
    await world.operator.stop()
    await world.startOperator()
    await ask('published', 'published.example.com')
    await ask('not-allowed', 'not-allowed.example.org')
    await world.ready('ReservedDomain', 'published')
    return [
      await published(world),
      await saying(world, 'ReservedDomain', 'kept', 'DNSEndpointKept', 'Current'),
      await saying(world, 'ReservedDomain', 'not-allowed', 'DNSEndpointNotAllowed', 'Current'),
    ]
  },
}

async function published(world: World): Promise<Subject> {
  await world.reason('ReservedDomain', 'published', 'DNSEndpointReady', 'InSync')
  return { kind: 'ReservedDomain', name: 'published', state: 'Ready', phase: 'Current', after: 'Current' }
}
