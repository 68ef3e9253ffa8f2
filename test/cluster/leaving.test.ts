import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { ControlPlane } from '../../controlplane/control-plane.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { KubeProxy } from '../builders/kube-proxy.ts'
import { applyAll, applyNeeds, casesTitled, expectExactlyOneEach, subjectsOf } from './support/cases.ts'
import { startOwnCluster } from './support/own-cluster.ts'
import { type ReleaseRun, startRelease } from './support/release.ts'
import { type Secret, secrets } from './support/tokens.ts'
import { until } from './support/wait.ts'
import { core, typeOf, World } from './support/world.ts'

let cluster: ControlPlane
beforeAll(async () => {
  cluster = await startOwnCluster()
})
afterAll(() => cluster.stop())

const FINALIZER = 'culvert.dev/remote'
const configMaps = core('configmaps', 'ConfigMap')
/** A lease that does not expire while a test runs. */
const LONG = ['--lease-duration', '30m', '--renew-deadline', '20m']
const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }

/** Every CR of the cluster, of all kinds. */
async function everything(world: World): Promise<readonly KubeObject[]> {
  const lists = kinds.map(({ definition }) => world.kube.list<KubeObject>(typeOf(definition.kind)))
  return (await Promise.all(lists)).flatMap(({ items }) => items)
}

/** Secrets and ConfigMaps that outputs went into, by name. */
async function outputs(world: World): Promise<ReadonlyMap<string, Secret>> {
  const all = await Promise.all([secrets, configMaps].map((type) => world.kube.list<Secret>(type, world)))
  const own = all
    .flatMap(({ items }) => items)
    .filter(({ metadata }) => metadata.annotations?.['internal.culvert.dev/output-of'])
  return new Map(own.map((object) => [`${object.kind}/${object.metadata.name}`, object]))
}

async function released(world: World, flags: readonly string[] = []): Promise<ReleaseRun> {
  return startRelease(world, flags).ended()
}

function textOf(run: ReleaseRun): string {
  return run.lines.join('\n')
}

function isHeld({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false
}

/** A ClusterAccount next to the world's Account, with its key in the operator's namespace. */
async function applyClusterAccount(world: World): Promise<void> {
  const data = { apiKey: btoa(world.emulator.apiKey) }
  const key = { namespace: world.operatorNamespace, name: 'shared-key' }
  await world.kube.apply(secrets, key, { apiVersion: 'v1', kind: 'Secret', metadata: key, data })
  const manifest = {
    apiVersion: 'culvert.dev/v1alpha1',
    kind: 'ClusterAccount',
    metadata: { name: 'shared' },
    spec: { baseURL: world.emulator.url, apiKeySecretRef: { name: key.name } },
  }
  await world.kube.apply(typeOf('ClusterAccount'), { name: 'shared' }, manifest, { force: true })
  await until('the ClusterAccount is held', async () => {
    const found = await world.kube.get<KubeObject>(typeOf('ClusterAccount'), { name: 'shared' })
    return found !== undefined && isHeld(found)
  })
}

test('a release frees every kind without a call to the account and keeps tokens; an operator takes all of it back without a write', {
  timeout: 600_000,
}, async () => {
  await using world = await World.open({ kubeconfig: cluster.kubeconfigPath, watch: 'cluster', leaderElect: true })
  const cases = [...casesTitled('minimal'), ...casesTitled('full')]
  await applyClusterAccount(world)
  await applyNeeds(world, cases, ['a'])
  const signer = {
    kind: 'SSHCertificateAuthority',
    name: 'signer',
    spec: { output: { configMap: { name: 'signer' } } },
  }
  const subjects = [...subjectsOf(cases, 'a'), signer]
  await applyAll(world, subjects)
  await Promise.all(subjects.map(({ kind, name }) => world.ready(kind, name, 60_000)))
  await world.resync()
  const held = (await everything(world)).filter(isHeld)
  // Mirrors of what the account shows, and commands, hold nothing.
  const holding = kinds.filter(({ role }) => role === 'managed' || role === 'account')
  expect(new Set(held.map(({ kind }) => kind))).toEqual(new Set(holding.map(({ definition }) => definition.kind)))
  const before = await outputs(world)
  expect([...before.keys()].filter((name) => name.startsWith('ConfigMap/'))).not.toEqual([])
  await world.operator.stop()

  const mark = world.mark()
  const run = await released(world)
  expect(run.code, textOf(run)).toBe(0)
  expect(world.journal(mark)).toEqual([])
  expect((await everything(world)).filter(isHeld)).toEqual([])
  const after = await outputs(world)
  expect([...after.keys()]).toEqual([...before.keys()])
  for (const [name, { data, metadata }] of after) {
    expect(data, name).toEqual(before.get(name)?.data)
    expect(metadata.ownerReferences ?? [], name).toEqual([])
  }
  // Each is named, with the object that stays.
  for (const cr of held) {
    const { id } = (cr.status ?? {}) as { id?: string }
    const line = run.lines.find((entry) => entry.startsWith(`${cr.kind} `) && entry.includes(cr.metadata.name))
    expect(line).toContain(id ?? cr.metadata.name)
  }
  // Nothing that opens the account is left behind by Culvert itself: the salt of fingerprints opens nothing.
  const { items } = await world.kube.list<KubeObject>(secrets, { namespace: world.operatorNamespace })
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['culvert-salt', 'shared-key'])

  const again = await released(world)
  expect(again.code, textOf(again)).toBe(0)
  expect(again.lines[0]).toContain('Released: resources 0, objects that they own 0.')

  await world.startOperator()
  await until('everything is held again', async () => (await everything(world)).filter(isHeld).length === held.length, {
    timeoutMs: 60_000,
    describe: async () =>
      (await everything(world)).filter((cr) => !isHeld(cr)).map(({ kind, metadata }) => [kind, metadata.name]),
  })
  await until('the outputs are owned again', async () => {
    const owned = [...(await outputs(world)).values()]
    return owned.length === before.size && owned.every(({ metadata }) => metadata.ownerReferences?.length === 1)
  })
  await world.resync()
  expect(world.writes(mark)).toEqual([])
  await expectExactlyOneEach(world, 0, [])
})

test('after a release, resources and their namespace can be deleted without an operator, and tokens stay', {
  tags: 'nightly',
}, async () => {
  await using world = await World.open({ kubeconfig: cluster.kubeconfigPath, watch: 'cluster', leaderElect: true })
  await world.apply('APIKey', 'ci', {})
  await world.apply('Backend', 'web', tunnels)
  const key = await world.ready('APIKey', 'ci')
  await world.ready('Backend', 'web')
  // One that is waiting to be deleted goes at once.
  await world.operator.stop()
  await world.delete('Backend', 'web')
  const mark = world.mark()
  const run = await released(world)
  expect(run.code, textOf(run)).toBe(0)
  await world.gone('Backend', 'web')
  await world.delete('APIKey', 'ci')
  await world.gone('APIKey', 'ci')
  const name = { namespace: world.namespace, name: 'ci' }
  const token = await world.kube.get<Secret>(secrets, name)
  expect(token?.metadata.annotations?.['internal.culvert.dev/id']).toBe(key.status?.id)
  expect(token?.data?.token).not.toBe('')

  const namespaces = core('namespaces', 'Namespace', false)
  await world.kube.delete(namespaces, { name: world.namespace })
  await until(
    'the namespace is gone',
    async () => {
      return (await world.kube.get(namespaces, { name: world.namespace })) === undefined
    },
    { timeoutMs: 60_000 },
  )
  expect(world.journal(mark)).toEqual([])
})

test('a release waits for the leading operator, names it, and gives up', { tags: 'nightly' }, async () => {
  await using world = await World.open({ leaderElect: true, flags: LONG })
  await world.apply('Backend', 'web', tunnels)
  const before = await world.ready('Backend', 'web')
  const scope = ['--watch-namespace', world.namespace]
  const run = await released(world, [...scope, '--release-timeout', '1s'])
  expect(run.code).toBe(1)
  expect(textOf(run)).toMatch(/Lease .* is held by .*Nothing was released/s)
  expect(await world.get('Backend', 'web')).toEqual(before)

  // Once the leader has ended, the same command succeeds, be it started before.
  const patient = startRelease(world, scope)
  expect(await world.operator.stop()).toBe(0)
  const { code, lines } = await patient.ended()
  expect(code, lines.join('\n')).toBe(0)
  expect((await world.get('Backend', 'web'))?.metadata.finalizers ?? []).toEqual([])
})

test('a release killed in the middle is completed by the next one', { tags: 'nightly' }, async () => {
  await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
  await using world = await World.open({ leaderElect: true })
  const names = ['one', 'two', 'three']
  for (const name of names) await world.apply('APIKey', name, {})
  for (const name of names) await world.ready('APIKey', name)
  await world.operator.stop()
  const scope = ['--watch-namespace', world.namespace, '--lease-duration', '5s', '--renew-deadline', '3s']
  // The second finalizer: by then a Secret was released whose resource is still held.
  const paths = new Set<string>()
  const hold = proxy.intercept(({ method, path, body }) => {
    if (method !== 'PATCH' || !path.includes('/apikeys/') || !body.includes('finalizers')) return undefined
    paths.add(path)
    return paths.size === 2 ? { type: 'hold', when: 'before' } : undefined
  })
  const first = startRelease(world, [...scope, '--kubeconfig', proxy.kubeconfigPath])
  await until('the release is stopped at a finalizer', () => hold.requests.length > 0)
  first.kill()
  await first.ended()
  hold.remove()
  const heldBetween = (await world.list('APIKey')).filter(isHeld)
  expect(heldBetween).toHaveLength(2)
  const stoppedAt = hold.requests[0]?.path.split('/').at(-1) ?? ''
  expect(heldBetween.map(({ metadata }) => metadata.name)).toContain(stoppedAt)
  expect((await outputs(world)).get(`Secret/${stoppedAt}`)?.metadata.ownerReferences ?? []).toEqual([])
  const { code, lines } = await released(world, scope)
  expect(code, lines.join('\n')).toBe(0)
  expect((await world.list('APIKey')).filter(isHeld)).toEqual([])
  for (const { metadata } of (await outputs(world)).values()) expect(metadata.ownerReferences ?? []).toEqual([])
})
