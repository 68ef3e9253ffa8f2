import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ControlPlane } from '../../controlplane/control-plane.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { DNS_ENDPOINT_CRD, dnsEndpointType } from '../builders/dns-endpoints.ts'
import { installCRDs } from '../builders/install-crds.ts'
import { KubeProxy } from '../builders/kube-proxy.ts'
import { startOwnCluster } from './support/own-cluster.ts'
import { until } from './support/wait.ts'
import { conditionOf, type Resource, World } from './support/world.ts'

interface DNSEndpoint extends KubeObject {
  readonly spec?: { readonly endpoints?: readonly Endpoint[] }
}

interface Endpoint {
  readonly dnsName: string
  readonly recordType: string
  readonly targets: readonly string[]
  readonly recordTTL?: number
  readonly labels?: Readonly<Record<string, string>>
}

/** The CRD belongs to the whole cluster, and the suite's has none. */
let cluster: ControlPlane
beforeAll(async () => {
  cluster = await startOwnCluster()
})
afterAll(() => cluster.stop())

const FLAGS = ['--dns-endpoints', '--dns-domains', '*.example.com']

function open(): Promise<World> {
  return World.open({ kubeconfig: cluster.kubeconfigPath, flags: FLAGS })
}

function endpointNamed({ kube, namespace }: World, name: string): Promise<DNSEndpoint | undefined> {
  return kube.get<DNSEndpoint>(dnsEndpointType, { namespace, name })
}

/** Waits until there is a DNSEndpoint of that name that `met` accepts. */
function endpointThat(world: World, name: string, met: (endpoint: DNSEndpoint) => boolean): Promise<DNSEndpoint> {
  const look = async () => {
    const found = await endpointNamed(world, name)
    return found !== undefined && met(found) ? found : undefined
  }
  return until(`DNSEndpoint ${name} is up to date`, look, {
    timeoutMs: 90_000,
    describe: async () => ({ found: await endpointNamed(world, name), log: world.operator.log.split('\n').slice(-20) }),
  })
}

function gone(world: World, name: string): Promise<unknown> {
  return until(`DNSEndpoint ${name} is gone`, async () => (await endpointNamed(world, name)) === undefined)
}

/** Waits until the CR says that its DNSEndpoint is in place, at its current generation. */
async function inPlace(world: World, kind: string, name: string): Promise<Resource> {
  return world.until(kind, name, 'has its DNSEndpoint', (cr) => {
    const condition = conditionOf(cr, 'DNSEndpointReady')
    return condition?.status === 'True' && condition.observedGeneration === cr.metadata.generation
  })
}

function statusOf({ status }: Resource) {
  return status as unknown as {
    readonly cnameTarget: string
    readonly acmeChallengeCNAMETarget: string
    readonly nsTargets: readonly string[]
  }
}

const asked = { dns: { endpoint: true } }

test('without the CRD of ExternalDNS the domain works and reports it; once it is installed, the records follow', {
  tags: 'nightly',
  timeout: 240_000,
}, async () => {
  await using world = await open()
  await world.apply('ReservedDomain', 'shop', { domain: 'shop.example.com', ...asked })
  const { message } = await world.reason('ReservedDomain', 'shop', 'DNSEndpointReady', 'CRDNotInstalled')
  expect(message).toContain('install the CRD')
  await world.apply('ReservedDomain', 'service', { domain: 'service.tunnel.example', ...asked })
  await world.reason('ReservedDomain', 'service', 'DNSEndpointReady', 'NotNeeded')
  const before = await world.ready('ReservedDomain', 'shop')
  const mark = world.mark()
  await installCRDs(cluster, DNS_ENDPOINT_CRD)
  const { spec } = await endpointThat(world, 'shop', () => true)
  expect(spec?.endpoints?.map(({ dnsName }) => dnsName)).toEqual(['shop.example.com'])
  await world.reason('ReservedDomain', 'shop', 'DNSEndpointReady', 'InSync')
  expect((await world.ready('ReservedDomain', 'shop')).status?.id).toBe(before.status?.id)
  expect(world.journal(mark)).toEqual([])
})

test('the records are those that domains, wildcards and ingresses need, owned by their resources and written once', async () => {
  await installCRDs(cluster, DNS_ENDPOINT_CRD)
  await using world = await open()
  await world.apply('ReservedDomain', 'own', { domain: 'own.example.com', ...asked })
  await world.apply('ReservedDomain', 'wild', { domain: '*.wild.example.com', dns: { endpoint: true, recordTTL: 60 } })
  await world.apply('ReservedDomain', 'service', { domain: 'service.tunnel.example', ...asked })
  await world.apply('AgentIngress', 'agents', { domain: 'agents.example.com', ...asked })
  const own = await inPlace(world, 'ReservedDomain', 'own')
  const wild = await inPlace(world, 'ReservedDomain', 'wild')
  const agents = await inPlace(world, 'AgentIngress', 'agents')
  await world.reason('ReservedDomain', 'service', 'DNSEndpointReady', 'NotNeeded')
  expect(await endpointNamed(world, 'service')).toBeUndefined()

  const found = await Promise.all(['own', 'wild', 'agents'].map((name) => endpointNamed(world, name)))
  expect(found.map((endpoint) => endpoint?.spec?.endpoints)).toEqual([
    [{ dnsName: 'own.example.com', recordType: 'CNAME', targets: [statusOf(own).cnameTarget] }],
    [
      { dnsName: '*.wild.example.com', recordType: 'CNAME', targets: [statusOf(wild).cnameTarget], recordTTL: 60 },
      {
        dnsName: '_acme-challenge.wild.example.com',
        recordType: 'CNAME',
        targets: [statusOf(wild).acmeChallengeCNAMETarget],
        recordTTL: 60,
      },
    ],
    [{ dnsName: 'agents.example.com', recordType: 'NS', targets: statusOf(agents).nsTargets }],
  ])
  for (const [index, { kind, metadata }] of [own, wild, agents].entries()) {
    const owner = { apiVersion: 'culvert.dev/v1alpha1', kind, name: metadata.name, uid: metadata.uid, controller: true }
    expect(found[index]?.metadata.ownerReferences).toEqual([owner])
  }

  // Another look, and another process, write nothing.
  await world.resync()
  await world.operator.stop()
  await world.startOperator()
  await world.resync()
  expect(await Promise.all(['own', 'wild', 'agents'].map((name) => endpointNamed(world, name)))).toEqual(found)
  expect(await world.get('ReservedDomain', 'wild')).toEqual(wild)
})

test('changed records are reverted, deleted ones recreated, and records of others stay', async () => {
  await installCRDs(cluster, DNS_ENDPOINT_CRD)
  await using world = await open()
  await world.apply('ReservedDomain', 'shop', { domain: 'shop.example.com', ...asked })
  await inPlace(world, 'ReservedDomain', 'shop')
  const key = { namespace: world.namespace, name: 'shop' }
  const made = await endpointThat(world, 'shop', () => true)
  const [record] = made.spec?.endpoints ?? []
  const labels = { team: 'web' }
  const altered = [{ ...record, targets: ['elsewhere.example.org'], labels }, { dnsName: 'more.example.com' }]
  await world.kube.mergePatch(dnsEndpointType, key, {
    metadata: { labels: { mine: 'yes' } },
    spec: { endpoints: altered },
  })
  const back = await endpointThat(world, 'shop', ({ spec }) => spec?.endpoints?.length === 1)
  expect(back.spec?.endpoints).toEqual([{ ...record, labels }])
  expect(back.metadata.labels).toEqual({ ...made.metadata.labels, mine: 'yes' })

  await world.kube.delete(dnsEndpointType, key)
  const again = await endpointThat(world, 'shop', ({ metadata }) => metadata.uid !== made.metadata.uid)
  expect(again.spec).toEqual(made.spec)
  expect(world.writes().filter(({ method }) => method !== 'POST')).toEqual([])
})

test('a foreign DNSEndpoint is refused and left alone; once it is gone, ours takes its place', async () => {
  await installCRDs(cluster, DNS_ENDPOINT_CRD)
  await using world = await open()
  const key = { namespace: world.namespace, name: 'shop' }
  const foreign = await world.kube.create<DNSEndpoint>(dnsEndpointType, key, {
    spec: { endpoints: [{ dnsName: 'theirs.example.com', recordType: 'A', targets: ['192.0.2.1'] }] },
  })
  await world.apply('ReservedDomain', 'shop', { domain: 'shop.example.com', ...asked })
  const { message } = await world.reason('ReservedDomain', 'shop', 'DNSEndpointReady', 'OutputNotOwned')
  expect(message).toContain('DNSEndpoint shop')
  await world.ready('ReservedDomain', 'shop')
  // No longer asking for one takes nothing away that is not ours.
  await world.apply('ReservedDomain', 'shop', { domain: 'shop.example.com' })
  await world.until('ReservedDomain', 'shop', 'says nothing of it', (cr) => !conditionOf(cr, 'DNSEndpointReady'))
  expect(await endpointNamed(world, 'shop')).toEqual(foreign)

  await world.apply('ReservedDomain', 'shop', { domain: 'shop.example.com', ...asked })
  await world.reason('ReservedDomain', 'shop', 'DNSEndpointReady', 'OutputNotOwned')
  await world.kube.delete(dnsEndpointType, key)
  await inPlace(world, 'ReservedDomain', 'shop')
  expect((await endpointNamed(world, 'shop'))?.metadata.uid).not.toBe(foreign.metadata.uid)
})

test('an operator without rights to DNSEndpoints reports it where one is requested, and works elsewhere', {
  tags: 'nightly',
}, async () => {
  await installCRDs(cluster, DNS_ENDPOINT_CRD)
  await using proxy = await KubeProxy.start(cluster.kubeconfigPath)
  const forbidden = proxy.intercept(({ path }) => {
    return path.includes('/dnsendpoints') ? { type: 'answer', status: 403, reason: 'Forbidden' } : undefined
  })
  const flags = [...FLAGS, '--kubeconfig', proxy.kubeconfigPath]
  await using world = await World.open({ kubeconfig: cluster.kubeconfigPath, flags })
  await world.apply('ReservedDomain', 'plain', { domain: 'plain.example.com' })
  await world.apply('ReservedDomain', 'shop', { domain: 'shop.example.com', ...asked })
  const { message } = await world.reason('ReservedDomain', 'shop', 'DNSEndpointReady', 'KubernetesError')
  expect(message).toContain('DNSEndpoint shop')
  await world.ready('ReservedDomain', 'shop')
  const plain = await world.ready('ReservedDomain', 'plain')
  expect(conditionOf(plain, 'DNSEndpointReady')).toBeUndefined()
  forbidden.remove()
  await world.annotate('ReservedDomain', 'shop', { 'culvert.dev/reconcile-requested-at': 'now' })
  await inPlace(world, 'ReservedDomain', 'shop')
})

test('the records go with the field that requests them, even if it and the status go while no operator runs', async () => {
  await installCRDs(cluster, DNS_ENDPOINT_CRD)
  await using world = await open()
  const domain = { domain: 'shop.example.com' }
  await world.apply('ReservedDomain', 'shop', { ...domain, ...asked })
  await inPlace(world, 'ReservedDomain', 'shop')
  await world.apply('ReservedDomain', 'shop', domain)
  await gone(world, 'shop')
  const cr = await world.until('ReservedDomain', 'shop', 'says nothing of it', (found) => {
    return conditionOf(found, 'DNSEndpointReady') === undefined
  })
  expect(cr.status?.id).toBeDefined()

  await world.apply('ReservedDomain', 'shop', { ...domain, ...asked })
  await inPlace(world, 'ReservedDomain', 'shop')
  await world.operator.kill()
  await world.apply('ReservedDomain', 'shop', domain)
  const key = { namespace: world.namespace, name: 'shop' }
  const reserved = { group: 'culvert.dev', version: 'v1alpha1', plural: 'reserveddomains', kind: '', namespaced: true }
  await world.kube.mergePatch(reserved, key, { status: { conditions: null } }, { subresource: 'status' })
  await world.startOperator()
  await gone(world, 'shop')
})

test('the records of a deleted resource are garbage-collected; those of a retained one stay', {
  tags: 'nightly',
}, async () => {
  await installCRDs(cluster, DNS_ENDPOINT_CRD)
  await using world = await open()
  await world.apply('ReservedDomain', 'shop', { domain: 'shop.example.com', ...asked })
  await world.apply('AgentIngress', 'agents', { domain: 'agents.example.com', ...asked, deletionPolicy: 'Retain' })
  await inPlace(world, 'ReservedDomain', 'shop')
  await inPlace(world, 'AgentIngress', 'agents')
  const before = await endpointNamed(world, 'agents')
  await world.delete('ReservedDomain', 'shop')
  await world.delete('AgentIngress', 'agents')
  await world.gone('ReservedDomain', 'shop')
  await world.gone('AgentIngress', 'agents')
  await gone(world, 'shop')
  const kept = await endpointNamed(world, 'agents')
  expect(kept?.spec).toEqual(before?.spec)
  expect(kept?.metadata.ownerReferences ?? []).toEqual([])

  // A resource that comes back under the name adopts it again.
  await world.apply('AgentIngress', 'agents', { domain: 'agents.example.com', ...asked })
  const cr = await inPlace(world, 'AgentIngress', 'agents')
  expect((await endpointNamed(world, 'agents'))?.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([
    cr.metadata.uid,
  ])
})

test('without --dns-endpoints published records are left alone, and a retained resource waits with its own', {
  tags: 'nightly',
}, async () => {
  await installCRDs(cluster, DNS_ENDPOINT_CRD)
  await using world = await World.open({ kubeconfig: cluster.kubeconfigPath, dnsRights: true, operator: false })
  await world.startOperator(FLAGS)
  const names = ['shop', 'moved', 'retained']
  for (const name of names) await world.apply('ReservedDomain', name, { domain: `${name}.example.com`, ...asked })
  for (const name of names) await inPlace(world, 'ReservedDomain', name)
  const before = await Promise.all(names.map((name) => endpointNamed(world, name)))
  await world.operator.stop()

  await world.startOperator()
  for (const name of names) {
    const { message } = await world.reason('ReservedDomain', name, 'DNSEndpointReady', 'DNSEndpointKept')
    expect(message).toMatch(/is not changed: spec\.dns\.endpoint .*--dns-endpoints/)
    await world.ready('ReservedDomain', name)
  }
  await world.apply('ReservedDomain', 'moved', { domain: 'moved.example.com' })
  await world.until('ReservedDomain', 'moved', 'says nothing of it', (cr) => !conditionOf(cr, 'DNSEndpointReady'))
  await world.apply('ReservedDomain', 'retained', {
    domain: 'retained.example.com',
    ...asked,
    deletionPolicy: 'Retain',
  })
  await world.delete('ReservedDomain', 'retained')
  const waits = await world.reason('ReservedDomain', 'retained', 'Ready', 'DNSEndpointKept')
  expect(waits.message).toMatch(/ownerReferences/)
  expect(await Promise.all(names.map((name) => endpointNamed(world, name)))).toEqual(before)

  // Once it is on again, all goes its way: kept up to date, taken away, and left without an owner.
  await world.operator.stop()
  await world.startOperator(FLAGS)
  await inPlace(world, 'ReservedDomain', 'shop')
  expect(await endpointNamed(world, 'shop')).toEqual(before[0])
  await gone(world, 'moved')
  await world.gone('ReservedDomain', 'retained')
  expect((await endpointNamed(world, 'retained'))?.metadata.ownerReferences ?? []).toEqual([])
})

test('a domain taken off the list keeps its published records until the field goes', { tags: 'nightly' }, async () => {
  await installCRDs(cluster, DNS_ENDPOINT_CRD)
  await using world = await open()
  await world.operator.stop()
  await world.startOperator(['--dns-domains', 'listed.example.org'])
  await world.apply('ReservedDomain', 'listed', { domain: 'listed.example.org', ...asked })
  await inPlace(world, 'ReservedDomain', 'listed')
  const before = await endpointNamed(world, 'listed')
  await world.operator.stop()
  await world.startOperator()
  const { message } = await world.reason('ReservedDomain', 'listed', 'DNSEndpointReady', 'DNSEndpointKept')
  expect(message).toMatch(/spec\.domain listed\.example\.org .*--dns-domains/)
  expect(await endpointNamed(world, 'listed')).toEqual(before)
  await world.apply('ReservedDomain', 'listed', { domain: 'listed.example.org' })
  await gone(world, 'listed')
})
