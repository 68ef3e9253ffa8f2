import { openAccess } from '../../builders/access.ts'
import { core, typeOf, type World } from '../../cluster/support/world.ts'
import { type Scene, type Subject, saying } from '../scene.ts'

const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }
/** A port without a listener: only an administrator can open it. */
const CLOSED = '127.0.0.1:1'

/** Accounts that are not usable, each with a resource that waits for it. */
export const accounts: Scene = {
  name: 'accounts',
  about:
    'Accounts in every trouble, each with a Backend that waits for it; and one that is being deleted while it is needed.',
  allowHosts: [CLOSED],
  async play({ world }) {
    await world.secret('wrong', { apiKey: 'wrong' })
    await world.secret('leaving', { apiKey: world.emulator.apiKey })
    const account = async (name: string, secret: string, baseURL = world.emulator.url): Promise<void> => {
      await world.apply('Account', name, { baseURL, apiKeySecretRef: { name: secret } })
      await world.apply('Backend', name, { ...tunnels, accountRef: { name } })
    }
    await account('unauthorized', 'wrong')
    await account('unreachable', 'credentials', `http://${CLOSED}`)
    await account('not-allowed', 'credentials', 'http://localhost:1')
    await account('no-secret', 'later')
    await account('leaving', 'leaving')
    await world.ready('Backend', 'leaving')
    await world.delete('Account', 'leaving')
    const waits = ['unauthorized', 'unreachable', 'not-allowed', 'no-secret']
    return [
      await saying(world, 'Account', 'unauthorized', 'Unauthorized', 'Failed'),
      await saying(world, 'Account', 'unreachable', 'Unreachable', 'InProgress'),
      await saying(world, 'Account', 'not-allowed', 'BaseURLNotAllowed', 'Failed'),
      await saying(world, 'Account', 'no-secret', 'SecretMissing', 'InProgress'),
      await saying(world, 'Account', 'leaving', 'Deleting', 'Terminating'),
      ...(await Promise.all(waits.map((name) => saying(world, 'Backend', name, 'AccountNotReady', 'InProgress')))),
    ]
  },
}

/** More objects vanished at once than an accident explains. */
export const isOpen: Scene = {
  name: 'isOpen',
  about: 'An Account whose identity is unproven, since most of its objects vanished; nothing is made or deleted there.',
  async play({ world }) {
    const names = Array.from({ length: 8 }, (_, index) => `shop-${index}`)
    for (const name of names) await world.apply('Backend', name, tunnels)
    const crs = await Promise.all(names.map((name) => world.ready('Backend', name)))
    for (const { status } of crs.slice(0, 6)) await world.api.delete(`/backends/tunnel_group/${status?.id}`)
    await world.resync()
    await saying(world, 'Account', 'default', 'IdentityUnproven', 'Failed')
    await world.apply('Backend', 'newcomer', tunnels)
    await world.delete('Backend', 'shop-0')
    await saying(world, 'Backend', 'shop-0', 'IdentityUnproven', 'Terminating')
    const held = names.slice(1).map((name) => saying(world, 'Backend', name, 'IdentityUnproven', 'InProgress'))
    return [
      { kind: 'Account', name: 'default', state: 'IdentityUnproven', phase: 'Failed' },
      { kind: 'Backend', name: 'shop-0', state: 'IdentityUnproven', phase: 'Terminating' },
      await saying(world, 'Backend', 'newcomer', 'IdentityUnproven', 'InProgress'),
      ...(await Promise.all(held)),
    ]
  },
}

/** A key that may not list everything. */
export const closed: Scene = {
  name: 'closed',
  about:
    'An Account whose key may not list one collection: a resource waits there to be made, and another to be deleted.',
  async play({ world }) {
    await world.apply('Backend', 'shop', tunnels)
    await world.apply('ReservedAddress', 'leaving', {})
    await world.ready('Backend', 'shop')
    await world.ready('ReservedAddress', 'leaving')
    const match = { method: 'GET', path: '/reserved_addrs', every: true } as const
    world.emulator.admin.addFault({ match, act: { type: 'status', status: 403 } })
    await world.resync()
    await world.apply('ReservedAddress', 'waiting', {})
    await world.delete('ReservedAddress', 'leaving')
    const reason = 'CollectionNotListable'
    return [
      await saying(world, 'Account', 'default', reason, 'Current', 'Current'),
      await saying(world, 'ReservedAddress', 'waiting', reason, 'InProgress', 'Current'),
      await saying(world, 'ReservedAddress', 'leaving', reason, 'Terminating', 'Gone'),
    ]
  },
}

/** A single key for a whole cluster, and who may use it. */
export const clusterAccounts: Scene = {
  name: 'cluster-accounts',
  about:
    'ClusterAccounts: one that works, one that the API refuses, and resources whose namespaces, kinds, domains, labels and references are allowed or not, or no longer.',
  world: { watch: 'cluster' },
  async play({ world }) {
    await clusterAccount(world, 'shared', world.emulator.apiKey, { access: openAccess('Adopt') })
    await clusterAccount(world, 'closed', world.emulator.apiKey, {
      access: [{ namespaceSelector: { matchLabels: { team: 'edge' } } }],
    })
    await clusterAccount(world, 'unauthorized', 'wrong', { access: openAccess() })
    for (const name of ['shared', 'closed', 'unauthorized']) {
      await world.apply('Backend', name, { ...tunnels, accountRef: { kind: 'ClusterAccount', name } })
    }
    const access = [
      {
        namespaceSelector: {},
        kinds: ['Backend', 'ReservedDomain'],
        domains: ['shop.example.com'],
        labels: { team: 'shop' },
      },
    ]
    await clusterAccount(world, 'limited', world.emulator.apiKey, { access })
    const limited = { accountRef: { kind: 'ClusterAccount', name: 'limited' } }
    await world.apply('Edge', 'limited', { protocol: 'TCP', ...limited })
    await world.apply('ReservedDomain', 'limited', { domain: 'blog.example.com', ...limited })
    await world.apply('Backend', 'limited', { ...tunnels, ...limited })
    await world.ready('Backend', 'shared')
    const told: Subject[] = [
      await saying(world, 'Edge', 'limited', 'KindNotAllowed', 'Failed'),
      await saying(world, 'ReservedDomain', 'limited', 'DomainNotAllowed', 'Failed'),
      await saying(world, 'Backend', 'limited', 'LabelNotAllowed', 'Failed'),
      await saying(world, 'Backend', 'closed', 'AccountNotAllowed', 'InProgress'),
      await saying(world, 'Backend', 'unauthorized', 'AccountNotReady', 'InProgress'),
    ]
    told.push(...(await acrossNamespaces(world)))
    return [...told, { kind: 'ClusterAccount', name: 'unauthorized', state: 'Unauthorized', phase: 'Failed' }]
  },
}

/** Relations between resources of different namespaces. */
async function acrossNamespaces(world: World): Promise<readonly Subject[]> {
  const shared = { accountRef: { kind: 'ClusterAccount', name: 'shared' } }
  const elsewhere = { namespace: `${world.namespace}-other`, name: 'granted' }
  await world.createNamespace(elsewhere.namespace)
  const granting = async (allowedReferences: readonly object[]): Promise<void> => {
    await world.kube.apply(
      typeOf('Backend'),
      elsewhere,
      {
        apiVersion: 'culvert.dev/v1alpha1',
        kind: 'Backend',
        metadata: elsewhere,
        spec: { ...tunnels, ...shared, allowedReferences },
      },
      { force: true },
    )
  }
  await granting([{ namespaces: [world.namespace] }])
  await world.apply('Edge', 'granted', { protocol: 'TCP', backend: elsewhere, ...shared })
  await world.ready('Edge', 'granted')
  await granting([])
  const withdrawn = await saying(world, 'Edge', 'granted', 'GrantWithdrawn', 'Current')
  const backend = { namespace: elsewhere.namespace, name: 'nobody' }
  await world.apply('Edge', 'not-granted', { protocol: 'TCP', backend, ...shared })
  await world.apply('IPPolicy', 'undeclared', { rulesSource: 'IPPolicyRules', allowEmpty: true, ...shared })
  const { status } = await world.ready('IPPolicy', 'undeclared')
  await world.api.post('/ip_policy_rules', { ip_policy_id: status?.id, cidr: '192.0.2.0/24', action: 'allow' })
  await world.kube.mergePatch(
    typeOf('IPPolicy'),
    { namespace: world.namespace, name: 'undeclared' },
    { metadata: { annotations: { 'culvert.dev/reconcile-requested-at': 'now' } } },
  )
  return [
    withdrawn,
    await saying(world, 'Edge', 'not-granted', 'ReferenceNotPermitted', 'Failed'),
    await saying(world, 'IPPolicy', 'undeclared', 'Undeclared', 'Current'),
  ]
}

async function clusterAccount(world: World, name: string, key: string, spec: Record<string, unknown>): Promise<void> {
  const place = { namespace: world.operatorNamespace, name: `key-of-${name}` }
  const data = { apiKey: Buffer.from(key).toString('base64') }
  await world.kube.apply(core('secrets', 'Secret'), place, { apiVersion: 'v1', kind: 'Secret', metadata: place, data })
  await world.kube.apply(
    typeOf('ClusterAccount'),
    { name },
    {
      apiVersion: 'culvert.dev/v1alpha1',
      kind: 'ClusterAccount',
      metadata: { name },
      spec: { baseURL: world.emulator.url, apiKeySecretRef: { name: place.name }, ...spec },
    },
    { force: true },
  )
}
