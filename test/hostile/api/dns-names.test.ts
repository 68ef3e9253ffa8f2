// @module-tag nightly
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import { DNS_ENDPOINT_CRD, dnsEndpointType } from '../../builders/dns-endpoints.ts'
import { unfitTargets } from '../../builders/unfit-answers.ts'
import { startOwnCluster } from '../../cluster/support/own-cluster.ts'
import { until } from '../../cluster/support/wait.ts'
import { conditionOf } from '../../cluster/support/world.ts'
import { LyingWorld } from '../support/lying-world.ts'

/*
 * An API to which tenants have pointed their accounts, or an impostor that answers for it, makes Culvert publish names
 * in the zones that ExternalDNS writes: it reports a different domain for a tenant's, or returns targets that no record
 * may have.
 */

interface DNSEndpoint extends KubeObject {
  readonly spec: {
    readonly endpoints: readonly {
      readonly dnsName: string
      readonly recordType: string
      readonly targets: readonly string[]
    }[]
  }
}

/** The domain in the API's answer, where `$` stands for the true name. */
const forged = [
  'bank.example.com',
  'example.com',
  '*.example.com',
  '_acme-challenge.bank.example.com',
  '$.evil.example.org',
  'www.$',
  '*.$',
  'a b',
  '',
  7,
  ['$'],
] as const

interface Case {
  readonly kind: 'ReservedDomain' | 'AgentIngress'
  readonly name: string
  readonly domain: string
  readonly what: string
  readonly lie: Readonly<Record<string, unknown>>
}

let count = 0
function caseOf(kind: Case['kind'], what: string, lie: (domain: string) => Case['lie'], wildcard = false): Case {
  const name = `c-${count++}`
  const domain = `${wildcard ? '*.' : ''}${name}.shop.example.com`
  return { kind, name, domain, what, lie: lie(domain) }
}

const KINDS = ['ReservedDomain', 'AgentIngress'] as const
const names = KINDS.flatMap((kind) =>
  forged.map((text) => {
    const said = (domain: string): unknown => JSON.parse(JSON.stringify(text).replaceAll('$', domain))
    return caseOf(kind, `is ${JSON.stringify(text)}`, (domain) => ({ domain: said(domain) }))
  }),
)
const targets = unfitTargets.flatMap(([what, value]) => [
  caseOf('ReservedDomain', `points to ${what}`, () => ({ cname_target: value })),
  caseOf(
    'ReservedDomain',
    `has a challenge that points to ${what}`,
    () => ({ acme_challenge_cname_target: value }),
    true,
  ),
  caseOf('AgentIngress', `has a name server that is ${what}`, () => ({ ns_targets: ['ns1.tunnel.example', value] })),
])

/** Of a domain that is published. */
const later = KINDS.flatMap((kind) =>
  (
    [
      ['is another', () => ({ domain: 'bank.example.com' })],
      ['points to an address', () => ({ cname_target: '192.0.2.1', ns_targets: ['192.0.2.1'] })],
      ['points to a text with a line break', () => ({ cname_target: 'a.b\nc.d', ns_targets: ['a.b\nc.d'] })],
      ['needs no records', () => ({ cname_target: null, ns_targets: [] })],
    ] as const
  ).map(([what, lie]) => caseOf(kind, what, lie)),
)

let cluster: ControlPlane
let lying: LyingWorld
/** Whether the API lies about a domain that it reported truthfully before. */
let isLate = false
beforeAll(async () => {
  cluster = await startOwnCluster()
  const { code, stderr } = await cluster.kubectl(['apply', '--server-side', '-f', DNS_ENDPOINT_CRD])
  expect(code, stderr).toBe(0)
  const flags = ['--dns-endpoints', '--dns-domains', '*.shop.example.com']
  lying = await LyingWorld.open({ kubeconfig: cluster.kubeconfigPath, flags })
  const lies = new Map([...names, ...targets].map(({ domain, lie }) => [domain, lie]))
  const lateLies = new Map(later.map(({ domain, lie }) => [domain, lie]))
  lying.lie = ({ domain }) => lies.get(String(domain)) ?? (isLate ? lateLies.get(String(domain)) : undefined) ?? {}
  for (const { kind, name, domain } of [...names, ...targets, ...later]) {
    await lying.world.apply(kind, name, { domain, dns: { endpoint: true } })
  }
}, 300_000)
afterAll(async () => {
  await lying[Symbol.asyncDispose]()
  await cluster.stop()
})

function published(name: string): Promise<DNSEndpoint | undefined> {
  return lying.world.kube.get<DNSEndpoint>(dnsEndpointType, { namespace: lying.world.namespace, name })
}

test.each([...names, ...targets])(
  'nothing is published when the API says that a $kind $what',
  async ({ kind, name }) => {
    const { message } = await lying.world.reason(kind, name, 'DNSEndpointReady', 'AnswerRefused', 90_000)
    expect(message).toMatch(/^the API returned/)
    const resource = await lying.world.get(kind, name)
    expect(conditionOf(resource, 'Synced')).toMatchObject({ status: 'False', reason: 'AnswerRefused' })
    expect(conditionOf(resource, 'Ready')?.status).toBe('False')
    expect(resource?.status?.dnsRecords).toBeUndefined()
    expect(await published(name)).toBeUndefined()
    // Events are sent asynchronously.
    await until('an Event tells of it', async () => {
      return (await lying.world.events(kind, name)).some(({ reason }) => reason === 'AnswerRefused')
    })
  },
)

describe('published records stay when the API says later', () => {
  const before = new Map<string, DNSEndpoint>()
  beforeAll(async () => {
    for (const { kind, name } of later) {
      await lying.world.reason(kind, name, 'DNSEndpointReady', 'InSync', 90_000)
      const found = await published(name)
      if (found !== undefined) before.set(name, found)
    }
    isLate = true
    await lying.world.resync()
  })

  test.each(later)('that a $kind $what', async ({ kind, name, domain }) => {
    const { message } = await lying.world.reason(kind, name, 'DNSEndpointReady', 'AnswerRefused', 90_000)
    expect(message).toContain(`DNSEndpoint ${name} is not changed`)
    const found = await published(name)
    expect(found?.spec.endpoints.map(({ dnsName }) => dnsName)).toEqual([domain])
    expect(found?.metadata.resourceVersion).toBe(before.get(name)?.metadata.resourceVersion)
  })

  test('and a correct answer resolves it', async () => {
    isLate = false
    await lying.world.resync()
    for (const { kind, name } of later) {
      await lying.world.reason(kind, name, 'DNSEndpointReady', 'InSync', 90_000)
      await lying.world.ready(kind, name)
      expect((await published(name))?.metadata.resourceVersion).toBe(before.get(name)?.metadata.resourceVersion)
    }
  })
})

test('no object was changed at the API, and only names from specs are published', async () => {
  expect(lying.world.writes().filter(({ method }) => method !== 'POST')).toEqual([])
  const { items } = await lying.world.kube.list<DNSEndpoint>(dnsEndpointType, { namespace: lying.world.namespace })
  const all = items.flatMap(({ spec }) => spec.endpoints)
  expect(all.map(({ dnsName }) => dnsName).sort()).toEqual(later.map(({ domain }) => domain).sort())
  for (const { targets: values } of all) for (const value of values) expect(value).toMatch(/\.tunnel\.example$/)
})
