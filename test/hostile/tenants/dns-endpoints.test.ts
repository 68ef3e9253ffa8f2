import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import { DNS_ENDPOINT_CRD } from '../../builders/dns-endpoints.ts'
import { AuditLog } from '../../cluster/support/audit-log.ts'
import { startOwnCluster } from '../../cluster/support/own-cluster.ts'
import { World } from '../../cluster/support/world.ts'
import { Author } from '../support/author.ts'

/*
 * A user with the chart's role `edit` in one namespace, who may not create DNSEndpoints, asks Culvert for names that
 * are not theirs, including NS records, which delegate everything below a name.
 */

/** The requested names, and whether a list with `shop.example.com` and `*.apps.example.com` allows them. */
const asked: readonly (readonly [kind: string, domain: string, isListed: boolean])[] = [
  ['ReservedDomain', 'bank.example.com', false],
  ['ReservedDomain', '*.example.com', false],
  ['ReservedDomain', 'login.shop.example.com', false],
  ['ReservedDomain', '*.shop.example.com', false],
  ['ReservedDomain', 'apps.example.com', false],
  ['ReservedDomain', 'notapps.example.com', false],
  ['ReservedDomain', 'shop.example.com.evil.example.org', false],
  ['ReservedDomain', 'shop.example.com', true],
  ['ReservedDomain', '*.apps.example.com', true],
  ['ReservedDomain', 'a.b.apps.example.com', true],
  ['AgentIngress', 'example.com', false],
  ['AgentIngress', 'example.org', false],
  ['AgentIngress', 'apps.example.com', false],
  ['AgentIngress', 'agents.shop.example.com', false],
  ['AgentIngress', 'agents.apps.example.com', true],
]

let cluster: ControlPlane
beforeAll(async () => {
  cluster = await startOwnCluster()
  const { code, stderr } = await cluster.kubectl(['apply', '--server-side', '-f', DNS_ENDPOINT_CRD])
  expect(code, stderr).toBe(0)
})
afterAll(() => cluster.stop())

/** `namespace/name: domains` of all DNSEndpoints of the cluster. */
async function published(): Promise<readonly string[]> {
  const { code, stdout, stderr } = await cluster.kubectl(['get', 'dnsendpoints', '-A', '-o', 'json'])
  expect(code, stderr).toBe(0)
  interface Item {
    readonly metadata: { readonly namespace: string; readonly name: string }
    readonly spec: { readonly endpoints: readonly { readonly dnsName: string }[] }
  }
  return (JSON.parse(stdout) as { readonly items: readonly Item[] }).items.map(({ metadata, spec }) => {
    return `${metadata.namespace}/${metadata.name}: ${spec.endpoints.map(({ dnsName }) => dnsName).join(' ')}`
  })
}

async function authorIn({ namespace }: World): Promise<Author> {
  const author = await Author.create(cluster, { name: `eve-${namespace}`, namespace })
  expect(await author.can('create', 'dnsendpoints.externaldns.k8s.io')).toBe(false)
  return author
}

async function askFor(author: Author): Promise<void> {
  for (const [index, [kind, domain]] of asked.entries()) {
    const manifest = author.manifest(kind, `name-${index}`, { domain, dns: { endpoint: true } })
    expect(await author.create(manifest)).toBe('')
  }
}

describe('an operator without --dns-endpoints', () => {
  let world: World
  beforeAll(async () => {
    world = await World.open({ kubeconfig: cluster.kubeconfigPath })
    await askFor(await authorIn(world))
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test.each(asked.map(([kind, domain], index) => [kind, domain, index] as const))(
    'makes no DNSEndpoint for %s %s, and says so',
    async (kind, domain, index) => {
      await world.ready(kind, `name-${index}`)
      const { message } = await world.reason(kind, `name-${index}`, 'DNSEndpointReady', 'DNSEndpointNotAllowed')
      expect(message).toContain(domain)
      expect(message).toContain('--dns-endpoints')
    },
  )

  test('sends the API server no request about DNSEndpoints, and none exists', async () => {
    const path = cluster.auditLogPath ?? expect.fail('the API server writes no audit log')
    const uses = (await new AuditLog(path).entries(0)).filter(({ userAgent, resource }) => {
      return userAgent === 'culvert' && resource === 'dnsendpoints'
    })
    expect(uses).toEqual([])
    expect(await readFile(path, 'utf8')).toContain('reserveddomains')
    expect(await published()).toEqual([])
  })
})

describe('an operator with a list of domains', () => {
  let world: World
  beforeAll(async () => {
    const flags = ['--dns-endpoints', '--dns-domains', 'shop.example.com,*.apps.example.com']
    world = await World.open({ kubeconfig: cluster.kubeconfigPath, flags })
    await askFor(await authorIn(world))
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test.each(asked.map(([kind, domain, isListed], index) => [kind, domain, isListed, index] as const))(
    'has of %s %s: %s',
    async (kind, domain, isListed, index) => {
      const reason = isListed ? 'InSync' : 'DNSEndpointNotAllowed'
      const { message } = await world.reason(kind, `name-${index}`, 'DNSEndpointReady', reason)
      if (!isListed) expect(message).toContain(`spec.domain ${domain} is not`)
      const isMine = (each: string): boolean => each.startsWith(`${world.namespace}/name-${index}: `)
      expect((await published()).filter(isMine)).toHaveLength(isListed ? 1 : 0)
    },
  )

  test('has published nothing outside the list', async () => {
    const names = (await published()).flatMap((each) => each.split(': ')[1]?.split(' ') ?? [])
    expect(names.filter((name) => !/^shop\.example\.com$|\.apps\.example\.com$/.test(name))).toEqual([])
  })
})
