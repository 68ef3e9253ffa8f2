// @module-tag nightly
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts'
import { until } from '../../cluster/support/wait.ts'
import { ACCOUNT_CHART, CHART } from '../support/paths.ts'
import { InstalledCluster, isReady } from './support/installed-cluster.ts'
import { helmWithJob } from './support/job-runner.ts'
import type { PodProcess } from './support/pod-process.ts'
import { expectNothingRefused, expectRightsOfManifest } from './support/rights-granted.ts'
import { stopAtFirstFailure } from './support/story.ts'
import { TrustedFront } from './support/trusted-front.ts'

/**
 * An installation for a service behind a private certificate authority, with the values for it. The tests depend on
 * each other, in this order.
 */
const HOME = 'tunnels'
const UPGRADE = ['upgrade', 'culvert', CHART, '--namespace', HOME, '--reset-then-reuse-values']
const POLICY = {
  apiVersion: 'culvert.dev/v1alpha1',
  kind: 'IPPolicy',
  metadata: { name: 'office', namespace: 'default' },
  spec: { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] },
}

let cluster: InstalledCluster
let emulator: Emulator
let front: TrustedFront
let operator: PodProcess

stopAtFirstFailure()
beforeAll(async () => {
  cluster = await InstalledCluster.start()
  emulator = await startEmulator({ listen: '127.0.0.1:0' })
  front = await TrustedFront.of(emulator.url)
}, 300_000)
afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
  await front[Symbol.asyncDispose]()
  await emulator.close()
}, 60_000)

it('does not trust a service with an unknown authority', async () => {
  await cluster.kubectl(['create', 'namespace', HOME])
  const inHome = (kind: string, name: string): object => ({
    apiVersion: 'v1',
    kind,
    metadata: { name, namespace: HOME },
  })
  await cluster.apply(
    { ...inHome('Secret', 'key'), stringData: { token: emulator.apiKey } },
    { ...inHome('ConfigMap', 'company'), data: { 'root.pem': front.authority } },
  )
  const values = ['--set', `operator.allowApiHosts={${new URL(front.url).host}},watchSecrets=false`]
  await cluster.helmed(3, ['install', 'culvert', CHART, '--namespace', HOME, ...values])
  // Helm uses the API server's discovery, which lists a CRD a moment after it was applied.
  await until('ClusterAccounts are served', async () => {
    return (await cluster.kubectl(['get', '--raw', '/apis/culvert.dev/v1alpha1'])).includes('"clusteraccounts"')
  })
  const spec = `spec.baseURL=${front.url},spec.apiKeySecretRef.name=key,spec.apiKeySecretRef.key=token`
  const selector = ['--set-json', 'spec.access=[{"namespaceSelector":{}}]']
  await cluster.helmed(3, ['install', 'account', ACCOUNT_CHART, '--namespace', HOME, '--set', spec, ...selector])
  operator = await cluster.operator(HOME)
  await cluster.apply(POLICY)
  await cluster.until('clusteraccount', 'default', HOME, ({ status }) => {
    return JSON.stringify(status).includes('certificate is not trusted')
  })
})

it('trusts it with the authority from the chart’s values', async () => {
  await cluster.helmed(3, [...UPGRADE, '--set', 'caBundle.configMap=company,caBundle.key=root.pem'])
  expect(await operator.stop()).toBe(0)
  operator = await cluster.operator(HOME)
  await cluster.until('ippolicy', 'office', 'default', isReady)
  expect(emulator.admin.journal().map(({ method, path }) => `${method} ${path}`)).toContain('POST /ip_policies')
})

it('shows its metrics only to those whom the chart admits', async () => {
  const reader = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'prometheus', namespace: HOME } }
  const stranger = { ...reader, metadata: { ...reader.metadata, name: 'stranger' } }
  await cluster.apply(reader, stranger)
  const readers = JSON.stringify([{ kind: 'ServiceAccount', ...reader.metadata }])
  const values = ['--set', 'metrics.authentication.enabled=true']
  await cluster.helmed(3, [...UPGRADE, ...values, '--set-json', `metrics.authentication.readers=${readers}`])
  expect(await operator.stop()).toBe(0)
  operator = await cluster.operator(HOME)
  const [, port] = await operator.printed(/"port":(\d+)/)
  const ask = async (headers: Readonly<Record<string, string>>): Promise<number> => {
    return (await fetch(`http://${cluster.address('culvert', HOME)}:${port}/metrics`, { headers })).status
  }
  const bearer = async (name: string) => ({ authorization: `Bearer ${await cluster.token(name, HOME)}` })
  expect(await ask({})).toBe(401)
  await until('the reader may read', async () => (await ask(await bearer('prometheus'))) === 200)
  expect(await ask(await bearer('stranger'))).toBe(403)
})

it('may not list Secrets if it does not watch them, and is refused nothing', async () => {
  await expectNothingRefused(cluster)
  const manifest = await cluster.helmed(3, ['get', 'manifest', 'culvert', '--namespace', HOME])
  expect(manifest).toContain('--no-watch-secrets')
  await expectRightsOfManifest(cluster, manifest, { name: 'culvert', namespace: HOME }, ['default', HOME])
})

it('is uninstalled despite resources if asked, and still names them', async () => {
  await cluster.helmed(3, [...UPGRADE, '--set', 'uninstall.allowLeftovers=true'])
  const job = { name: 'culvert-leftovers', namespace: HOME }
  const { helm, output } = await helmWithJob(cluster, 3, ['uninstall', 'culvert', '--namespace', HOME], job)
  expect(output).toContain('IPPolicy: default/office')
  expect(helm, helm.stderr).toMatchObject({ code: 0 })
  expect(await operator.stop()).toBe(0)
  const left = await cluster.list('culvert', '--all-namespaces')
  expect(left.map(({ kind }) => kind).sort()).toEqual(['ClusterAccount', 'IPPolicy'])
  expect(await cluster.secret('key', HOME, 'token')).toBe(emulator.apiKey)
})
