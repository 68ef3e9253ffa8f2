import { describe, expect, test } from 'vitest'
import type { Finding } from '../../../src/cli/doctor/finding.ts'
import { type DoctorFlags, runDoctor } from '../../../src/cli/doctor-command.ts'
import type { ResourceType } from '../../../src/kube/types.ts'
import { startNameServer } from '../../builders/name-server.ts'
import { type Asked, ask } from '../support/ask.ts'
import { World } from '../support/world.ts'

const group = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop', tier: 'web' } } }
const edge = { protocol: 'TLS', backend: { name: 'web' } }

function doctor(world: World, flags: Partial<DoctorFlags> = {}): Promise<Asked> {
  const { operatorNamespace } = world
  const fixed = { output: 'text', release: 'culvert', operatorNamespace, allNamespaces: false, dnsServer: [] } as const
  return ask(world, (cluster) => runDoctor(cluster, { ...fixed, ...flags }))
}

/** What is wrong, without what could not be checked. */
async function findings(world: World, flags: Partial<DoctorFlags> = {}): Promise<readonly Finding[]> {
  const { lines } = await doctor(world, { ...flags, output: 'json' })
  const { findings: found } = JSON.parse(lines.join('\n')) as { readonly findings: readonly Finding[] }
  return found.filter(({ severity }) => severity !== 'unchecked')
}

describe('doctor', () => {
  test('finds nothing wrong where nothing is, and says so', async () => {
    await using world = await World.open({ leaderElect: true })
    await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
    await world.ready('IPPolicy', 'office')
    const { code, lines } = await doctor(world)
    expect(lines).toEqual(['No problem found.'])
    expect(code).toBe(0)
    const all = await doctor(world, { all: true })
    expect(all.lines).toContain('OK accounts are Ready')
    expect(all.lines.at(-1)).toBe('No problem found.')
  })

  test('names object, cause, remedy and command, and ends with 1', async () => {
    await using world = await World.open({ leaderElect: true })
    await world.apply('Edge', 'shop', edge)
    await world.reason('Edge', 'shop', 'Synced', 'ReferenceNotReady')
    const { code, lines } = await doctor(world)
    expect(code).toBe(1)
    expect(lines).toEqual([
      `ERROR Edge/shop in namespace ${world.namespace}`,
      '  spec.backend is Backend/web, which does not exist. Start with that resource: create it, correct',
      '  the name, or check its conditions.',
      `  $ kubectl get backends.culvert.dev -n ${world.namespace}`,
      '',
      '1 error, 0 warnings.',
    ])
  })

  test('asks the API of a Ready account whether its key is still good', async () => {
    await using world = await World.open({ resyncInterval: '24h' })
    await world.until('Account', 'default', 'is Ready', ({ status }) => JSON.stringify(status).includes('Available'))
    // The operator does not notice at once that the key was revoked.
    world.emulator.admin.addFault({ match: { path: '/**', every: true }, act: { type: 'status', status: 401 } })
    expect((await findings(world))[0]).toMatchObject({ severity: 'error', check: 'api', object: /Account\/default/ })
  })

  test('sees that no credential permits the labels of a group in use, and else that no agent is online', {
    tags: 'nightly',
  }, async () => {
    await using world = await World.open()
    await world.apply('Backend', 'web', group)
    await world.apply('Edge', 'shop', edge)
    await world.apply('TunnelCredential', 'agent', { acl: ['bind:app=shop'] })
    for (const [kind, name] of [
      ['Edge', 'shop'],
      ['TunnelCredential', 'agent'],
    ] as const)
      await world.ready(kind, name)
    expect(await findings(world)).toMatchObject([{ check: 'acl', severity: 'warning' }])
    await world.apply('TunnelCredential', 'agent', { acl: ['bind:app=shop', 'bind:tier=*'] })
    await world.ready('TunnelCredential', 'agent')
    expect(await findings(world)).toMatchObject([{ check: 'tunnels', severity: 'warning' }])
  })

  test('resolves the records that a domain needs', { tags: 'nightly' }, async () => {
    await using world = await World.open()
    await using names = await startNameServer()
    const spec = { domain: 'shop.customer.example', certificate: { type: 'Managed' } }
    await world.apply('ReservedDomain', 'shop', spec)
    const { status } = await world.reason('ReservedDomain', 'shop', 'Ready', 'DNSError', 60_000).then(async () => {
      return (await world.get('ReservedDomain', 'shop')) as unknown as { status: { dnsRecords: NameRecord[] } }
    })
    const dns = async () => {
      const found = await findings(world, { dnsServer: [names.address] })
      return found.filter(({ check }) => check === 'dns').map(({ cause }) => cause)
    }
    expect(await dns()).toEqual(status.dnsRecords.map(({ name, type }) => `${name} has no ${type} record`))
    names.records.push(...status.dnsRecords.map((record) => ({ ...record, value: 'other.example' })))
    expect(await dns()).toEqual(
      status.dnsRecords.map(({ name, type, value }) => {
        return `${name} has the ${type} record other.example, but needs ${value}`
      }),
    )
    names.records.splice(0, names.records.length, ...status.dnsRecords)
    expect(await dns()).toEqual([])
  })

  test('sees that no admission policy reserves the approval of a plan', async () => {
    await using world = await World.open()
    await world.apply('Backend', 'web', { ...group, managementPolicy: 'Plan' })
    await world.reason('Backend', 'web', 'Synced', 'AwaitingApproval')
    const { namespace } = world
    const finding = { check: 'approvals', severity: 'warning', object: `Backend/web in namespace ${namespace}` }
    expect(await findings(world)).toContainEqual(expect.objectContaining(finding))
  })

  test('sees a webhook that nobody answers', { tags: 'nightly' }, async () => {
    await using world = await World.open()
    const type: ResourceType = {
      group: 'admissionregistration.k8s.io',
      version: 'v1',
      plural: 'validatingwebhookconfigurations',
      kind: 'ValidatingWebhookConfiguration',
      namespaced: false,
    }
    const name = `${world.namespace}-hook`
    await world.kube.apply(
      type,
      { name },
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: type.kind,
        metadata: { name },
        webhooks: [
          {
            name: 'hook.example.com',
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            clientConfig: { service: { namespace: world.namespace, name: 'absent' } },
            // Other tests go on in this cluster.
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': world.namespace } },
            rules: [{ apiGroups: ['culvert.dev'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
          },
        ],
      },
    )
    try {
      const found = await findings(world)
      expect(found).toContainEqual(expect.objectContaining({ check: 'webhooks', severity: 'error' }))
    } finally {
      await world.kube.delete(type, { name })
    }
  })
})

interface NameRecord {
  readonly name: string
  readonly type: 'CNAME' | 'NS'
  readonly value: string
}
