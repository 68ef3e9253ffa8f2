// @module-tag nightly
import { afterAll, beforeAll, expect, it } from 'vitest'
import { KUBERNETES_VERSION } from '../../../controlplane/build.ts'
import { until } from '../../cluster/support/wait.ts'
import { CHART } from '../support/paths.ts'
import { AccountAtEmulator } from './support/account-at-emulator.ts'
import { documented } from './support/documented.ts'
import { InstalledCluster, isReady, type Live } from './support/installed-cluster.ts'
import type { PodProcess } from './support/pod-process.ts'
import { expectNothingRefused, expectRightsOfManifest } from './support/rights-granted.ts'
import { stopAtFirstFailure } from './support/story.ts'

/**
 * Two releases of the same name in one cluster, each with its own namespaces, on one account. Helm 3 installs the
 * second.
 */
/** As in install.md. */
const ONE = { home: 'culvert-system', watched: ['shop', 'web'] }
const OTHER = { home: 'other-system', watched: ['stock'] }
/** A namespace of neither release. */
const OUTSIDE = 'outside'
const ALL = [...ONE.watched, ...OTHER.watched, OUTSIDE]

let cluster: InstalledCluster
let account: AccountAtEmulator
let one: PodProcess
let other: PodProcess

stopAtFirstFailure()
beforeAll(async () => {
  cluster = await InstalledCluster.start()
  for (const namespace of ALL) await cluster.kubectl(['create', 'namespace', namespace])
}, 300_000)
afterAll(() => cluster[Symbol.asyncDispose](), 60_000)

/** An account in a namespace, and a policy. */
function objectsIn(namespace: string): readonly object[] {
  const metadata = { name: 'credentials', namespace }
  const spec = { baseURL: account.url, apiKeySecretRef: { name: 'credentials' } }
  const kind = { apiVersion: 'culvert.dev/v1alpha1', kind: 'Account' }
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { apiKey: account.apiKey } },
    { ...kind, metadata: { name: 'default', namespace }, spec },
    policy(namespace, 'office'),
  ]
}

function policy(namespace: string, description: string): object {
  const spec = { description, rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] }
  return { apiVersion: 'culvert.dev/v1alpha1', kind: 'IPPolicy', metadata: { name: 'office', namespace }, spec }
}

function policyIn(namespace: string, met: (cr: Live) => boolean = isReady): Promise<Live> {
  return cluster.until('ippolicy', 'office', namespace, (cr) => isReady(cr) && met(cr))
}

/**
 * The API server's error when the operator's token is used to issue a token of another ServiceAccount; empty if it
 * succeeds.
 */
async function steal(home: string, namespace: string, ...flags: readonly string[]): Promise<string> {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/service-account-token',
    metadata: { name: 'stolen', namespace, annotations: { 'kubernetes.io/service-account.name': 'default' } },
  }
  const token = await cluster.token('culvert', home)
  const create = ['create', '--token', token, '--validate=false', '-f', '-', ...flags]
  const { code, stderr } = await cluster.controlPlane.kubectl(create, { stdin: JSON.stringify(secret) })
  return code === 0 ? '' : stderr
}

/** All objects of namespaces with their versions: equal if none was written in between. */
async function versionsIn(namespaces: readonly string[]): Promise<readonly string[]> {
  const lists = await Promise.all(
    namespaces.map((each) => cluster.list('culvert,secrets,configmaps,events', '-n', each)),
  )
  return lists.flat().map(({ kind, metadata }) => {
    return `${kind} ${metadata.namespace}/${metadata.name} ${metadata.resourceVersion}`
  })
}

it('works in the namespaces that it watches and in no other', async () => {
  const [install = ''] = await documented('docs/install.md', 'Some namespaces only')
  await cluster.shell(`${install.trimEnd()} --set emulator.enabled=true`)
  account = await AccountAtEmulator.run(cluster, 'culvert', ONE.home)
  one = await cluster.operator(ONE.home)
  // Foreign objects are created first: an operator that read them would do so before the rest.
  const foreign = [OUTSIDE, ...OTHER.watched]
  for (const namespace of foreign) await cluster.apply(...objectsIn(namespace))
  const before = await versionsIn(foreign)
  for (const namespace of ONE.watched) await cluster.apply(...objectsIn(namespace))
  for (const namespace of ONE.watched) await policyIn(namespace)
  for (const namespace of ONE.watched) await cluster.resync('default', namespace)
  expect(await versionsIn(foreign)).toEqual(before)
  expect(await account.objects('ip_policies')).toHaveLength(ONE.watched.length)
})

it('runs next to another release, which takes no CRD from the first', async () => {
  const host = new URL(account.url).host
  const values = `watchNamespaces={${OTHER.watched}},operator.allowApiHosts={${host}},operator.allowHttp=true`
  const install = ['install', 'culvert', CHART, '--namespace', OTHER.home, '--create-namespace', '--set', values]
  await expect(cluster.helmed(3, install)).rejects.toThrow(/invalid ownership metadata/)
  const without = 'crds.install=false,admissionPolicy.operator.enabled=false'
  await cluster.helmed(3, [...install, '--set', without])
  other = await cluster.operator(OTHER.home)
  const policies = await Promise.all([...ONE.watched, ...OTHER.watched].map((namespace) => policyIn(namespace)))
  expect(new Set(policies.map(({ status }) => status?.id)).size).toBe(3)
  const found = await account.objects('ip_policies')
  const installations = found.map(({ metadata }) => /"installation":"(.*?)"/.exec(String(metadata))?.[1])
  expect(installations.toSorted()).toEqual([
    expect.stringContaining('/culvert-system/culvert'),
    expect.stringContaining('/culvert-system/culvert'),
    expect.stringContaining('/other-system/culvert'),
  ])
})

it('may do in each namespace what the roles of its release say, and nothing in those of others', async () => {
  await expectNothingRefused(cluster)
  for (const { home } of [ONE, OTHER]) {
    const manifest = await cluster.helmed(4, ['get', 'manifest', 'culvert', '--namespace', home])
    await expectRightsOfManifest(cluster, manifest, { name: 'culvert', namespace: home }, [
      ...ALL,
      ONE.home,
      OTHER.home,
    ])
  }
})

it('keeps a stolen token from other ServiceAccounts once the release or an administrator has installed the policy', async () => {
  expect(await steal(ONE.home, 'shop')).toContain('only Secrets of type Opaque')
  expect(await cluster.get('secret', 'stolen', 'shop')).toBeUndefined()
  // The other release was installed without the policy.
  expect(await steal(OTHER.home, 'stock')).toBe('')
  await until('the thief has a token of another account', () =>
    cluster.secret('stolen', 'stock', 'token').catch(() => false as const),
  )
  await cluster.kubectl(['delete', 'secret', 'stolen', '-n', 'stock'])
  const [command = ''] = await documented('docs/install.md', 'The admission policy')
  // A Helm built by `go install` assumes an old cluster version unless it asks a cluster.
  const mine = command
    .replaceAll(ONE.home, OTHER.home)
    .replace('helm template', `helm template --kube-version ${KUBERNETES_VERSION}`)
  await cluster.shell(mine)
  await until('the policy is in force', async () => (await steal(OTHER.home, 'stock', '--dry-run=server')) !== '')
  expect(await steal(OTHER.home, 'stock')).toContain('only Secrets of type Opaque')
  expect(await cluster.get('secret', 'stolen', 'stock')).toBeUndefined()
})

it('leaves the work of the other release to it', async () => {
  const theirs = await policyIn('stock')
  expect(await other.stop()).toBe(0)
  const mark = await account.mark()
  await cluster.apply(policy('stock', 'changed'))
  const before = await versionsIn([OUTSIDE, 'stock'])
  const id = (await policyIn('web')).status?.id
  await account.remove(`ip_policies/${id}`)
  await account.remove(`ip_policies/${theirs.status?.id}`)
  for (const namespace of ONE.watched) await cluster.resync('default', namespace)
  await policyIn('web', ({ status }) => status?.id !== id)
  const gone = [id, theirs.status?.id].map((each) => `DELETE /ip_policies/${each}`)
  const made = ['POST /ip_policies', 'POST /ip_policy_rules']
  expect(new Set(await account.writes(mark))).toEqual(new Set([...gone, ...made]))
  expect((await account.objects('ip_policies')).length).toBe(ONE.watched.length)
  expect(await versionsIn([OUTSIDE, 'stock'])).toEqual(before)

  other = await cluster.operator(OTHER.home)
  await cluster.resync('default', 'stock')
  await policyIn('stock', ({ status }) => status?.id !== theirs.status?.id)
  expect((await account.objects('ip_policies')).map(({ description }) => description)).toContain('changed')
})

it('uninstalls its own roles only, and nothing that the other release needs', async () => {
  const before = await cluster.list('culvert', '--all-namespaces')
  await cluster.helmed(3, ['uninstall', 'culvert', '--no-hooks', '--namespace', OTHER.home])
  expect(await other.stop()).toBe(0)
  expect((await cluster.list('culvert', '--all-namespaces')).length).toBe(before.length)
  const roles = await cluster.list(
    'roles,clusterroles',
    '--all-namespaces',
    '-l',
    'app.kubernetes.io/component=operator',
  )
  expect(roles.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`).sort()).toEqual(
    ['', ...ONE.watched]
      .map((namespace) => `${namespace}/${ONE.home}-culvert`)
      .concat(`${ONE.home}/culvert`, `/${ONE.home}-culvert-hold`)
      .sort(),
  )
  await cluster.apply(policy('shop', 'still kept'))
  await policyIn('shop', ({ metadata }) => metadata.generation === 2)
  expect((await account.objects('ip_policies')).map(({ description }) => description)).toContain('still kept')
  expect(one.output).not.toContain('"level":50')
})

it('completes the deletion of a namespace with its resources and their objects', async () => {
  const policies = await account.objects('ip_policies')
  await cluster.kubectl(['delete', 'namespace', 'web', '--wait', '--timeout=60s'])
  expect(await account.objects('ip_policies')).toHaveLength(policies.length - 1)
})

it('leaves no RoleBinding behind when it is uninstalled after its resources', async () => {
  await cluster.kubectl(['delete', 'culvert', '--all', '--namespace', 'shop', '--wait', '--timeout=60s'])
  const held = async (): Promise<readonly Live[]> => {
    const bindings = (await cluster.list('rolebindings', '--all-namespaces')) as readonly Live[]
    return bindings.filter(({ metadata }) => metadata.name === `${ONE.home}-culvert-hold`)
  }
  await until('the binding is released', async () => {
    return (await held()).every(({ metadata }) => metadata.finalizers === undefined)
  })
  await cluster.helmed(4, ['uninstall', 'culvert', '--no-hooks', '--namespace', ONE.home])
  expect(await held()).toEqual([])
})
