import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { runProgram } from '../../../controlplane/run-program.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import { ask, askTLS, Upstream } from '../../builders/contract/tcp-peers.ts'
import { AuditLog } from '../support/audit-log.ts'
import { deploymentOf, reportAgents, startAgentOf } from '../support/tunnel-agent.ts'
import { until } from '../support/wait.ts'
import { conditionOf, core, type Resource, type ResourceCondition, typeOf, World } from '../support/world.ts'

const services = core('services', 'Service')
const PARTS = ['ReservedAddress', 'ReservedDomain', 'Backend', 'Edge', 'Tunnel']
const CLASS = 'culvert.dev/edge'

interface Service extends KubeObject {
  readonly spec: { readonly type: string }
  readonly status?: {
    readonly loadBalancer?: {
      readonly ingress?: readonly {
        readonly hostname?: string
        readonly ports?: readonly { readonly port: number; readonly protocol: string }[]
      }[]
    }
    readonly conditions?: readonly ResourceCondition[]
  }
}

let world: World
beforeAll(async () => {
  const gateway = { sshListen: '127.0.0.1:0', tlsListen: '127.0.0.1:0', log: () => undefined }
  world = await World.open({
    emulator: { gateway },
    flags: ['--tunnels', '--agent-image', 'culvert:test', '--services'],
  })
  const { baseURL, apiKeySecretRef } = (await world.get('Account', 'default'))?.spec ?? {}
  const { host, port, hostKey } = world.emulator.gateway?.ssh ?? {}
  await world.apply('Account', 'default', {
    baseURL,
    apiKeySecretRef,
    resyncInterval: '10m',
    sshGateway: { address: `${host}:${port}`, hostKeys: [hostKey] },
  })
})
afterAll(() => world[Symbol.asyncDispose]())

const http = [{ name: 'http', port: 80 }]
const seventeen = Array.from({ length: 17 }, (_, index) => ({ name: `port-${index}`, port: 80 + index }))

async function serve(
  name: string,
  annotations: Readonly<Record<string, string>> = {},
  ports: readonly object[] = http,
  more: object = {},
): Promise<void> {
  const spec = { type: 'LoadBalancer', loadBalancerClass: CLASS, selector: { app: name }, ports, ...more }
  const metadata = { name, namespace: world.namespace, annotations }
  const body = { apiVersion: 'v1', kind: 'Service', metadata, spec }
  await world.kube.apply(services, { namespace: world.namespace, name }, body, { force: true })
}

async function service(name: string): Promise<Service | undefined> {
  return await world.kube.get<Service>(services, { namespace: world.namespace, name })
}

function conditionIn(of: Service | undefined): ResourceCondition | undefined {
  return of?.status?.conditions?.find(({ type }) => type === 'culvert.dev/ready')
}

/** Waits until the Service says where it is reached, at so many ports. */
async function reached(name: string, ports = 1): Promise<readonly { hostname: string; port: number }[]> {
  return await until(
    `${name} is reached`,
    async () => {
      const ingress = (await service(name))?.status?.loadBalancer?.ingress ?? []
      const places = ingress.flatMap(({ hostname = '', ports: at = [] }) => at.map(({ port }) => ({ hostname, port })))
      return places.length === ports ? places : undefined
    },
    { timeoutMs: 60_000, describe: async () => ({ service: await service(name), parts: await partsOf(name) }) },
  )
}

async function partsOf(name: string): Promise<readonly Resource[]> {
  const all = await Promise.all(PARTS.map((kind) => world.list(kind)))
  return all.flat().filter(({ metadata }) => metadata.labels?.['culvert.dev/service'] === name)
}

async function namesOf(name: string): Promise<readonly string[]> {
  return (await partsOf(name)).map(({ kind, metadata }) => `${kind}/${metadata.name}`)
}

/**
 * Waits until the Service says this; the text is that of the state that is meant, as states of one reason follow each
 * other.
 */
async function said(name: string, reason: string, text = ''): Promise<ResourceCondition> {
  return await until(
    `${name} says ${reason}${text === '' ? '' : `: ${text}`}`,
    async () => {
      const condition = conditionIn(await service(name))
      return condition?.reason === reason && condition.message.includes(text) ? condition : undefined
    },
    { timeoutMs: 60_000, describe: () => service(name) },
  )
}

function isSyncedNow(cr: Resource): boolean {
  const synced = conditionOf(cr, 'Synced')
  return synced?.status === 'True' && synced.observedGeneration === cr.metadata.generation
}

/** Waits until an Edge lets in those whom the policy admits. */
async function isOpenFor(edge: string, policy: string): Promise<void> {
  await world.until(
    'Edge',
    edge,
    `is open for ${policy}`,
    (cr) => {
      const { backend, ipRestriction } = cr.spec as {
        readonly backend: { readonly enabled: boolean }
        readonly ipRestriction?: { readonly ipPolicyRefs: readonly { readonly name: string }[] }
      }
      const named = ipRestriction?.ipPolicyRefs.map(({ name }) => name).join()
      return backend.enabled && named === policy && isSyncedNow(cr)
    },
    60_000,
  )
}

async function warnings(name: string): Promise<readonly string[]> {
  return (await world.events('Service', name)).filter(({ type }) => type === 'Warning').map(({ note }) => note)
}

/** Where the emulator listens for a hostport. */
async function placeOf(hostport: string) {
  return await until(`${hostport} listens`, () => {
    return world.emulator.admin.listeners().find((each) => each.hostport === hostport && each.error === null)
  })
}

/** Runs an agent as the Deployment describes it, with an upstream instead of the Service. */
async function withAgent(tunnel: string, use: () => Promise<void>): Promise<void> {
  const upstream = await Upstream.named('service')
  const agent = await startAgentOf(world, tunnel, upstream.port)
  try {
    await use()
  } finally {
    await agent.kill()
    upstream.close()
  }
}

test('a Service exposed by kubectl is reached where its status says, until it is deleted', {
  timeout: 300_000,
}, async () => {
  const kubectl = async (...args: string[]): Promise<void> => {
    const all = ['--kubeconfig', world.kubeconfig, '-n', world.namespace, ...args]
    const { code, stderr } = await runProgram(inject('kubectlPath'), all)
    expect(code, stderr).toBe(0)
  }
  await kubectl('create', 'deployment', 'web', '--image=web:1', '--replicas=0')
  const overrides = JSON.stringify({ apiVersion: 'v1', spec: { loadBalancerClass: CLASS } })
  await kubectl('expose', 'deployment', 'web', '--port=80', '--type=LoadBalancer', `--overrides=${overrides}`)
  const [at] = await reached('web')
  const edge = await world.ready('Edge', 'web-80')
  expect(edge.status?.hostports).toEqual([`${at?.hostname}:${at?.port}`])
  const { uid } = (await service('web'))?.metadata ?? {}
  const parts = await partsOf('web')
  expect(await namesOf('web')).toEqual(['ReservedAddress/web-80', 'Backend/web-80', 'Edge/web-80', 'Tunnel/web-80'])
  for (const { metadata } of parts) {
    expect(metadata.ownerReferences).toEqual([
      { apiVersion: 'v1', kind: 'Service', name: 'web', uid, controller: true },
    ])
  }
  await said('web', 'Progressing', 'Tunnel/web-80 is not Ready')
  const place = await placeOf(`${at?.hostname}:${at?.port}`)
  await withAgent('web-80', async () => {
    expect(await ask(place, 'hello')).toBe('service:hello')
  })
  await reportAgents(world, 'web-80')
  expect(await said('web', 'Available')).toMatchObject({ status: 'True', message: 'every port is served' })
  expect(await warnings('web')).toEqual([])

  const credential = await world.get('SSHCredential', 'web-80-tunnel-key-1')
  const ids = [...parts, credential].map((part) => part?.status?.id).filter((id) => id !== undefined)
  expect(ids).toHaveLength(4)
  await world.kube.delete(services, { namespace: world.namespace, name: 'web' })
  for (const { kind, metadata: each } of parts) await world.gone(kind, each.name, 90_000)
  await world.gone('SSHCredential', 'web-80-tunnel-key-1', 90_000)
  for (const path of ['edges/tcp', 'reserved_addrs', 'backends/tunnel_group', 'ssh_credentials']) {
    expect((await world.remote(path)).filter(({ id }) => ids.includes(String(id)))).toEqual([])
  }
})

test('a Service whose policies are missing is closed until they exist, and is restricted then', async () => {
  const mark = world.mark()
  await serve('closed', { 'culvert.dev/ip-policies': 'office,lab' })
  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '127.0.0.2/32', action: 'Allow' }] })
  await world.until(
    'Edge',
    'closed-80',
    'waits for the other policy',
    (cr) => conditionOf(cr, 'Ready')?.message.includes('IPPolicy/lab') === true,
    60_000,
  )
  expect(world.writes(mark).filter(({ path }) => path.startsWith('/edges'))).toEqual([])
  expect((await service('closed'))?.status?.loadBalancer?.ingress).toBeUndefined()
  await world.apply('IPPolicy', 'lab', { rules: [{ cidr: '127.0.0.3/32', action: 'Allow' }] })
  const [at] = await reached('closed')
  const made = world.writes(mark).filter(({ path }) => path.startsWith('/edges'))
  const policies = [
    (await world.get('IPPolicy', 'office'))?.status?.id,
    (await world.get('IPPolicy', 'lab'))?.status?.id,
  ]
  expect(made).toMatchObject([{ method: 'POST', body: { ip_restriction: { enabled: true } } }])
  const [{ body }] = made as unknown as readonly [{ body: { ip_restriction: { ip_policy_ids: readonly string[] } } }]
  expect(new Set(body.ip_restriction.ip_policy_ids)).toEqual(new Set(policies))
  const place = await placeOf(`${at?.hostname}:${at?.port}`)
  await withAgent('closed-80', async () => {
    expect(await ask(place, 'x', '127.0.0.2')).toBe('service:x')
    expect(await ask(place, 'x', '127.0.0.4')).not.toContain('service')
  })
})

test('a Service that is reached and then names a policy that is missing is closed until it exists', {
  timeout: 240_000,
}, async () => {
  const mark = world.mark()
  const policy = (source: string) => ({ rules: [{ cidr: `${source}/32`, action: 'Allow' }] })
  const closes = async (missing: string): Promise<void> => {
    const cause = `IPPolicy/${missing} does not exist: create it or correct the name`
    await said('late', 'ReferenceNotReady', `Edge/late-80 is closed until its policies can be applied: ${cause}`)
    await world.until('Edge', 'late-80', 'is closed', (cr) => {
      const { backend } = (cr.status?.modules ?? {}) as { readonly backend?: { readonly enabled: boolean } }
      return backend?.enabled === false && isSyncedNow(cr)
    })
  }
  await serve('late')
  const [at] = await reached('late')
  const place = await placeOf(`${at?.hostname}:${at?.port}`)
  await withAgent('late-80', async () => {
    expect(await ask(place, 'x', '127.0.0.4')).toBe('service:x')
    await serve('late', { 'culvert.dev/ip-policies': 'late' })
    await closes('late')
    expect(await ask(place, 'x', '127.0.0.4')).not.toContain('service')
    // It is found there again: no record of it has to change.
    expect(await reached('late')).toEqual([at])
    await world.apply('IPPolicy', 'late', policy('127.0.0.2'))
    await isOpenFor('late-80', 'late')
    expect(await ask(place, 'x', '127.0.0.2')).toBe('service:x')
    expect(await ask(place, 'x', '127.0.0.4')).not.toContain('service')
    await serve('late', { 'culvert.dev/ip-policies': 'next' })
    await closes('next')
    expect(await ask(place, 'x', '127.0.0.2')).not.toContain('service')
    await world.apply('IPPolicy', 'next', policy('127.0.0.3'))
    await isOpenFor('late-80', 'next')
    expect(await ask(place, 'x', '127.0.0.3')).toBe('service:x')
    expect(await ask(place, 'x', '127.0.0.2')).not.toContain('service')
  })
  expect((await warnings('late')).filter((note) => note.includes('does not exist'))).toHaveLength(2)
  const sent = world.writes(mark).filter(({ method, path }) => method === 'PATCH' && path.startsWith('/edges'))
  const closing = { body: { backend: { enabled: false } } }
  const opening = { body: { backend: { enabled: true }, ip_restriction: { enabled: true } } }
  expect(sent).toMatchObject([closing, opening, closing, opening])
})

test('a Service waits for the first rule of a policy whose rules are resources of their own', async () => {
  await serve('ruled')
  await reached('ruled')
  await world.apply('IPPolicy', 'ruled', { rulesSource: 'IPPolicyRules' })
  await world.ready('IPPolicy', 'ruled')
  await serve('ruled', { 'culvert.dev/ip-policies': 'ruled' })
  await said('ruled', 'ReferenceNotReady', 'IPPolicy/ruled has no rules')
  const rule = { ipPolicyRef: { name: 'ruled' }, cidr: '127.0.0.2/32', action: 'Allow' }
  await world.apply('IPPolicyRule', 'ruled', rule)
  await isOpenFor('ruled-80', 'ruled')
})

test('each TCP port of a Service is served, and what a removed port had goes', { tags: 'nightly' }, async () => {
  const ports = [...http, { name: 'admin', port: 8080 }, { name: 'dns', port: 53, protocol: 'UDP' }]
  await serve('two', {}, ports)
  await reached('two', 2)
  const { message } = await said('two', 'InvalidSpec')
  expect(message).toBe('spec.ports[2]: UDP of port 53 is not supported: remove the port, or use TCP')
  await until('there is an Event', async () => (await warnings('two')).length === 1)
  await serve('two')
  await world.gone('Edge', 'two-8080', 60_000)
  await world.gone('Tunnel', 'two-8080')
  await reached('two', 1)
})

test('a Service with a domain is reached by TLS under it, also if it had an address before', {
  timeout: 240_000,
}, async () => {
  const account = { 'culvert.dev/account': 'default' }
  await serve('shop', account, [{ name: 'https', port: 443 }])
  await reached('shop')
  await serve('shop', { ...account, 'culvert.dev/domain': 'shop.example.com' }, [{ name: 'https', port: 443 }])
  const domainNamed = async (): Promise<Resource | undefined> => {
    return (await partsOf('shop')).find(({ kind }) => kind === 'ReservedDomain')
  }
  const domain = await until('the domain is reserved', async () => {
    const found = await domainNamed()
    return found?.status?.cnameTarget === undefined ? undefined : found
  })
  const { cnameTarget } = domain.status as { readonly cnameTarget: string }
  // As ExternalDNS needs it: the target of the record for the domain.
  await until(
    'it is reached under the domain',
    async () => {
      const [at] = await reached('shop')
      return at?.hostname === cnameTarget && at.port === 443
    },
    { timeoutMs: 120_000 },
  )
  world.emulator.admin.putDns({ name: 'shop.example.com', type: 'CNAME', value: cnameTarget })
  const edge = await world.ready('Edge', 'shop-443', 60_000)
  expect(edge.spec).toMatchObject({ protocol: 'TLS' })
  await world.gone('ReservedAddress', 'shop-443', 60_000)
  await world.until(
    'ReservedDomain',
    domain.metadata.name,
    'has its certificate',
    (cr) => conditionOf(cr, 'CertificateReady')?.status === 'True',
    120_000,
  )
  const place = await placeOf('shop.example.com:443')
  const ca = await world.emulator.admin.authority()
  await withAgent('shop-443', async () => {
    expect(await askTLS(place, 'hello', { servername: 'shop.example.com', ca })).toBe('service:hello')
  })
  await serve('shop', { ...account, 'culvert.dev/domain': 'next.example.com' }, [{ name: 'https', port: 443 }])
  await world.gone('ReservedDomain', domain.metadata.name, 60_000)
  expect((await world.ready('Edge', 'shop-443', 60_000)).status?.hostports).toEqual(['next.example.com:443'])
})

test('a Service for which another account is named moves there as a whole', async () => {
  await serve('moved')
  await reached('moved')
  const before = await partsOf('moved')
  await world.apply('Account', 'second', (await world.get('Account', 'default'))?.spec ?? {})
  await serve('moved', { 'culvert.dev/account': 'second' })
  await world.until(
    'Edge',
    'moved-80',
    'is in the other account',
    (cr) => conditionOf(cr, 'Ready')?.status === 'True' && cr.spec.accountRef !== undefined,
    60_000,
  )
  const after = await partsOf('moved')
  const tunnels = after.filter(({ kind }) => kind === 'Tunnel')
  expect(after.map(({ kind }) => kind)).toEqual(before.map(({ kind }) => kind))
  for (const { kind, spec } of after) {
    if (kind !== 'Tunnel') expect(spec.accountRef).toEqual({ kind: 'Account', name: 'second' })
  }
  expect(tunnels).toHaveLength(1)
  expect(
    (await world.remote('edges/tcp')).filter(({ description }) => String(description).includes('/moved,')),
  ).toHaveLength(1)
  await reached('moved')
  // The key of the former agents stays behind.
  await world.until('SSHCredential', 'moved-80-tunnel-key-1', 'is in the other account', (cr) => {
    const { name } = cr.spec.accountRef as { readonly name: string }
    return name === 'second' && conditionOf(cr, 'Synced')?.status === 'True'
  })
})

test.each<[string, Readonly<Record<string, string>>, object, string]>([
  ['an unknown annotation', { 'culvert.dev/ip-policy': 'office' }, {}, 'metadata.annotations[culvert.dev/ip-policy]'],
  ['no policy', { 'culvert.dev/ip-policies': '' }, {}, 'metadata.annotations[culvert.dev/ip-policies]: ""'],
  [
    'ranges of a cloud',
    { 'service.beta.kubernetes.io/azure-allowed-ip-ranges': '10.0.0.0/8' },
    {},
    'metadata.annotations[service.beta.kubernetes.io/azure-allowed-ip-ranges]: "10.0.0.0/8"',
  ],
  [
    'a private network',
    { 'networking.gke.io/load-balancer-type': 'Internal' },
    {},
    'metadata.annotations[networking.gke.io/load-balancer-type]: "Internal"',
  ],
  ['source ranges', {}, { loadBalancerSourceRanges: ['10.0.0.0/8'] }, 'spec.loadBalancerSourceRanges'],
  ['seventeen ports', {}, { ports: seventeen }, 'spec.ports: 17 TCP ports'],
])('a Service with %s opens nothing and reports why, once', async (what, annotations, spec, field) => {
  const name = `bad-${what.replaceAll(' ', '-')}`
  await serve(name, annotations, http, spec)
  await said(name, 'InvalidSpec', field)
  await until('there is an Event', async () => (await warnings(name)).length > 0)
  expect(await namesOf(name)).toEqual([])
  // A change that fixes nothing says nothing new.
  await serve(name, { ...annotations, note: 'seen' }, http, spec)
  await serve(name, {}, http)
  await until('it is made', async () => (await namesOf(name)).includes(`Edge/${name}-80`))
  expect(await warnings(name)).toHaveLength(1)
})

test('an object of another owner is left alone and named, and Services of another class are none of ours', async () => {
  const foreign = { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'mine' } } }
  await world.apply('Backend', 'foreign-80', foreign)
  await serve('other', {}, http, { loadBalancerClass: 'example.com/other' })
  await serve('foreign')
  const { message } = await said('foreign', 'OutputNotOwned')
  expect(message).toContain('Backend/foreign-80 exists and does not belong to this Service')
  await until('there is an Event', async () => (await warnings('foreign')).length === 1)
  expect((await world.get('Backend', 'foreign-80'))?.spec).toMatchObject(foreign)
  expect(await world.get('Edge', 'foreign-80')).toBeUndefined()
  expect(await namesOf('other')).toEqual([])
  expect(conditionIn(await service('other'))).toBeUndefined()
})

test('what a Service owns is kept as it is, and goes when its type changes', { timeout: 240_000 }, async () => {
  await serve('kept', { 'culvert.dev/ip-policies': 'kept' })
  await world.apply('IPPolicy', 'kept', { rules: [{ cidr: '127.0.0.2/32', action: 'Allow' }] })
  await reached('kept')
  const key = { namespace: world.namespace, name: 'kept-80' }
  await world.apply('Tunnel', 'kept-80', { backendRef: { name: 'kept-80' }, service: { name: 'kept', port: 81 } })
  await world.until('Tunnel', 'kept-80', 'leads to its port', ({ spec }) => {
    return (spec.service as { readonly port: number }).port === 80
  })
  await world.kube.mergePatch(typeOf('Edge'), key, { spec: { ipRestriction: null } })
  await world.until('Edge', 'kept-80', 'is restricted', ({ spec }) => spec.ipRestriction !== undefined)
  await serve('kept', {}, http)
  await world.until('Edge', 'kept-80', 'is open', ({ spec }) => spec.ipRestriction === undefined)
  await world.kube.mergePatch(
    services,
    { namespace: world.namespace, name: 'kept' },
    { spec: { type: 'ClusterIP', loadBalancerClass: null } },
  )
  for (const { kind, metadata } of await partsOf('kept')) await world.gone(kind, metadata.name, 60_000)
  const { status } = (await service('kept')) ?? {}
  expect(status?.loadBalancer?.ingress).toBeUndefined()
  expect(conditionIn(await service('kept'))).toBeUndefined()
})

test('an annotation that makes no sense is reported on the Edge too, until it is fixed', async () => {
  await serve('told')
  await reached('told')
  await serve('told', { 'culvert.dev/ip-policy': 'office' })
  const { message } = await said('told', 'InvalidSpec')
  await world.until('Edge', 'told-80', 'says what its Service says', (cr) => {
    const followed = conditionOf(cr, 'ServiceFollowed')
    return followed?.status === 'False' && followed.reason === 'InvalidSpec' && followed.message === message
  })
  expect(conditionOf(await world.ready('Edge', 'told-80'), 'Synced')?.status).toBe('True')
  await until('there is an Event', async () => {
    return (await world.events('Edge', 'told-80')).some(({ type, note }) => type === 'Warning' && note === message)
  })
  await serve('told')
  await world.until('Edge', 'told-80', 'says nothing more of it', (cr) => {
    return (
      conditionOf(cr, 'ServiceFollowed') === undefined &&
      cr.metadata.annotations?.['internal.culvert.dev/service-problem'] === undefined
    )
  })
})

test('a Service that gets more ports than it may have keeps what it has', async () => {
  await serve('many')
  const at = await reached('many')
  const parts = await namesOf('many')
  await serve('many', {}, seventeen)
  await said('many', 'InvalidSpec', 'spec.ports: 17 TCP ports')
  expect(await namesOf('many')).toEqual(parts)
  expect(await reached('many')).toEqual(at)
})

test('nothing is written at rest', async () => {
  await serve('quiet')
  await reached('quiet')
  await deploymentOf(world, 'quiet-80')
  await said('quiet', 'Progressing')
  const settled = await until('its Tunnel says that no agent is connected', async () => {
    const message = conditionIn(await service('quiet'))?.message
    return message?.includes('0 of 2 agents') === true ? message : undefined
  })
  // Events are sent one after another, later than what they report.
  for (const [kind, name] of [
    ['ReservedAddress', 'quiet-80'],
    ['Backend', 'quiet-80'],
    ['Edge', 'quiet-80'],
    ['SSHCredential', 'quiet-80-tunnel-key-1'],
  ] as const) {
    await until(`the Event about ${kind}/${name} is sent`, async () => (await world.events(kind, name)).length > 0)
  }
  const audit = AuditLog.ofSuite()
  const mark = await audit.mark()
  const key = { namespace: world.namespace, name: 'quiet' }
  // Changes that concern it, and need nothing.
  await world.kube.mergePatch(services, key, { metadata: { annotations: { note: 'seen' } } })
  await world.annotate('Edge', 'quiet-80', { note: 'seen' })
  await serve('after')
  await reached('after')
  const entries = (await audit.entries(mark)).filter(({ namespace, userAgent, name, verb, resource }) => {
    const isOurs = namespace === world.namespace && userAgent === 'culvert' && verb !== 'get' && resource !== 'pods'
    return isOurs && name?.startsWith('quiet')
  })
  expect(entries).toEqual([])
  expect(conditionIn(await service('quiet'))?.message).toBe(settled)
})
