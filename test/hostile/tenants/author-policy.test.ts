import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import { secretFields } from '../../../scripts/permissions/author-policy.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { DNS_ENDPOINT_CRD } from '../../builders/dns-endpoints.ts'
import type { RequestSettings } from '../../cluster/support/kube-user.ts'
import { startOwnCluster } from '../../cluster/support/own-cluster.ts'
import { until } from '../../cluster/support/wait.ts'
import { World } from '../../cluster/support/world.ts'
import { Author, type Right } from '../support/author.ts'
import { authorPolicyFile, installAuthorPolicy } from '../support/author-policy.ts'

/*
 * A user with the chart's roles in one namespace, and no rights to Secrets, ConfigMaps or DNSEndpoints, makes the
 * operator use its own rights: with the chart's policy for authors, users need the right themselves.
 */

const PLACE = 'author-policy'
const HOME = 'author-policy-op'

const readSecret: Right = { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['payroll'] }
const create = (resource: string, group = ''): Right => ({
  apiGroups: [group],
  resources: [resource],
  verbs: ['create'],
})
const payroll = { name: 'payroll', key: 'value' }

interface Try {
  readonly kind: string
  /** The field that makes the operator act. */
  readonly field: string
  readonly spec: Readonly<Record<string, unknown>>
  /** The right that an author needs. */
  readonly right: Right
  /** Merge patches of the spec that make the operator act again. */
  readonly anew: readonly object[]
}

const accessKey = { accessKeyIDSecretRef: payroll, secretAccessKeySecretRef: payroll }
const CLOUDS = [
  ['Firehose', 'firehose', 'deliveryStreamARN'],
  ['Kinesis', 'kinesis', 'streamARN'],
  ['CloudWatchLogs', 'cloudWatchLogs', 'logGroupARN'],
] as const

function certificate() {
  return { sshCertificateAuthorityRef: { id: 'sshca_1' }, principals: ['app'] }
}

const fromSecret = { secretKeyRef: payroll }
const otherKey = { secretKeyRef: { ...payroll, key: 'other' } }

const tries: readonly Try[] = [
  {
    kind: 'Account',
    field: 'apiKeySecretRef',
    spec: { baseURL: 'https://api.example.com', apiKeySecretRef: payroll },
    right: readSecret,
    anew: [{ apiKeySecretRef: { key: 'other' } }, { caBundle: '-----BEGIN CERTIFICATE-----' }],
  },
  ...['SSHUserCertificate', 'SSHHostCertificate'].map((kind) => ({
    kind,
    field: 'publicKeyFrom.secretKeyRef',
    spec: { ...certificate(), publicKeyFrom: fromSecret },
    right: readSecret,
    anew: [],
  })),
  {
    kind: 'SSHCredential',
    field: 'publicKeyFrom.secretKeyRef',
    spec: { publicKeyFrom: fromSecret },
    right: readSecret,
    anew: [{ publicKeyFrom: otherKey }],
  },
  {
    kind: 'CertificateAuthority',
    field: 'caPEMFrom.secretKeyRef',
    spec: { caPEMFrom: fromSecret },
    right: readSecret,
    anew: [{ caPEMFrom: otherKey }],
  },
  {
    kind: 'EventDestination',
    field: 'monitor.apiKeySecretRef',
    spec: { type: 'Monitor', monitor: { apiKeySecretRef: payroll } },
    right: readSecret,
    anew: [{ monitor: { site: 'elsewhere.example.org' } }, { monitor: { apiKeySecretRef: { key: 'other' } } }],
  },
  ...CLOUDS.flatMap(([type, member, name]) =>
    Object.keys(accessKey).map((field) => ({
      kind: 'EventDestination',
      field: `${member}.auth.accessKey.${field}`,
      spec: {
        type,
        [member]: {
          [name]: 'arn:cloud:1',
          // Only the field under test names the Secret that they may not read.
          auth: { type: 'AccessKey', accessKey: { ...both({ name: 'own', key: 'value' }), [field]: payroll } },
        },
      },
      right: readSecret,
      anew: [{ [member]: { [name]: 'arn:cloud:2' } }],
    })),
  ),
  ...['APIKey', 'TunnelCredential'].flatMap((kind) => [
    { kind, field: 'output.secret', spec: {}, right: create('secrets'), anew: [{ output: { secret: { name: 'b' } } }] },
    {
      kind,
      field: 'output.secret',
      spec: { output: { secret: { name: 'another' } } },
      right: create('secrets'),
      anew: [{ output: null }, { output: { secret: { key: 'other' } } }],
    },
  ]),
  ...['SSHUserCertificate', 'SSHHostCertificate'].flatMap((kind) => [
    {
      kind,
      field: 'output.secret',
      spec: { ...certificate(), publicKey: KEY(), output: { secret: { name: 'out' } } },
      right: create('secrets'),
      anew: [{ output: { secret: { name: 'b' } } }],
    },
    {
      kind,
      field: 'output.configMap',
      spec: { ...certificate(), publicKey: KEY(), output: { configMap: { name: 'out' } } },
      right: create('configmaps'),
      anew: [{ output: { configMap: { name: 'b' } } }],
    },
  ]),
  {
    kind: 'SSHCertificateAuthority',
    field: 'output.configMap',
    spec: { output: { configMap: { name: 'out' } } },
    right: create('configmaps'),
    anew: [{ output: { configMap: { name: 'b' } } }],
  },
  {
    kind: 'Tunnel',
    field: 'credentialRef.privateKeySecretRef',
    spec: { ...tunnel(), credentialRef: { name: 'own', privateKeySecretRef: payroll } },
    right: readSecret,
    anew: [{ credentialRef: { privateKeySecretRef: { key: 'other' } } }],
  },
  {
    kind: 'Tunnel',
    field: 'template',
    spec: { ...tunnel(), template: { nodeSelector: { pool: 'edge' } } },
    right: create('deployments', 'apps'),
    anew: [{ template: { nodeSelector: { pool: 'other' } } }, { template: { labels: { a: 'b' } } }],
  },
  {
    kind: 'Tunnel',
    field: 'agent',
    spec: { ...tunnel(), agent: { image: 'registry.example.com/agents/own:1' } },
    right: create('deployments', 'apps'),
    anew: [{ agent: { image: 'registry.example.com/agents/own:2' } }, { agent: { args: ['--all'] } }],
  },
  ...['ReservedDomain', 'AgentIngress'].map((kind) => ({
    kind,
    field: 'dns.endpoint',
    spec: { domain: 'bank.example.com', dns: { endpoint: true } },
    right: create('dnsendpoints', 'externaldns.k8s.io'),
    anew: [],
  })),
]

function tunnel() {
  return { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } }
}

function both<T>(ref: T) {
  return { accessKeyIDSecretRef: ref, secretAccessKeySecretRef: ref }
}

function KEY(): string {
  return 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0yXMFdBTZVzm3pVkKmYlRJyK9aT2TzVXU0NXZ0cGdY author'
}

let cluster: ControlPlane
let eve: Author
beforeAll(async () => {
  cluster = await startOwnCluster()
  const crd = await cluster.kubectl(['apply', '--server-side', '-f', DNS_ENDPOINT_CRD])
  expect(crd.code, crd.stderr).toBe(0)
  for (const name of [PLACE, HOME]) await cluster.kubectl(['create', 'namespace', name])
  eve = await Author.create(cluster, { name: 'eve', namespace: PLACE, admin: true })
  await eve.grant('own', [{ ...readSecret, resourceNames: ['own'] }])
  const probe = eve.manifest('TunnelCredential', 'probe', {})
  await installAuthorPolicy(cluster, HOME, async () => (await eve.creating(probe)).includes('culvert-authors'))
})
afterAll(() => cluster.stop())

const titled = tries.map((each, index) => [each.kind, each.field, each, index] as const)

/** The answer once the API server has observed a grant or its revocation. */
function settles(what: string, look: () => Promise<string>, part: string): Promise<unknown> {
  const met = async () => {
    const answer = await look()
    return part === '' ? answer === '' : answer.includes(part)
  }
  return until(what, met, { timeoutMs: 20_000, describe: look })
}

describe.each(titled)('%s with %s', (kind, field, { spec, right, anew }, index) => {
  const name = `try-${index}`
  const refused = `spec.${field}: eve may not ${right.verbs.join()}`
  const patching = (body: object, settings?: RequestSettings) => eve.patch(kind, name, body, settings)
  const [group = ''] = right.apiGroups
  const resource = `${right.resources.join()}${group === '' ? '' : `.${group}`}${right.resourceNames ? '/payroll' : ''}`

  test('is refused to an author without the right, accepted from one with it, and checked only on change', async () => {
    expect(await eve.can(right.verbs.join(), resource)).toBe(false)
    const manifest = eve.manifest(kind, name, spec)
    expect(await eve.creating(manifest)).toContain(refused)

    await eve.grant(name, [right])
    await settles(`${name} is taken`, () => eve.creating(manifest), '')
    expect(await eve.can(right.verbs.join(), resource)).toBe(true)
    expect(await eve.create(manifest)).toBe('')
    await eve.revoke(name)
    await settles(`${name} is refused again`, () => eve.creating(eve.manifest(kind, `${name}-b`, spec)), refused)
    expect(await eve.can(right.verbs.join(), resource)).toBe(false)

    expect(await patching({ metadata: { labels: { by: 'a-controller' }, finalizers: ['example.com/a'] } })).toBe('')
    expect(await patching({ spec: {} })).toBe('')
    const other = kind === 'Tunnel' ? { replicas: 3 } : { deletionPolicy: 'Retain' }
    if (kind !== 'Account') expect(await patching({ spec: other })).toBe('')
    for (const each of anew) expect(await patching({ spec: each }, { dryRun: true })).toContain(refused)
    if (kind === 'Tunnel') {
      // Who may not set it may take it away.
      expect(await patching({ spec: { [field.split('.')[0] ?? '']: null } }, { dryRun: true })).toBe('')
    } else if (kind !== 'Account') {
      const elsewhere = await patching({ spec: { accountRef: { name: 'elsewhere' } } }, { dryRun: true })
      if (right === readSecret && !elsewhere.includes('mmutable')) expect(elsewhere).toContain(refused)
    }
    expect(await patching({ metadata: { finalizers: null } })).toBe('')
    expect(await eve.delete(kind, name)).toBe('')
  })
})

test('a ClusterAccount’s key is checked in the operator’s namespace', async () => {
  const root = await Author.create(cluster, { name: 'root-of-place', namespace: PLACE })
  const clusterRole = [
    'create',
    'clusterrole',
    'writes-accounts',
    '--verb=create',
    '--resource=clusteraccounts.culvert.dev',
  ]
  expect((await cluster.kubectl(clusterRole)).code).toBe(0)
  const bind = [
    'create',
    'clusterrolebinding',
    'writes-accounts',
    '--clusterrole=writes-accounts',
    `--user=${root.name}`,
  ]
  expect((await cluster.kubectl(bind)).code).toBe(0)
  await root.grant('payroll', [readSecret])
  const manifest = {
    apiVersion: 'culvert.dev/v1alpha1',
    kind: 'ClusterAccount',
    metadata: { name: 'all' },
    spec: { baseURL: 'https://api.example.com', apiKeySecretRef: payroll },
  }
  await settles('it is refused', () => root.creating(manifest), `may not get Secret payroll in namespace ${HOME}`)
  const inHome = await Author.create(cluster, { name: root.name, namespace: HOME })
  await inHome.grant('payroll', [readSecret])
  await settles('it is taken', () => root.creating(manifest), '')
})

const planned = { managementPolicy: 'Plan', type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } }

describe('a plan that waits for approval', () => {
  const approved = { metadata: { annotations: { 'culvert.dev/approved-plan': '1a2b' } } }

  test('is approved by users who may approve, not by everybody who may edit', async () => {
    using ed = await Author.create(cluster, { name: 'ed', namespace: PLACE })
    expect(await ed.create(ed.manifest('Backend', 'planned', planned))).toBe('')
    expect(await ed.patch('Backend', 'planned', { spec: { description: 'edited' } })).toBe('')
    const refused = 'ed may not approve plans of this resource'
    expect(await ed.patch('Backend', 'planned', approved)).toContain(refused)
    const manifest = ed.manifest('Backend', 'another', planned)
    const metadata = { ...manifest.metadata, ...approved.metadata }
    expect(await ed.creating({ ...manifest, metadata })).toContain(refused)
    for (const managementPolicy of ['Manage', 'Observe', null]) {
      expect(await ed.patch('Backend', 'planned', { spec: { managementPolicy } }, { dryRun: true })).toContain(refused)
    }

    const right = {
      apiGroups: ['culvert.dev'],
      resources: ['backends'],
      verbs: ['approve'],
      resourceNames: ['planned'],
    }
    await ed.grant('approve', [right])
    await settles('it is approved', () => ed.patch('Backend', 'planned', approved), '')
    // Others write next to the approval.
    await ed.revoke('approve')
    const again = { metadata: { annotations: { 'culvert.dev/approved-plan': '3c4d' } } }
    await settles('it is refused again', () => ed.patch('Backend', 'planned', again, { dryRun: true }), refused)
    expect(await ed.patch('Backend', 'planned', { metadata: { labels: { by: 'a-controller' } } })).toBe('')
    expect(await ed.delete('Backend', 'planned')).toBe('')
  })

  test('cannot be evaded by a release of its object, which could then be managed without plans', async () => {
    using ed = await Author.create(cluster, { name: 'evader', namespace: PLACE })
    const finalizers = ['culvert.dev/remote']
    const held = { metadata: { finalizers } }
    expect(await ed.create(ed.manifest('Backend', 'evaded', planned))).toBe('')
    expect(await ed.patch('Backend', 'evaded', held)).toBe('')
    const refused = 'evader may not approve plans of this resource'
    const free = { metadata: { finalizers: ['example.com/other'] } }
    expect(await ed.patch('Backend', 'evaded', free)).toContain(`metadata.finalizers: ${refused}`)
    const both = { ...free, spec: { managementPolicy: 'Manage' } }
    expect(await ed.patch('Backend', 'evaded', both)).toContain(refused)
    const retain = { spec: { deletionPolicy: 'Retain' } }
    expect(await ed.patch('Backend', 'evaded', retain)).toContain(`spec.deletionPolicy: ${refused}`)
    const retained = ed.manifest('Backend', 'retained', { ...planned, ...retain.spec })
    expect(await ed.creating(retained)).toContain(`spec.deletionPolicy: ${refused}`)
    // An adopted object stays by default.
    const adopted = { ...planned, externalID: 'bkdtg_1' }
    expect(await ed.creating(ed.manifest('Backend', 'adopted', adopted))).toContain(`spec.deletionPolicy: ${refused}`)
    expect(await ed.creating(ed.manifest('Backend', 'adopted', { ...adopted, deletionPolicy: 'Delete' }))).toBe('')
    // Others may still be added and removed, and the deletion may begin.
    expect(await ed.patch('Backend', 'evaded', { metadata: { finalizers: [...finalizers, 'example.com/a'] } })).toBe('')
    expect(await ed.patch('Backend', 'evaded', held)).toBe('')
    expect(await ed.delete('Backend', 'evaded')).toBe('')
    expect(await ed.patch('Backend', 'evaded', { metadata: { finalizers: null } })).toContain(refused)
    expect(await ed.patch('Backend', 'evaded', retain)).toContain(refused)
    expect(await ed.creating(ed.manifest('Backend', 'evaded', { ...planned, managementPolicy: 'Manage' }))).toContain(
      'already exists',
    )
    expect(await eve.patch('Backend', 'evaded', { metadata: { finalizers: null } })).toBe('')
  })

  test('binds nobody who manages without plans', async () => {
    using ed = await Author.create(cluster, { name: 'manager', namespace: PLACE })
    expect(await ed.create(ed.manifest('Backend', 'managed', { ...planned, managementPolicy: 'Manage' }))).toBe('')
    expect(await ed.patch('Backend', 'managed', { metadata: { finalizers: ['culvert.dev/remote'] } })).toBe('')
    expect(await ed.patch('Backend', 'managed', { spec: { deletionPolicy: 'Retain' } })).toBe('')
    expect(await ed.patch('Backend', 'managed', { metadata: { finalizers: null } })).toBe('')
    expect(await ed.delete('Backend', 'managed')).toBe('')
  })

  test('is approved by administrators of the namespace', async () => {
    expect(await eve.create(eve.manifest('Backend', 'of-eve', planned))).toBe('')
    expect(await eve.patch('Backend', 'of-eve', approved)).toBe('')
    expect(await eve.patch('Backend', 'of-eve', { spec: { managementPolicy: 'Manage' } })).toBe('')
  })
})

test('a spec that needs no right is accepted from authors without any', async () => {
  for (const [kind, spec] of [
    ['ReservedDomain', { domain: 'shop.example.com' }],
    ['ReservedDomain', { domain: 'shop.example.com', dns: { endpoint: false, recordTTL: 60 } }],
    ['SSHCertificateAuthority', {}],
    ['SSHCredential', { publicKey: KEY() }],
    ['IPPolicy', { rulesSource: 'IPPolicyRules' }],
    ['Tunnel', { ...tunnel(), replicas: 3 }],
  ] as const) {
    expect(await eve.creating(eve.manifest(kind, 'plain', spec))).toBe('')
  }
})

test('every field of the policy was tried, and the policy has every schema field that names a Secret', async () => {
  const { validations } = await authorPolicyFile()
  const ofInputs = validations.filter(({ message }) => !message.includes('approve plans'))
  const asked = ofInputs.map(({ message }) => message.slice('spec.'.length, message.indexOf(': its author')))
  expect(new Set(tries.map(({ field }) => field))).toEqual(new Set(asked))
  const named = kinds.flatMap((descriptor) => {
    return descriptor.role === 'managed' || descriptor.role === 'account' || descriptor.role === 'composed'
      ? secretFields(descriptor).map((field) => `${descriptor.definition.kind} ${field.join('.')}`)
      : []
  })
  const tried = new Set(tries.map(({ kind, field }) => `${kind} ${field}`))
  expect(named.filter((each) => !tried.has(each))).toEqual(['ClusterAccount apiKeySecretRef'])
})

test('the operator reconciles and deletes resources that its own rights would not let it write', async () => {
  await using world = await World.open({ kubeconfig: cluster.kubeconfigPath })
  await world.apply('ReservedDomain', 'shop', { domain: 'shop.example.com', dns: { endpoint: true } })
  await world.apply('TunnelCredential', 'agent', {})
  await world.apply('Backend', 'planned', planned)
  await approve(world, 'Backend', 'planned')
  await world.ready('Backend', 'planned')
  await world.ready('ReservedDomain', 'shop')
  await world.ready('TunnelCredential', 'agent')
  for (const [kind, name] of [
    ['ReservedDomain', 'shop'],
    ['TunnelCredential', 'agent'],
  ] as const) {
    await world.delete(kind, name)
    await world.gone(kind, name)
  }
  await world.delete('Backend', 'planned')
  await approve(world, 'Backend', 'planned')
  await world.gone('Backend', 'planned')
})

async function approve(world: World, kind: string, name: string): Promise<void> {
  const cr = await world.until(kind, name, 'waits for approval', ({ status }) => status?.plan !== undefined)
  const { plan } = cr.status as unknown as { readonly plan: { readonly hash: string } }
  await world.annotate(kind, name, { 'culvert.dev/approved-plan': plan.hash })
}
