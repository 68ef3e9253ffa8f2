import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import { memberKinds } from '../../builders/access.ts'
import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import { startOwnCluster } from '../../cluster/support/own-cluster.ts'
import { until } from '../../cluster/support/wait.ts'
import { conditionOf, type Resource, typeOf, World } from '../../cluster/support/world.ts'
import { label, SharedAccount } from '../support/shared-account.ts'
import { type Spec, Tenant } from '../support/tenant.ts'

/*
 * Two teams share an account. One of them names the other's domains, selects or binds tunnels by the other's labels, or
 * sends so much that nothing is left of the account's requests.
 */

let cluster: ControlPlane
let world: World
let shop: Tenant
let account: SharedAccount
/** The team whose domain and labels the other wants, with everything that it has at the API. */
let victim: Tenant
let prey: readonly string[]

const selector = { namespaceSelector: { matchLabels: { team: 'shop' } } }
const domains = ['shop.example.com', '*.shop.example.com']
const labels = { team: 'shop' }
const allKinds = memberKinds.map(({ definition }) => definition.kind)

beforeAll(async () => {
  cluster = await startOwnCluster()
  world = await World.open({ kubeconfig: cluster.kubeconfigPath, watch: 'cluster', setUp: false })
  shop = await tenant('shop')
  account = await SharedAccount.create(world, `shared-${shop.namespace}`, [
    { ...selector, domains, labels, kinds: allKinds },
    { namespaceSelector: { matchLabels: { team: 'victim' } }, kinds: allKinds },
  ])
  victim = await tenant('victim')
  prey = await victimsObjects()
  await shop.apply('SSHCertificateAuthority', 'authority', inShared({}))
  await shop.ready('SSHCertificateAuthority', 'authority')
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await cluster.stop()
})

async function tenant(team: string): Promise<Tenant> {
  const made = await Tenant.create(world, team)
  await label(world, made.namespace, { team })
  return made
}

/** @returns the addresses of the victim's objects: a domain, an edge on it, a group, and an agent with its tunnels. */
async function victimsObjects(): Promise<readonly string[]> {
  const manifests: readonly (readonly [kind: string, path: string, spec: Spec])[] = [
    ['ReservedDomain', 'reserved_domains', { domain: 'blog.example.com' }],
    ['Backend', 'backends/tunnel_group', group({ team: 'blog' })],
    [
      'Edge',
      'edges/tls',
      {
        protocol: 'TLS',
        hostports: [{ type: 'ReservedDomain', reservedDomainRef: { name: 'prey' }, port: 443 }],
        backend: { name: 'prey' },
      },
    ],
    ['TunnelCredential', 'credentials', credential(['bind:team=blog', 'bind:blog.example.com'])],
  ]
  const paths: string[] = []
  for (const [kind, path, spec] of manifests) {
    await victim.apply(kind, 'prey', inShared(spec))
    await victim.ready(kind, 'prey')
    paths.push(`/${path}/${(await victim.get(kind, 'prey'))?.status?.id}`)
  }
  const { token } = (await world.api.post('/credentials', { acl: ['bind:team=blog', 'bind:blog.example.com'] })).body
  const agent = world.emulator.admin.connectAgent({
    token: String(token),
    tunnels: [{ labels: { team: 'blog' } }, { domain: 'blog.example.com' }],
  })
  return [...paths, `/tunnel_sessions/${String(agent.sessionId)}`]
}

async function stateOfPrey() {
  const answers = await Promise.all(prey.map((path) => world.api.get(path)))
  return answers.map(({ status, body }) => ({ status, body }))
}

function inShared(spec: Spec, shared = account): Spec {
  return shared.in({ kind: '', name: '', spec })
}

function syncedReason(reason: string) {
  return (cr: Resource): boolean => {
    const condition = conditionOf(cr, 'Synced')
    return condition?.reason === reason && condition.observedGeneration === cr.metadata.generation
  }
}

const host = (name: string) => ({ type: 'Host', host: name, port: 443 })
const group = (wanted: Readonly<Record<string, string>>) => ({ type: 'TunnelGroup', tunnelGroup: { labels: wanted } })
const certificate = (principals: readonly string[]) => ({
  sshCertificateAuthorityRef: { name: 'authority' },
  publicKey: sshKeys.ed25519,
  ...(principals.length === 0 ? { anyPrincipal: true } : { principals }),
})
const credential = (acl?: readonly string[]) => (acl === undefined ? {} : { acl })
const ssh = (acl?: readonly string[]) => ({ publicKey: sshKeys.ecdsa256, ...credential(acl) })

/** The attempt, its kind, the spec, the reason of the refusal, and a spec that is allowed. */
type Attempt = readonly [what: string, kind: string, spec: Spec, reason: string, allowed: Spec]

const attempts: readonly Attempt[] = [
  [
    'reserves the domain of the other',
    'ReservedDomain',
    { domain: 'blog.example.com' },
    'DomainNotAllowed',
    { domain: 'a.shop.example.com' },
  ],
  [
    'reserves a wildcard over both',
    'ReservedDomain',
    { domain: '*.example.com' },
    'DomainNotAllowed',
    { domain: '*.b.shop.example.com' },
  ],
  [
    'takes agents by the domain of the other',
    'AgentIngress',
    { domain: 'agents.blog.example.com' },
    'DomainNotAllowed',
    { domain: 'agents.shop.example.com' },
  ],
  [
    'takes agents by the domain of both',
    'AgentIngress',
    { domain: 'example.com' },
    'DomainNotAllowed',
    { domain: 'more.shop.example.com' },
  ],
  [
    'listens on the host of the other',
    'Edge',
    { protocol: 'TLS', hostports: [host('blog.example.com')] },
    'DomainNotAllowed',
    { protocol: 'TLS', hostports: [] },
  ],
  [
    'hides it behind one of its own',
    'Edge',
    { protocol: 'TLS', hostports: [host('a.shop.example.com'), host('blog.example.com')] },
    'DomainNotAllowed',
    { protocol: 'TLS', hostports: [] },
  ],
  [
    'is a host of the other',
    'SSHHostCertificate',
    certificate(['blog.example.com']),
    'DomainNotAllowed',
    certificate(['shop.example.com']),
  ],
  ['is every host', 'SSHHostCertificate', certificate([]), 'DomainNotAllowed', certificate(['a.shop.example.com'])],
  [
    'binds the domain of the other',
    'TunnelCredential',
    credential(['bind:blog.example.com']),
    'DomainNotAllowed',
    credential(['bind:shop.example.com']),
  ],
  [
    'binds all domains',
    'TunnelCredential',
    credential(['bind:*.example.com']),
    'DomainNotAllowed',
    credential(['bind:*.shop.example.com']),
  ],
  [
    'binds an address',
    'TunnelCredential',
    credential(['bind:1.tcp.tunnel.example:20000']),
    'DomainNotAllowed',
    credential(['bind:shop.example.com:443']),
  ],
  ['binds what it likes', 'TunnelCredential', credential(), 'DomainNotAllowed', credential(['bind:team=shop'])],
  ['binds everything', 'SSHCredential', ssh(['*']), 'DomainNotAllowed', ssh(['bind:team=shop'])],
  ['binds what it likes by SSH', 'SSHCredential', ssh(), 'DomainNotAllowed', ssh(['bind:team=shop'])],
  [
    'binds the labels of the other',
    'TunnelCredential',
    credential(['bind:team=blog']),
    'LabelNotAllowed',
    credential(['bind:team=shop', 'bind:app=*']),
  ],
  [
    'binds the labels of all',
    'TunnelCredential',
    credential(['bind:team=*']),
    'LabelNotAllowed',
    credential(['bind:team=shop']),
  ],
  ['binds all labels', 'SSHCredential', ssh(['bind:*=*']), 'LabelNotAllowed', ssh(['bind:team=shop'])],
  ['binds all keys', 'SSHCredential', ssh(['bind:*=blog']), 'LabelNotAllowed', ssh(['bind:app=web'])],
  ['takes the tunnels of the other', 'Backend', group({ team: 'blog' }), 'LabelNotAllowed', group({ team: 'shop' })],
  [
    'takes the tunnels of both',
    'Backend',
    group({ app: 'web' }),
    'LabelNotAllowed',
    group({ app: 'web', team: 'shop' }),
  ],
  [
    'takes all tunnels',
    'Backend',
    { type: 'TunnelGroup', tunnelGroup: {} },
    'LabelNotAllowed',
    group({ team: 'shop', app: 'db' }),
  ],
]

describe('a team', () => {
  test.each(attempts.map((attempt, index) => [...attempt, index] as const))(
    'that %s (%s) makes no call',
    async (_what, kind, spec, reason, allowed, index) => {
      const before = await stateOfPrey()
      expect(before.map(({ status }) => status)).toEqual(prey.map(() => 200))
      const mark = world.mark()
      const name = `attempt-${index}`
      await shop.apply(kind, name, inShared(spec))
      const refused = await shop.until(kind, name, `says ${reason}`, syncedReason(reason))
      const { message = '' } = conditionOf(refused, 'Synced') ?? {}
      expect(message).toMatch(/^spec\.\w+/)
      expect(message).toContain(`ClusterAccount/${account.name} allows namespace ${shop.namespace}`)
      expect(conditionOf(refused, 'Stalled')?.status).toBe('True')
      expect(world.writes(mark)).toEqual([])
      await shop.apply(kind, `${name}-allowed`, inShared(allowed))
      await shop.ready(kind, `${name}-allowed`)
      expect(await stateOfPrey()).toEqual(before)
      const ids = prey.map((path) => path.split('/').at(-1) ?? '')
      const about = world.writes(mark).filter(({ path }) => ids.some((id) => path.includes(id)))
      expect(about).toEqual([])
    },
  )

  test('may not listen on a foreign domain, by reference or by name', async () => {
    const other = await SharedAccount.create(world, `by-reference-${shop.namespace}`, [
      { ...selector, kinds: ['ReservedDomain'] },
      { ...selector, kinds: ['Edge'], domains },
    ])
    await shop.apply('ReservedDomain', 'foreign', inShared({ domain: 'news.example.com' }, other))
    await shop.ready('ReservedDomain', 'foreign')
    const mark = world.mark()
    const hostports = [{ type: 'ReservedDomain', reservedDomainRef: { name: 'foreign' }, port: 443 }]
    await shop.apply('Edge', 'by-reference', inShared({ protocol: 'TLS', hostports }, other))
    const refused = await shop.until('Edge', 'by-reference', 'is refused', syncedReason('DomainNotAllowed'))
    expect(conditionOf(refused, 'Synced')?.message).toContain(
      'spec.hostports[0].reservedDomainRef: takes news.example.com',
    )
    expect(world.writes(mark)).toEqual([])
  })
})

describe('resources that limits no longer allow', () => {
  test.each([
    [
      'ReservedDomain',
      { domain: 'kept.example.com' },
      'DomainNotAllowed',
      { ...selector, domains: ['other.example.com'] },
    ],
    ['Backend', group({ app: 'kept' }), 'LabelNotAllowed', { ...selector, labels: { team: 'shop' } }],
    ['TunnelCredential', credential(['bind:kept.example.com']), 'DomainNotAllowed', { ...selector, domains: [] }],
  ])(
    '%s is neither changed nor deleted, and continues once it is allowed again',
    async (kind, spec, reason, narrow) => {
      const own = await SharedAccount.create(world, `narrowed-${kind.toLowerCase()}`, [selector])
      const name = 'kept'
      await shop.apply(kind, name, inShared(spec, own))
      await shop.ready(kind, name)
      await own.allow([narrow])
      const narrowed = await shop.until(kind, name, 'is not allowed', syncedReason(reason))
      expect(conditionOf(narrowed, 'Ready')?.status).toBe('True')
      const mark = world.mark()
      await shop.apply(kind, name, inShared({ ...spec, description: 'edited' }, own))
      await shop.until(kind, name, 'is still not allowed', syncedReason(reason))
      await shop.delete(kind, name)
      await shop.until(kind, name, 'waits', (cr) => conditionOf(cr, 'Ready')?.reason === reason)
      expect(world.writes(mark)).toEqual([])
      await own.allow([selector])
      const gone = async () => ((await shop.get(kind, name)) === undefined ? true : undefined)
      await until(`${kind}/${name} is gone`, gone, { describe: () => shop.get(kind, name) })
      expect(world.writes(mark).map(({ method }) => method)).toEqual(['DELETE'])
    },
  )
})

test('a team with a share of the request budget stays within it and leaves the rest to others', {
  tags: 'nightly',
}, async () => {
  const perMinute = 60
  const many = 40
  const blog = await tenant('blog')
  const both = await SharedAccount.create(world, `paced-${shop.namespace}`, [
    { ...selector, requestsPerMinute: perMinute },
    { namespaceSelector: { matchLabels: { team: 'blog' } } },
  ])
  const spec = (index: number) => inShared({ ...group({ app: `web-${index}` }) }, both)
  const mark = world.mark()
  const began = performance.now()
  await shop.applyMany(many, (index) => `paced-${index}`, spec)
  await blog.applyMany(20, (index) => `free-${index}`, spec)
  for (let index = 0; index < 20; index++) await blog.ready('Backend', `free-${index}`, 30_000)
  const made = () => world.writes(mark).filter(({ body }) => JSON.stringify(body).includes(shop.namespace)).length
  expect(made(), 'the others did not wait for them').toBeLessThan(many)
  const share = `waits for its share of the requests: ClusterAccount/${both.name} gives namespace ${shop.namespace} ${perMinute}`
  await shop.until('Backend', `paced-${many - 1}`, 'says what it waits for', (cr) => {
    return conditionOf(cr, 'Ready')?.message.includes(share) === true || cr.status?.id !== undefined
  })
  const minutes = () => (performance.now() - began) / 60_000
  await until('half of them are made', async () => (made() >= many / 2 ? true : undefined), { timeoutMs: 90_000 })
  // Requests in flight when the share was used up, at most as many as there are workers.
  const sent = made()
  expect(sent).toBeLessThanOrEqual(perMinute * minutes() + perMinute / 20 + 16)
  expect(minutes() * 60, 'it took as long as it should').toBeGreaterThan(2)
  await shop.release(['Backend'])
  await world.kube.delete(typeOf('ClusterAccount'), { name: both.name })
})
