// @module-tag nightly
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import { startOwnCluster } from '../../cluster/support/own-cluster.ts'
import { until } from '../../cluster/support/wait.ts'
import { Author } from '../support/author.ts'

/*
 * The sample policies of examples/policies, as an administrator applies them, against a user who may write every kind
 * in a namespace.
 */

const FOLDER = fileURLToPath(new URL('../../../examples/policies/', import.meta.url))
const PLACE = 'sample-policies'
/** A namespace in which resources need plans. */
const PLANNED = 'sample-policies-plans'
const shared = (name: string) => ({ accountRef: { kind: 'ClusterAccount', name } })
const POLICY = { rulesSource: 'IPPolicyRules' }
const own = { accountRef: { name: 'own' } }

function edgeOn(...hosts: readonly string[]) {
  return { protocol: 'TLS', hostports: hosts.map((host) => ({ type: 'Host', host, port: 443 })), ...own }
}

interface Case {
  readonly kind: string
  readonly spec: Readonly<Record<string, unknown>>
  /** Part of the refusal; an empty text if it is accepted. */
  readonly says: string
}

const cases: readonly Case[] = [
  { kind: 'IPPolicy', spec: { ...POLICY, ...shared('staging') }, says: '' },
  { kind: 'IPPolicy', spec: { ...POLICY, ...shared('production') }, says: '' },
  { kind: 'IPPolicy', spec: { ...POLICY, ...own }, says: '' },
  { kind: 'IPPolicy', spec: { ...POLICY, ...shared('other') }, says: 'may not use ClusterAccount other' },
  { kind: 'IPPolicy', spec: POLICY, says: 'spec.accountRef: name the account' },
  { kind: 'APIKey', spec: shared('prod'), says: 'may not use ClusterAccount prod' },
  { kind: 'IPPolicyRule', spec: { ipPolicyRef: { name: 'a' }, cidr: '10.0.0.0/8', action: 'Allow' }, says: '' },
  { kind: 'Account', spec: { baseURL: 'https://api.example.com', apiKeySecretRef: { name: 'a' } }, says: '' },
  {
    kind: 'IPPolicy',
    spec: { ...POLICY, ...own, externalID: 'ipp_1', managementPolicy: 'Observe' },
    says: 'spec.externalID: ask the platform team',
  },
  { kind: 'ReservedDomain', spec: { domain: 'shop.example.com', ...own }, says: '' },
  { kind: 'ReservedDomain', spec: { domain: 'a.b.apps.example.com', ...own }, says: '' },
  { kind: 'ReservedDomain', spec: { domain: '*.apps.example.com', ...own }, says: '' },
  { kind: 'ReservedDomain', spec: { domain: 'apps.example.com', ...own }, says: 'is not among the domains' },
  { kind: 'ReservedDomain', spec: { domain: 'bank.example.com', ...own }, says: 'is not among the domains' },
  { kind: 'ReservedDomain', spec: { domain: 'x.shop.example.com', ...own }, says: 'is not among the domains' },
  { kind: 'AgentIngress', spec: { domain: 'example.com', ...own }, says: 'is not among the domains' },
  // It would take every name below as well.
  {
    kind: 'AgentIngress',
    spec: { domain: 'shop.example.com', ...own },
    says: '*.shop.example.com is not among the domains',
  },
  { kind: 'Edge', spec: edgeOn('shop.example.com', 'b.apps.example.com'), says: '' },
  { kind: 'Edge', spec: edgeOn(), says: '' },
  { kind: 'Edge', spec: edgeOn('bank.example.com'), says: 'bank.example.com is not among the domains' },
  { kind: 'Edge', spec: edgeOn('shop.example.com', 'x.shop.example.com'), says: 'x.shop.example.com is not among' },
  { kind: 'AgentIngress', spec: { domain: 'agents.apps.example.com', ...own }, says: '' },
]

let cluster: ControlPlane
let eve: Author

async function admin(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await cluster.kubectl(args)
  expect(code, stderr).toBe(0)
}

beforeAll(async () => {
  cluster = await startOwnCluster()
  for (const name of [PLACE, PLANNED]) await admin('create', 'namespace', name)
  eve = await Author.create(cluster, { name: 'eve', namespace: PLACE, admin: true })
  const former = { domain: 'former.example.com' }
  expect(await eve.create(eve.manifest('ReservedDomain', 'former', former))).toBe('')
  const lists = ['cluster-accounts=staging, production', 'domains=shop.example.com, *.apps.example.com']
  await admin('annotate', 'namespace', PLACE, ...lists.map((each) => `policies.example.com/${each}`))
  await admin('label', 'namespace', PLANNED, 'policies.example.com/plans-only=true')
  const names = ['cluster-accounts', 'no-external-id', 'domains-by-namespace', 'plans-only', 'account-labels']
  for (const name of names) {
    await admin('apply', '--server-side', '-f', `${FOLDER}${name}.yaml`)
  }
  for (const { kind, spec, says } of cases) {
    const manifest = eve.manifest(kind, 'probe', spec)
    const look = async () => {
      const answer = await eve.creating(manifest)
      return says === '' ? answer === '' : answer.includes(says)
    }
    await until(`the policies are in force for ${kind}`, look, { describe: () => eve.creating(manifest) })
  }
}, 300_000)
afterAll(() => cluster.stop())

test.each(cases.map(({ kind, spec, says }) => [kind, JSON.stringify(spec), says, spec] as const))(
  '%s %s: %s',
  async (kind, _text, says, spec) => {
    const answer = await eve.creating(eve.manifest(kind, 'probe', spec))
    if (says === '') expect(answer).toBe('')
    else expect(answer).toContain(says)
  },
)

test('the platform team adopts objects that others may not', async () => {
  const manifest = eve.manifest('IPPolicy', 'adopted', {
    ...POLICY,
    ...own,
    externalID: 'ipp_1',
    managementPolicy: 'Observe',
  })
  expect(await eve.creating(manifest, { groups: ['platform-team'] })).toBe('')
})

test('existing resources can still be patched, edited otherwise and deleted', async () => {
  const patch = (body: object) => eve.patch('ReservedDomain', 'former', body)
  expect(await patch({ metadata: { labels: { by: 'a-controller' } } })).toBe('')
  expect(await patch({ spec: { description: 'edited' } })).toBe('')
  expect(await eve.delete('ReservedDomain', 'former')).toBe('')
})

test('only the platform team labels accounts for another operator, whatever else others write', async () => {
  const label = 'culvert.example.com/part'
  const refused = `metadata.labels[${label}]: ask the platform team`
  const account = (name: string, labels: object) => {
    const manifest = eve.manifest('Account', name, {
      baseURL: 'https://api.example.com',
      apiKeySecretRef: { name: 'key' },
    })
    return { ...manifest, metadata: { ...manifest.metadata, labels } }
  }
  const platform = { groups: ['platform-team'] }
  const moved = account('moved', { [label]: 'b' })
  await until('the policy is in force', async () => (await eve.creating(moved)).includes(refused))
  expect(await eve.creating(moved, platform)).toBe('')
  expect(await eve.create(account('own', { team: 'shop' }))).toBe('')
  const patch = (labels: object, settings?: object) => eve.patch('Account', 'own', { metadata: { labels } }, settings)
  expect(await patch({ [label]: 'b' })).toContain(refused)
  expect(await patch({ [label]: '' })).toContain(refused)
  expect(await patch({ [label]: 'b' }, platform)).toBe('')
  expect(await patch({ [label]: null })).toContain(refused)
  expect(await patch({ team: 'blog' })).toBe('')
})

test('where plans are required, only those who may approve them manage without', async () => {
  using ed = await Author.create(cluster, { name: 'ed', namespace: PLANNED })
  using boss = await Author.create(cluster, { name: 'boss', namespace: PLANNED, admin: true })
  const spec = { ...POLICY, ...own }
  const managed = ed.manifest('IPPolicy', 'office', spec)
  const refused = 'spec.managementPolicy: set Plan'
  await until('the policy is in force', async () => (await ed.creating(managed)).includes(refused))
  expect(await ed.creating(ed.manifest('IPPolicy', 'office', { ...spec, managementPolicy: 'Plan' }))).toBe('')
  expect(await ed.creating(ed.manifest('IPPolicy', 'office', { ...spec, managementPolicy: 'Manage' }))).toContain(
    refused,
  )
  expect(await boss.create(managed)).toBe('')
  expect(await ed.patch('IPPolicy', 'office', { spec: { description: 'edited' } })).toContain(refused)
  expect(await ed.patch('IPPolicy', 'office', { metadata: { labels: { by: 'a-controller' } } })).toBe('')
  expect(await ed.patch('IPPolicy', 'office', { spec: { managementPolicy: 'Plan' } })).toBe('')
  // What has no plans is not asked for any.
  const tunnel = { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } }
  expect(await ed.creating(ed.manifest('Tunnel', 'shop', tunnel))).toBe('')
})
