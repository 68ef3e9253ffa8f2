import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ControlPlane } from '../../controlplane/control-plane.ts'
import { openAccess } from '../builders/access.ts'
import { KubeProxy } from '../builders/kube-proxy.ts'
import { startOwnCluster } from './support/own-cluster.ts'
import { until } from './support/wait.ts'
import { conditionOf, core, type Resource, typeOf, World } from './support/world.ts'

let cluster: ControlPlane
beforeAll(async () => {
  cluster = await startOwnCluster()
})
afterAll(() => cluster.stop())

const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }
/** ClusterAccounts are the whole cluster's: each test has its own. */
function sharedName({ namespace }: World): string {
  return `shared-${namespace}`
}

function refTo(world: World) {
  return { accountRef: { kind: 'ClusterAccount', name: sharedName(world) } }
}

const namespaceType = core('namespaces', 'Namespace', false)

function open(flags: readonly string[] = []): Promise<World> {
  return World.open({ kubeconfig: cluster.kubeconfigPath, watch: 'cluster', flags })
}

/** Applies a ClusterAccount of the world's emulator, with its key in the operator's namespace. */
async function applyClusterAccount(world: World, name: string, spec: Record<string, unknown> = {}): Promise<void> {
  await secret(world, world.operatorNamespace, `key-of-${name}`, world.emulator.apiKey)
  const type = typeOf('ClusterAccount')
  await world.kube.apply(
    type,
    { name },
    {
      apiVersion: 'culvert.dev/v1alpha1',
      kind: 'ClusterAccount',
      metadata: { name },
      spec: {
        baseURL: world.emulator.url,
        apiKeySecretRef: { name: `key-of-${name}` },
        resyncInterval: '10m',
        ...spec,
      },
    },
    { force: true },
  )
}

async function secret(world: World, namespace: string, name: string, apiKey: string): Promise<void> {
  const data = { apiKey: Buffer.from(apiKey).toString('base64') }
  const metadata = { name, namespace }
  await world.kube.apply(
    core('secrets', 'Secret'),
    { namespace, name },
    { apiVersion: 'v1', kind: 'Secret', metadata, data },
  )
}

/** Fields of a ClusterAccount that namespaces with these labels may use. */
function allowing(namespaceSelector: Record<string, unknown>): Record<string, unknown> {
  return { access: [{ namespaceSelector }] }
}

/** A namespace without an Account, and Backends in it. */
class Tenant {
  readonly namespace = `tenant-${randomBytes(4).toString('hex')}`
  readonly #world: World

  private constructor(world: World) {
    this.#world = world
  }

  static async create(world: World, labels: Readonly<Record<string, string>> = {}): Promise<Tenant> {
    const tenant = new Tenant(world)
    await world.createNamespace(tenant.namespace)
    await tenant.label(labels)
    return tenant
  }

  async label(labels: Readonly<Record<string, string | null>>): Promise<void> {
    await this.#world.kube.mergePatch(namespaceType, { name: this.namespace }, { metadata: { labels } })
  }

  async apply(name: string, spec: Record<string, unknown>): Promise<void> {
    const metadata = { name, namespace: this.namespace }
    const manifest = { apiVersion: 'culvert.dev/v1alpha1', kind: 'Backend', metadata, spec: { ...tunnels, ...spec } }
    await this.#world.kube.apply(typeOf('Backend'), { namespace: this.namespace, name }, manifest, { force: true })
  }

  get(name: string): Promise<Resource | undefined> {
    return this.#world.kube.get<Resource>(typeOf('Backend'), { namespace: this.namespace, name })
  }

  async patch(name: string, patch: Record<string, unknown>): Promise<void> {
    await this.#world.kube.mergePatch(typeOf('Backend'), { namespace: this.namespace, name }, patch)
  }

  delete(name: string): Promise<unknown> {
    return this.#world.kube.delete(typeOf('Backend'), { namespace: this.namespace, name })
  }

  /** Waits until Synced has this reason at the current generation. */
  synced(name: string, reason: string): Promise<Resource> {
    const look = async (): Promise<Resource | undefined> => {
      const cr = await this.get(name)
      const condition = conditionOf(cr, 'Synced')
      return condition?.reason === reason && condition.observedGeneration === cr?.metadata.generation ? cr : undefined
    }
    const describe = async () => ({ cr: await this.get(name), log: this.#world.operator.log.split('\n').slice(-20) })
    return until(`${name} has Synced with reason ${reason}`, look, { describe })
  }

  async gone(name: string): Promise<void> {
    await until(`${name} is gone`, async () => (await this.get(name)) === undefined, { describe: () => this.get(name) })
  }
}

/** Requests for Backends that change something. */
function writes(world: World, since = 0) {
  return world.writes(since).filter(({ path }) => path.startsWith('/backends/'))
}

test('a ClusterAccount admits the namespaces that it selects: none by default, all with {}', async () => {
  await using world = await open()
  const [a, b] = [await Tenant.create(world, { team: 'a' }), await Tenant.create(world)]
  await applyClusterAccount(world, sharedName(world))
  for (const tenant of [a, b]) await tenant.apply('web', refTo(world))
  for (const tenant of [a, b]) {
    const refused = conditionOf(await tenant.synced('web', 'AccountNotAllowed'), 'Ready')
    expect(refused?.message).toContain(
      `ClusterAccount/${sharedName(world)} does not allow namespace ${tenant.namespace}`,
    )
  }
  expect(writes(world)).toEqual([])

  await applyClusterAccount(world, sharedName(world), allowing({ matchLabels: { team: 'a' } }))
  expect((await a.synced('web', 'InSync')).status?.accountRef).toEqual({
    kind: 'ClusterAccount',
    name: sharedName(world),
  })
  await b.synced('web', 'AccountNotAllowed')
  expect(writes(world)).toHaveLength(1)

  await applyClusterAccount(world, sharedName(world), allowing({}))
  await b.synced('web', 'InSync')
  expect(writes(world)).toHaveLength(2)
})

test('a namespace that loses its label keeps its objects unchanged; with the label back, it catches up', {
  tags: 'nightly',
}, async () => {
  await using world = await open()
  const tenant = await Tenant.create(world, { team: 'a' })
  await applyClusterAccount(
    world,
    sharedName(world),
    allowing({ matchExpressions: [{ key: 'team', operator: 'In', values: ['a', 'b'] }] }),
  )
  for (const name of ['edited', 'deleted', 'retained']) await tenant.apply(name, refTo(world))
  for (const name of ['edited', 'deleted', 'retained']) await tenant.synced(name, 'InSync')
  const mark = world.mark()
  await tenant.label({ team: 'c' })
  for (const name of ['edited', 'deleted', 'retained']) {
    const cr = await tenant.synced(name, 'AccountNotAllowed')
    expect(conditionOf(cr, 'Ready')?.status, 'it is still at work').toBe('True')
  }
  await tenant.apply('edited', { ...refTo(world), description: 'edited meanwhile' })
  await tenant.synced('edited', 'AccountNotAllowed')
  await tenant.apply('new', refTo(world))
  await tenant.synced('new', 'AccountNotAllowed')
  await tenant.delete('deleted')
  await until('the deletion waits', async () => conditionOf(await tenant.get('deleted'), 'Ready')?.status === 'False')
  await tenant.apply('retained', { ...refTo(world), deletionPolicy: 'Retain' })
  await tenant.delete('retained')
  await tenant.gone('retained')
  expect(writes(world, mark)).toEqual([])

  await tenant.label({ team: 'b' })
  await tenant.synced('edited', 'InSync')
  await tenant.synced('new', 'InSync')
  await tenant.gone('deleted')
  expect(
    writes(world, mark)
      .map(({ method }) => method)
      .toSorted(),
  ).toEqual(['DELETE', 'PATCH', 'POST'])
})

test('the key of a ClusterAccount is read in the operator’s namespace, and no tenant can redirect it', async () => {
  await using world = await open()
  const tenant = await Tenant.create(world)
  const { body } = await world.api.post('/api_keys', { description: 'of the tenant' })
  await secret(world, tenant.namespace, `key-of-${sharedName(world)}`, String(body.token))
  await applyClusterAccount(world, sharedName(world), allowing({ matchLabels: { team: 'a' } }))
  // Neither the reference nor a forged record of a create opens the account.
  await tenant.apply('web', {})
  const cr = await tenant.synced('web', 'AccountNotReady')
  const forged = `${cr.metadata.uid}/1/${'ab'.repeat(16)}/ClusterAccount.${sharedName(world)}`
  await tenant.patch('web', { metadata: { annotations: { 'internal.culvert.dev/create-attempt': forged } } })
  await tenant.synced('web', 'AccountNotAllowed')
  await tenant.apply('other', refTo(world))
  await tenant.synced('other', 'AccountNotAllowed')
  expect(writes(world)).toEqual([])

  await tenant.label({ team: 'a' })
  await tenant.synced('other', 'InSync')
  const used = new Set(world.journal().map(({ keyId }) => keyId))
  expect(used).not.toContain(body.id)
  expect(writes(world).length).toBeGreaterThan(0)
})

test('without accountRef a resource uses the namespace’s default account, else the cluster’s, and stays there', async () => {
  await using proxy = await KubeProxy.start(cluster.kubeconfigPath)
  await using world = await open(['--kubeconfig', proxy.kubeconfigPath])
  await applyClusterAccount(world, 'default', allowing({}))
  const tenant = await Tenant.create(world)
  await tenant.apply('early', {})
  expect((await tenant.synced('early', 'InSync')).status?.accountRef).toEqual({
    kind: 'ClusterAccount',
    name: 'default',
  })
  await secret(world, tenant.namespace, 'credentials', world.emulator.apiKey)
  const metadata = { name: 'default', namespace: tenant.namespace }
  const spec = { baseURL: world.emulator.url, apiKeySecretRef: { name: 'credentials' } }
  const account = { apiVersion: 'culvert.dev/v1alpha1', kind: 'Account', metadata, spec }
  // Accounts and Backends come by watches of their own: this one has not told of the Account when the Backend exists.
  const [watch] = proxy.watches().filter(({ path }) => path.endsWith('/accounts'))
  watch?.stall()
  await world.kube.apply(typeOf('Account'), { namespace: tenant.namespace, name: 'default' }, account)
  await tenant.apply('late', {})
  expect(conditionOf(await tenant.synced('late', 'AccountNotReady'), 'Synced')?.message).toContain('just been created')
  watch?.expire()
  expect((await tenant.synced('late', 'InSync')).status?.accountRef).toEqual({ kind: 'Account', name: 'default' })
  await tenant.apply('early', { description: 'edited' })
  expect((await tenant.synced('early', 'InSync')).status?.accountRef).toEqual({
    kind: 'ClusterAccount',
    name: 'default',
  })
  expect(writes(world).map(({ method }) => method)).toEqual(['POST', 'POST', 'PATCH'])
  await world.apply('Backend', 'own', tunnels)
  expect((await world.ready('Backend', 'own')).status?.accountRef).toEqual({ kind: 'Account', name: 'default' })
})

test('objects of a shared account are observed and adopted only where it allows that', {
  tags: 'nightly',
}, async () => {
  await using world = await open()
  const id = await world.api.create('/backends/tunnel_group', {})
  const name = sharedName(world)
  await applyClusterAccount(world, name, allowing({}))
  const observing = { externalID: id, managementPolicy: 'Observe' }
  await world.apply('Backend', 'web', { ...tunnels, ...refTo(world), ...observing })
  const { message } = await world.reason('Backend', 'web', 'Ready', 'NotAdoptable')
  expect(message).toContain(
    `ClusterAccount/${name} does not allow it: have its administrator set unmanagedObjects: Adopt`,
  )
  expect((await world.get('Backend', 'web'))?.status).not.toHaveProperty('id')

  await applyClusterAccount(world, name, { access: openAccess('Adopt') })
  const cr = await world.until('Backend', 'web', 'is observed', ({ status }) => status?.id === id)
  expect(cr.metadata.finalizers ?? []).toEqual([])
  expect(world.writes()).toEqual([expect.objectContaining({ method: 'POST', responseId: id })])
})
