// @module-tag nightly
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ControlPlane } from '../../controlplane/control-plane.ts'
import { aimAtEmulator, customResources, readManifests } from '../../src/cli/demo/demo-manifests.ts'
import type { Manifest } from '../../src/cli/manifests.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { KubeObject, ResourceType } from '../../src/kube/types.ts'
import { startOwnCluster } from './support/own-cluster.ts'
import { until } from './support/wait.ts'
import { conditionOf, core, type Resource, typeOf, World } from './support/world.ts'

const QUICKSTART = fileURLToPath(new URL('../../examples/quickstart', import.meta.url))
const namespaceType = core('namespaces', 'Namespace', false)
const secretType = core('secrets', 'Secret')
let cluster: ControlPlane

beforeAll(async () => {
  cluster = await startOwnCluster()
})
afterAll(() => cluster.stop())

/** The quickstart in the world's namespaces, and at its emulator. */
async function quickstart(world: World): Promise<readonly Manifest[]> {
  const names: Readonly<Record<string, string>> = {
    quickstart: world.namespace,
    'culvert-system': world.operatorNamespace,
  }
  const manifests = aimAtEmulator(await readManifests(QUICKSTART), world.emulator)
  return manifests.map((manifest) => {
    const { name, namespace } = manifest.metadata
    if (manifest.kind === 'Namespace')
      return { ...manifest, metadata: { ...manifest.metadata, name: names[name] ?? name } }
    if (namespace === undefined) return manifest
    return { ...manifest, metadata: { ...manifest.metadata, namespace: names[namespace] ?? namespace } }
  })
}

function manifestType({ kind }: Pick<Manifest, 'kind'>): ResourceType {
  if (kind === 'Namespace') return namespaceType
  return kind === 'Secret' ? secretType : typeOf(kind)
}

async function apply(world: World, manifest: Manifest): Promise<void> {
  const { name, namespace } = manifest.metadata
  await world.kube.apply(manifestType(manifest), { namespace, name }, { ...manifest }, { force: true })
}

/** The resources of the quickstart that are not Ready and Synced. */
async function unready(world: World, manifests: readonly Manifest[]): Promise<readonly string[]> {
  const states = await Promise.all(
    customResources(manifests).map(async ({ kind, namespace, name }) => {
      const cr = await world.kube.get<Resource>(typeOf(kind), { namespace, name })
      const met = ['Ready', 'Synced'].every((type) => conditionOf(cr, type)?.status === 'True')
      return met ? [] : [`${kind}/${name}: ${conditionOf(cr, 'Ready')?.message}`]
    }),
  )
  return states.flat()
}

async function allReady(world: World, manifests: readonly Manifest[]): Promise<void> {
  const describe = () => unready(world, manifests)
  await until('all of the quickstart is Ready', async () => (await describe()).length === 0, {
    describe,
    timeoutMs: 90_000,
  })
}

/** Everything in the account that resources can stand for: `collection/id`. */
async function left(world: World): Promise<readonly string[]> {
  const collections = kinds.flatMap((each) =>
    each.role === 'managed'
      ? [...each.identity.collections, ...(each.children === undefined ? [] : [each.children.collection])]
      : [],
  )
  const paths = [...new Set(collections.map(({ path }) => path))]
  const objects = await Promise.all(
    paths.map(async (path) => (await world.remote(path)).map(({ id }) => `${path}/${String(id)}`)),
  )
  return objects.flat()
}

/** How many objects the manifests stand for, the rules inside of policies included. */
function declared(manifests: readonly Manifest[]): number {
  const managed = new Set(kinds.filter(({ role }) => role === 'managed').map(({ definition }) => definition.kind))
  return manifests
    .filter(({ kind }) => managed.has(kind))
    .reduce((sum, { spec }) => sum + 1 + ((spec as { rules?: readonly unknown[] } | undefined)?.rules?.length ?? 0), 0)
}

/** How many of the manifests are resources of ours that go with a namespace. */
function namespaced(manifests: readonly Manifest[]): number {
  return customResources(manifests).filter(({ namespace }) => namespace !== undefined).length
}

async function secretNames(world: World, namespace: string): Promise<readonly string[]> {
  const { items } = await world.kube.list<KubeObject>(secretType, { namespace })
  return items.map(({ metadata }) => metadata.name)
}

async function remaining(world: World): Promise<readonly Resource[]> {
  const namespaced = kinds.filter(({ definition }) => definition.scope === 'Namespaced')
  return (await Promise.all(namespaced.map(({ definition }) => world.list(definition.kind)))).flat()
}

async function namespaceGone(world: World): Promise<void> {
  const describe = async () => ({
    remaining: (await remaining(world)).map(({ kind, metadata, status }) => ({ kind, name: metadata.name, status })),
    log: world.operator.log.split('\n').slice(-20),
  })
  await until('its resources are gone', async () => (await remaining(world)).length === 0, { describe })
  const look = async () => (await world.kube.get(namespaceType, { name: world.namespace })) === undefined
  await until('the namespace is gone', look, { describe, timeoutMs: 150_000 })
}

/** For a test that deletes a namespace: its controller looks again ever less often. */
const PATIENCE = { timeout: 240_000 }

test(
  'the quickstart applied in reverse converges, and is deleted completely with its namespace',
  PATIENCE,
  async () => {
    await using world = await World.open({ kubeconfig: cluster.kubeconfigPath, watch: 'cluster' })
    const manifests = await quickstart(world)
    const before = await left(world)
    for (const manifest of manifests.filter(({ kind }) => kind === 'Namespace')) await apply(world, manifest)
    await world.delete('Account', 'default')
    await world.gone('Account', 'default')
    const backwards = manifests.filter(({ kind }) => kind !== 'Namespace').toReversed()
    for (const manifest of backwards) await apply(world, manifest)
    await allReady(world, manifests)
    expect(await left(world)).toHaveLength(before.length + declared(manifests))

    await world.kube.delete(namespaceType, { name: world.namespace })
    await namespaceGone(world)
    expect(await left(world)).toEqual(before)
    const [shared] = (await world.kube.list<Resource>(typeOf('ClusterAccount'))).items
    expect(await secretNames(world, world.operatorNamespace)).toEqual([
      `culvert-key-${shared?.metadata.uid}`,
      'culvert-salt',
      'shared-credentials',
    ])

    await world.kube.delete(typeOf('ClusterAccount'), { name: 'shared' })
    const keys = () => secretNames(world, world.operatorNamespace)
    await until('its kept key is gone', async () => (await keys()).length === 2, { describe: keys })
  },
)

test('a namespace whose Secrets are gone before the operator runs again is still deleted completely', {
  ...PATIENCE,
}, async () => {
  await using world = await World.open({ kubeconfig: cluster.kubeconfigPath, watch: 'cluster' })
  const manifests = await quickstart(world)
  const first = await left(world)
  for (const manifest of manifests) await apply(world, manifest)
  await allReady(world, manifests)
  await world.operator.kill()

  await world.kube.delete(namespaceType, { name: world.namespace })
  await until('the Secrets are gone and the resources are to go', async () => {
    const deleting = (await remaining(world)).filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    return deleting.length === namespaced(manifests) && (await secretNames(world, world.namespace)).length === 0
  })
  const before = world.mark()

  await world.startOperator()
  await namespaceGone(world)
  expect(await left(world)).toEqual(first)
  const others = world.writes(before).filter(({ method, status }) => method !== 'DELETE' || status !== 204)
  expect(others).toEqual([])
})
