// @module-tag nightly
import { cp, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { HELMS } from '../support/helm.ts'
import { ACCOUNT_CHART, CHART, ROOT } from '../support/paths.ts'
import { AccountAtEmulator } from './support/account-at-emulator.ts'
import { type OlderChart, olderCRDs, packChart, type Schema } from './support/chart-packages.ts'
import { documented } from './support/documented.ts'
import { InstalledCluster, isReady } from './support/installed-cluster.ts'

const HOME = 'culvert-system'
const IN_HOME = ['--namespace', HOME]
const KEEP_VALUES = [...IN_HOME, '--reset-then-reuse-values']

/** The chart used to create the ClusterAccount, as soon as the cluster knew the kind. */
const ACCOUNT_TEMPLATE = `{{- if .Capabilities.APIVersions.Has "culvert.dev/v1alpha1/ClusterAccount" }}
apiVersion: culvert.dev/v1alpha1
kind: ClusterAccount
metadata:
  name: default
  annotations:
    helm.sh/resource-policy: keep
spec:
  baseURL: http://{{ include "culvert.emulatorHost" . }}
  apiKeySecretRef:
    name: culvert-emulator
  access:
    - namespaceSelector: {}
{{- end }}
`

/** The first release, without one of today's fields and one of today's rules. */
const OLDER: OlderChart = {
  version: '0.0.9',
  crds: join(ROOT, 'test', 'fixtures', 'releases', '0.1.0', 'crds'),
  without: { 'culvert.dev_ippolicies.yaml': withoutDescription },
  templates: { 'cluster-account.yaml': ACCOUNT_TEMPLATE },
}

function withoutDescription(schema: Schema): Schema {
  const copy = structuredClone(schema) as unknown as IPPolicySchema
  const { properties } = copy.properties.spec
  if (properties.description === undefined) throw new Error('there is no description to take away')
  delete properties.description
  const { cidr } = properties.rules.items.properties
  const rules = cidr['x-kubernetes-validations'].filter(({ rule }) => !rule.includes('masked()'))
  if (rules.length + 1 !== cidr['x-kubernetes-validations'].length) throw new Error('there is no rule to take away')
  cidr['x-kubernetes-validations'] = rules
  return { ...copy }
}

interface IPPolicySchema {
  readonly properties: {
    readonly spec: {
      readonly properties: {
        description?: unknown
        readonly rules: {
          readonly items: { readonly properties: { readonly cidr: { 'x-kubernetes-validations': { rule: string }[] } } }
        }
      }
    }
  }
}

/** Helm 3 takes long for the CRDs. */
const LONG = { timeout: 300_000 }

let cluster: InstalledCluster

// A new cluster for each test, so that a failure leaves nothing behind.
beforeEach(async () => {
  cluster = await InstalledCluster.start()
}, 300_000)
afterEach(() => cluster[Symbol.asyncDispose](), 60_000)

function policy(name: string, spec: object = {}): object {
  const metadata = { name, namespace: 'default' }
  const rules = [{ cidr: '10.0.0.0/8', action: 'Allow' }]
  return { apiVersion: 'culvert.dev/v1alpha1', kind: 'IPPolicy', metadata, spec: { rules, ...spec } }
}

/** Whether the API server accepts what only newer CRDs know, and refuses what only they refuse. */
async function knows(): Promise<{ readonly field: boolean; readonly rule: boolean }> {
  const takes = (object: object): Promise<boolean> => {
    const args = ['create', '--dry-run=server', '--validate=strict', '-f', '-']
    return cluster.controlPlane.kubectl(args, { stdin: JSON.stringify(object) }).then(({ code }) => code === 0)
  }
  return {
    field: await takes(policy('probe', { description: 'for the office' })),
    rule: !(await takes(policy('probe', { rules: [{ cidr: '10.0.0.1/8', action: 'Allow' }] }))),
  }
}

const NEITHER = { field: false, rule: false }
const BOTH = { field: true, rule: true }

it.each(HELMS)('upgrades the CRDs with Helm %i and leaves the resources unchanged', LONG, async (major) => {
  const values = ['--set', 'emulator.enabled=true,emulator.apiKey=key-of-ours']
  const older = await packChart(cluster, major, OLDER)
  await cluster.helmed(major, ['install', 'culvert', older, ...IN_HOME, '--create-namespace', ...values])
  expect(await knows()).toEqual(NEITHER)
  await using account = await AccountAtEmulator.run(cluster, 'culvert', HOME)
  await using operator = await cluster.operator(HOME)
  await cluster.helmed(major, ['upgrade', 'culvert', older, ...KEEP_VALUES])
  await cluster.apply(policy('office'), policy('partners'))
  const before = await cluster.allReady(3)
  const mark = await account.mark()

  await cluster.helmed(major, ['upgrade', 'culvert', await packChart(cluster, major), ...KEEP_VALUES])
  expect(await knows()).toEqual(BOTH)
  expect(await operator.stop()).toBe(0)
  await using _newer = await cluster.operator(HOME)
  await cluster.apply(policy('partners', { description: 'new' }))
  const partners = await cluster.until(
    'ippolicy',
    'partners',
    'default',
    (cr) => isReady(cr) && cr.metadata.generation === 2,
  )
  const written = await account.writes(mark)
  expect(written).toEqual([`PATCH /ip_policies/${partners.status?.id}`])
  const after = await cluster.allReady(3)
  expect(after.map(({ metadata, status }) => [metadata.uid, status?.id])).toEqual(
    before.map(({ metadata, status }) => [metadata.uid, status?.id]),
  )

  // The ClusterAccount stayed; its own chart takes it over.
  const spec = 'spec.baseURL=http://culvert-emulator.culvert-system.svc:4040,spec.apiKeySecretRef.name=culvert-emulator'
  const same = ['--set', spec, '--set-json', 'spec.access=[{"namespaceSelector":{}}]']
  await cluster.helmed(major, ['install', 'culvert-account', ACCOUNT_CHART, ...IN_HOME, ...same, '--take-ownership'])
  expect((await cluster.allReady(3)).map(({ metadata }) => [metadata.uid, metadata.generation])).toEqual(
    after.map(({ metadata }) => [metadata.uid, metadata.generation]),
  )

  // An installation that leaves the CRDs to others from now on.
  await cluster.helmed(major, ['upgrade', 'culvert', CHART, ...KEEP_VALUES, '--set', 'crds.install=false'])
  expect((await cluster.list('culvert', '--all-namespaces')).map(({ metadata }) => metadata.uid)).toEqual(
    after.map(({ metadata }) => metadata.uid),
  )
})

it.each(HELMS)(
  'takes over CRDs applied by hand, as install.md says, with Helm %i',
  { ...LONG, tags: 'nightly' },
  async (major) => {
    const folder = await mkdtemp(join(cluster.folder, 'crds-'))
    await cp(OLDER.crds, folder, { recursive: true })
    await olderCRDs(folder, OLDER.without)
    await cluster.kubectl(['apply', '--server-side', '-f', folder])
    await cluster.helmed(major, [
      'install',
      'culvert',
      CHART,
      ...IN_HOME,
      '--create-namespace',
      '--set',
      'crds.install=false',
    ])
    expect(await knows()).toEqual(NEITHER)
    const upgrade = ['upgrade', 'culvert', CHART, ...KEEP_VALUES, '--set', 'crds.install=true']
    const refused = await cluster.helm(major, upgrade)
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toMatch(/invalid ownership metadata|exists and cannot be imported/)
    const handOver = (await documented('docs/install.md', 'Upgrading')).find((block) =>
      block.includes('managed-by=Helm'),
    )
    await cluster.shell(handOver ?? '', major)
    // kubectl is the field manager of what it applied: only Helm 4 checks field ownership.
    await cluster.helmed(major, major === 4 ? [...upgrade, '--force-conflicts'] : upgrade)
    expect(await knows()).toEqual(BOTH)
    await cluster.helmed(major, ['uninstall', 'culvert', '--no-hooks', ...IN_HOME])
    expect(await knows()).toEqual(BOTH)
  },
)
