import { describe, expect, test } from 'vitest'
import { secretType } from '../../../../src/kube/core-types.ts'
import type { ResourceType } from '../../../../src/kube/types.ts'
import { type AccountKey, accountText } from '../../../../src/managed/account-resource.ts'
import { type CustomResource, nameOf, shortName } from '../../../../src/managed/cr.ts'
import { childKey, referrerKey, unmarkedKey, valueUserKey } from '../../../../src/managed/markers/object-keys.ts'
import { Memories } from '../../../../src/managed/run/memory.ts'
import type { ResourceStore } from '../../../../src/managed/store/resource-store.ts'
import { subscribeWakeups, type Wakeups, wakeExisting, wakeReleased } from '../../../../src/managed/store/wakeups.ts'
import type { Watches } from '../../../../src/operator/watches.ts'
import { ModelKube } from '../../../builders/model-kube.ts'
import { account, registry, tunnels, typeOf, watchedStore } from '../../../builders/watched-store.ts'
import { VirtualTime } from '../../../faults/simulation/virtual-time.ts'

type Fields = Readonly<Record<string, unknown>>

const shopAccount = (name: string): AccountKey => ({ kind: 'Account', namespace: 'shop', name })

const namespaceType: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
}

/** Watches of a model cluster and everything that they wake. */
class Watching {
  readonly kube = new ModelKube()
  readonly #time = new VirtualTime()
  readonly #woken: string[] = []
  readonly memories = new Memories()
  readonly wakeups: Wakeups = {
    managed: (name, priority) => this.#woken.push(`${shortName(name)} ${priority}`),
    account: (key, priority) => this.#woken.push(`${accountText(key)} ${priority}`),
  }
  store: ResourceStore | undefined
  #watches: Watches | undefined

  static async start(prepare: (watching: Watching) => void = () => undefined): Promise<Watching> {
    const watching = new Watching()
    prepare(watching)
    const { store, watches } = await watchedStore(watching.kube, watching.#time)
    watching.store = store
    watching.#watches = watches
    subscribeWakeups({
      kinds: registry,
      store,
      watches,
      memories: watching.memories,
      operatorNamespace: 'culvert-system',
      wake: watching.wakeups,
    })
    expect(watching.#woken).toEqual([])
    return watching
  }

  create(kind: string, name: string, spec: Fields, metadata: Fields = {}): void {
    const key = kind === 'ClusterAccount' ? { name } : { namespace: 'shop', name }
    this.kube.create(typeOf(kind), key, { spec, metadata })
  }

  patch(kind: string, name: string, patch: Fields): void {
    this.kube.mergePatch(
      typeOf(kind),
      { namespace: 'shop', name },
      patch,
      'status' in patch ? { subresource: 'status' } : {},
    )
  }

  /** A write of the operator, whose answer comes before its watch shows it. */
  patchAsOurs(kind: string, name: string, patch: Fields): void {
    this.patch(kind, name, patch)
    const written = this.kube.get<CustomResource>(typeOf(kind), { namespace: 'shop', name })
    if (written !== undefined) this.store?.record(written)
  }

  delete(kind: string, name: string): void {
    this.kube.delete(typeOf(kind), { namespace: 'shop', name })
  }

  /** What a process queues first. */
  async existing(): Promise<readonly string[]> {
    if (this.#watches !== undefined) await wakeExisting({ watches: this.#watches, wake: this.wakeups }, undefined)
    return this.#woken.splice(0)
  }

  /** The resources woken by `act`, each once, in alphabetical order. */
  async by(act: () => void): Promise<readonly string[]> {
    this.#woken.length = 0
    act()
    await this.#time.advance(20)
    return [...new Set(this.#woken)].sort()
  }
}

const spare = { type: 'Failover', failover: { backendRefs: [{ name: 'web' }] } }
const FINALIZED = { finalizers: ['culvert.dev/remote'] }

test('a process begins with each account and each resource once, whatever depends on them', async () => {
  const watching = await Watching.start((start) => {
    start.create('Account', 'default', account)
    start.create('Backend', 'web', tunnels)
    start.create('Backend', 'spare', spare)
  })
  expect(await watching.existing()).toEqual(['Account/shop/default edit', 'Backend/web edit', 'Backend/spare edit'])
})

test('an account that goes wakes its namespace; one that changes, only what lives in it or has no object', async () => {
  const watching = await Watching.start((start) => {
    start.create('Account', 'default', account)
    start.create('Account', 'second', account)
    start.create('Backend', 'new', tunnels)
    start.create('Backend', 'used', tunnels)
    start.patch('Backend', 'used', { status: { accountRef: { kind: 'Account', name: 'second' } } })
  })
  const edited = await watching.by(() => watching.patch('Account', 'default', { spec: { caBundle: 'x' } }))
  expect(edited).toEqual(['Account/shop/default edit', 'Backend/new edit'])
  const deleted = await watching.by(() => watching.delete('Account', 'default'))
  expect(deleted).toEqual(['Account/shop/default edit', 'Backend/new edit', 'Backend/used edit'])
})

test('an account that is only asked more or less often, or for sessions, wakes none of its resources', async () => {
  const watching = await Watching.start((start) => {
    start.create('Account', 'default', account)
    start.create('Backend', 'new', tunnels)
  })
  for (const spec of [
    { resyncInterval: '5m' },
    { rateLimit: { requestsPerMinute: 60 } },
    { mirrorSessions: { enabled: true } },
  ]) {
    const edited = await watching.by(() => watching.patch('Account', 'default', { spec }))
    expect(edited).toEqual(['Account/shop/default edit'])
  }
})

describe('a resource', () => {
  test('is woken when it appears or is edited, in the priority of edits', async () => {
    const watching = await Watching.start()
    expect(await watching.by(() => watching.create('Backend', 'web', tunnels))).toEqual(['Backend/web edit'])
    expect(await watching.by(() => watching.patch('Backend', 'web', { spec: { description: 'x' } }))).toEqual([
      'Backend/web edit',
    ])
  })

  test('is not woken by the status that we wrote ourselves; those that refer to it are', async () => {
    const watching = await Watching.start((start) => {
      start.create('Backend', 'web', tunnels)
      start.create('Backend', 'spare', spare)
    })
    const woken = await watching.by(() => watching.patchAsOurs('Backend', 'web', { status: { id: 'b_1' } }))
    expect(woken).toEqual(['Backend/spare edit'])
  })

  test.each([1, 2])(
    'is woken by a write of our own whose answer shows another spec, of generation %i',
    async (generation) => {
      const watching = await Watching.start((start) => {
        start.create('Backend', 'web', tunnels)
        start.create('Backend', 'spare', spare)
      })
      const woken = await watching.by(() => {
        const known = watching.kube.get<CustomResource>(typeOf('Backend'), { namespace: 'shop', name: 'web' })
        if (known === undefined) throw new Error('there is no Backend')
        // etcd was put back, and continues from its former revision.
        const metadata = { ...known.metadata, generation, resourceVersion: String(Number(watching.kube.revision) + 1) }
        watching.store?.record({ ...known, metadata, spec: { ...tunnels, description: 'another' } })
      })
      expect(woken).toEqual(['Backend/spare edit', 'Backend/web edit'])
    },
  )

  test('wakes nobody else when only its labels change', async () => {
    const watching = await Watching.start((start) => {
      start.create('Backend', 'web', tunnels)
      start.create('Backend', 'spare', spare)
    })
    expect(await watching.by(() => watching.patch('Backend', 'web', { metadata: { labels: { a: 'b' } } }))).toEqual([
      'Backend/web edit',
    ])
  })

  test('that is to be deleted is woken when a referrer releases it or goes away', async () => {
    const watching = await Watching.start((start) => {
      start.create('Backend', 'web', tunnels, FINALIZED)
      start.create('Backend', 'spare', spare)
      start.create('Backend', 'other', spare)
      start.delete('Backend', 'web')
    })
    expect(await watching.by(() => watching.delete('Backend', 'spare'))).toEqual(['Backend/web edit'])
    const removeFinalizer = { spec: { failover: { backendRefs: [{ id: 'b_1' }] } } }
    expect(await watching.by(() => watching.patch('Backend', 'other', removeFinalizer))).toEqual([
      'Backend/other edit',
      'Backend/web edit',
    ])
  })

  test('that others refer to by id wakes them, and is woken when they let go, from whatever namespace of its account', async () => {
    const byId = { type: 'Failover', failover: { backendRefs: [{ id: 'b_1' }] } }
    const watching = await Watching.start((start) => {
      start.create('ClusterAccount', 'default', account)
      start.create('Account', 'own', account)
      start.create('Backend', 'web', tunnels, FINALIZED)
      start.patch('Backend', 'web', {
        status: { id: 'b_1', accountRef: { kind: 'ClusterAccount', name: 'default' } },
      })
      start.create('Backend', 'spare', byId)
      start.create('Backend', 'elsewhere', { ...byId, accountRef: { name: 'own' } })
      start.kube.create(typeOf('Backend'), { namespace: 'blog', name: 'far' }, { spec: byId })
    })
    const referrers = ['Backend/far edit', 'Backend/spare edit', 'Backend/web edit']
    expect(await watching.by(() => watching.patch('Backend', 'web', { spec: { description: 'x' } }))).toEqual(referrers)
    expect(await watching.by(() => watching.delete('Backend', 'web'))).toEqual(referrers)
    expect(await watching.by(() => watching.delete('Backend', 'spare'))).toEqual(['Backend/web edit'])
    const far = { namespace: 'blog', name: 'far' }
    // A resource that never got to use the object blocks nothing.
    const used = { internal: { references: [{ kind: 'Backend', id: 'b_1' }] } }
    watching.kube.mergePatch(typeOf('Backend'), far, { status: used }, { subresource: 'status' })
    await watching.by(() => undefined)
    expect(await watching.by(() => watching.kube.delete(typeOf('Backend'), far))).toEqual(['Backend/web edit'])
  })

  test('that is gone leaves no memory', async () => {
    const watching = await Watching.start((start) => start.create('Backend', 'web', tunnels))
    const uid = watching.kube.get(typeOf('Backend'), { namespace: 'shop', name: 'web' })?.metadata.uid ?? ''
    const memory = watching.memories.of(uid)
    expect(watching.memories.of(uid)).toBe(memory)
    await watching.by(() => watching.delete('Backend', 'web'))
    expect(watching.memories.of(uid)).not.toBe(memory)
  })
})

describe('an object that releases another', () => {
  const inUse = async (): Promise<(lost: string) => Promise<readonly string[]>> => {
    const watching = await Watching.start((start) => {
      start.create('Account', 'default', account)
      for (const [name, id] of Object.entries({ going: 'b_1', staying: 'b_2' })) {
        start.create('Backend', name, tunnels, FINALIZED)
        start.patch('Backend', name, { status: { id } })
      }
      start.delete('Backend', 'going')
    })
    const { store } = watching
    if (store === undefined) throw new Error('nothing is watched')
    const [key, wake] = [shopAccount('default'), watching.wakeups]
    const cache = { find: (_: unknown, text: string) => (text === 'value Backend host' ? [{ id: 'b_1' }] : []) }
    return (lost) => {
      return watching.by(() => wakeReleased({ kinds: registry, store, wake }, { key, cache }, lost))
    }
  }

  test('wakes its resource if that is to be deleted', async () => {
    const lose = await inUse()
    expect(await lose(referrerKey('Backend', 'b_1'))).toEqual(['Backend/going edit'])
    expect(await lose(valueUserKey('Backend', 'host'))).toEqual(['Backend/going edit'])
  })

  test('wakes nobody else', async () => {
    const lose = await inUse()
    const others = [referrerKey('Backend', 'b_2'), referrerKey('Backend', 'b_3'), valueUserKey('Backend', 'other')]
    for (const key of [...others, childKey('b_1'), unmarkedKey('referrer Backend b_1')]) {
      expect(await lose(key)).toEqual([])
    }
  })
})

describe('an account', () => {
  test('that comes, goes or is edited wakes those in its reach, one whose status changes only itself', async () => {
    const watching = await Watching.start((start) => start.create('Backend', 'web', tunnels))
    expect(await watching.by(() => watching.create('Account', 'default', account))).toEqual([
      'Account/shop/default edit',
      'Backend/web edit',
    ])
    const all = ['Account/shop/default edit', 'Backend/web edit']
    const edit = { spec: { caBundle: 'x' } }
    expect(await watching.by(() => watching.patch('Account', 'default', edit))).toEqual(all)
    const status = { status: { orphanCount: 1 } }
    expect(await watching.by(() => watching.patch('Account', 'default', status))).toEqual(['Account/shop/default edit'])
    expect(await watching.by(() => watching.delete('Account', 'default'))).toEqual([
      'Account/shop/default edit',
      'Backend/web edit',
    ])
  })

  test('that is to be deleted is woken when one that needed it is gone', async () => {
    const watching = await Watching.start((start) => {
      start.create('Backend', 'web', tunnels)
      start.create('Account', 'default', account, FINALIZED)
      start.delete('Account', 'default')
    })
    expect(await watching.by(() => watching.delete('Backend', 'web'))).toEqual(['Account/shop/default edit'])
  })
})

describe('a Secret', () => {
  const change = (watching: Watching, namespace: string, name: string) => () => {
    watching.kube.mergePatch(secretType, { namespace, name }, { data: { a: 'b' } })
  }

  test('wakes the accounts whose key it holds: of its namespace, or of the cluster in the operator’s', async () => {
    const watching = await Watching.start((start) => {
      for (const namespace of ['shop', 'culvert-system', 'blog'])
        start.kube.create(secretType, { namespace, name: 'key' }, {})
      start.create('Account', 'default', account)
      start.create('ClusterAccount', 'shared', account)
    })
    expect(await watching.by(change(watching, 'shop', 'key'))).toEqual(['Account/shop/default edit'])
    expect(await watching.by(change(watching, 'culvert-system', 'key'))).toEqual(['ClusterAccount//shared edit'])
    expect(await watching.by(change(watching, 'blog', 'key'))).toEqual([])
  })

  test('wakes the resources that read it', async () => {
    const monitor = { type: 'Monitor', monitor: { apiKeySecretRef: { name: 'key', key: 'a' } } }
    const watching = await Watching.start((start) => {
      for (const name of ['key', 'other']) start.kube.create(secretType, { namespace: 'shop', name }, {})
      start.create('EventDestination', 'sink', monitor)
    })
    expect(await watching.by(change(watching, 'shop', 'key'))).toEqual(['EventDestination/sink edit'])
    expect(await watching.by(change(watching, 'shop', 'other'))).toEqual([])
  })
})

describe('what is made up of others', () => {
  const start = () =>
    Watching.start((world) => {
      world.create('IPPolicy', 'office', { rulesSource: 'IPPolicyRules' })
      for (const name of ['a', 'b']) {
        world.create('IPPolicyRule', name, { ipPolicyRef: { name: 'office' }, cidr: '10.0.0.0/8', action: 'Allow' })
      }
      world.create('Edge', 'shop', { protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } })
    })
  const patched = (watching: Watching, kind: string, name: string, patch: Fields) => () =>
    watching.patch(kind, name, patch)

  test('is woken with all that wait for it when one of them changes', async () => {
    const watching = await start()
    expect(await watching.by(patched(watching, 'IPPolicyRule', 'a', { status: { id: 'ipr_1' } }))).toEqual([
      'Edge/shop edit',
      'IPPolicy/office edit',
      'IPPolicyRule/a edit',
    ])
  })

  test('wakes one that is being deleted when another changes or a user of it goes', async () => {
    const watching = await start()
    watching.create('IPPolicyRule', 'old', { ipPolicyRef: { name: 'office' }, cidr: '10.0.0.0/8' }, FINALIZED)
    watching.delete('IPPolicyRule', 'old')
    await watching.by(() => undefined)
    expect(await watching.by(patched(watching, 'IPPolicyRule', 'a', { status: { id: 'ipr_1' } }))).toContain(
      'IPPolicyRule/old edit',
    )
    expect(await watching.by(() => watching.delete('Edge', 'shop'))).toEqual(['IPPolicyRule/old edit'])
  })

  test('does not wake one that is being deleted with what it says of itself', async () => {
    const watching = await start()
    watching.create('IPPolicyRule', 'old', { ipPolicyRef: { name: 'office' }, cidr: '10.0.0.0/8' }, FINALIZED)
    watching.delete('IPPolicyRule', 'old')
    await watching.by(() => undefined)
    const woken = await watching.by(() => watching.patchAsOurs('IPPolicyRule', 'old', { status: { id: 'ipr_1' } }))
    expect(woken).toEqual(['Edge/shop edit', 'IPPolicy/office edit'])
  })

  test('tells them in which account they live, once it exists or names another', async () => {
    const watching = await Watching.start((world) => {
      for (const name of ['default', 'team']) world.create('Account', name, account)
      world.create('IPPolicyRule', 'a', { ipPolicyRef: { name: 'office' }, cidr: '10.0.0.0/8', action: 'Allow' })
    })
    const members = (name: string): readonly string[] =>
      (watching.store?.membersOf({ kind: 'Account', namespace: 'shop', name }) ?? []).map(({ kind }) => kind)
    expect([...members('default'), ...members('team')]).toEqual([])
    const create = () => watching.create('IPPolicy', 'office', { rulesSource: 'IPPolicyRules' })
    expect(await watching.by(create)).toEqual(['IPPolicy/office edit', 'IPPolicyRule/a edit'])
    expect(members('default')).toEqual(expect.arrayContaining(['IPPolicy', 'IPPolicyRule']))
    const spec = { accountRef: { kind: 'Account', name: 'team' } }
    expect(await watching.by(patched(watching, 'IPPolicy', 'office', { spec }))).toContain('IPPolicyRule/a edit')
    expect(members('team')).toEqual(expect.arrayContaining(['IPPolicy', 'IPPolicyRule']))
  })

  test('wakes them when it is another or takes them no more, and not when it only stands otherwise', async () => {
    const watching = await start()
    const ruleCount = (count: number) => patched(watching, 'IPPolicy', 'office', { status: { ruleCount: count } })
    expect(await watching.by(ruleCount(1))).toEqual(['Edge/shop edit', 'IPPolicy/office edit'])
    const all = ['Edge/shop edit', 'IPPolicy/office edit', 'IPPolicyRule/a edit', 'IPPolicyRule/b edit']
    expect(await watching.by(patched(watching, 'IPPolicy', 'office', { status: { id: 'ipp_1' } }))).toEqual(all)
    const spec = { rulesSource: null, rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] }
    expect(await watching.by(patched(watching, 'IPPolicy', 'office', { spec }))).toEqual(all)
  })
})

describe('who may use an account of the cluster', () => {
  const selector = (team: string) => ({ namespaceSelector: { matchLabels: { team } } })
  const shared = { accountRef: { kind: 'ClusterAccount', name: 'shared' } }
  const start = (access: readonly Fields[], labels: Fields) =>
    Watching.start((world) => {
      world.kube.create(namespaceType, { name: 'shop' }, { metadata: { labels } })
      world.kube.create(namespaceType, { name: 'blog' }, { metadata: { labels: { team: 'b' } } })
      world.create('ClusterAccount', 'shared', { ...account, access })
      world.create('ClusterAccount', 'other', account)
      world.create('Account', 'default', account)
      world.create('Backend', 'web', { ...tunnels, ...shared })
      world.create('APIKey', 'key', shared)
      world.create('Backend', 'own', tunnels)
      world.create('Backend', 'other', { ...tunnels, accountRef: { kind: 'ClusterAccount', name: 'other' } })
      world.kube.create(typeOf('Backend'), { namespace: 'blog', name: 'far' }, { spec: { ...tunnels, ...shared } })
    })
  const labelled = (watching: Watching, metadata: Fields) => () => {
    watching.kube.mergePatch(namespaceType, { name: 'shop' }, { metadata })
  }
  const edited = (watching: Watching, spec: Fields) => () => {
    watching.kube.mergePatch(typeOf('ClusterAccount'), { name: 'shared' }, { spec })
  }

  test('wakes, with the labels of a namespace, those for whom they change something', async () => {
    const watching = await start([selector('a'), { ...selector('c'), kinds: ['APIKey'] }], { team: 'b' })
    expect(await watching.by(labelled(watching, { labels: { stage: 'test' } }))).toEqual([])
    expect(await watching.by(labelled(watching, { annotations: { team: 'a' } }))).toEqual([])
    expect(await watching.by(labelled(watching, { labels: { team: 'a' } }))).toEqual(['Backend/web edit'])
    expect(await watching.by(labelled(watching, { labels: { team: 'c' } }))).toEqual([
      'APIKey/key edit',
      'Backend/web edit',
    ])
  })

  test('wakes, with its entries, those for whom they change something', async () => {
    const watching = await start([selector('a')], { team: 'a' })
    const [own] = ['ClusterAccount//shared edit']
    const others = [selector('a'), { ...selector('c'), kinds: ['APIKey'] }]
    expect(await watching.by(edited(watching, { access: others }))).toEqual([own])
    const keys = [...others, { ...selector('a'), kinds: ['APIKey'] }]
    expect(await watching.by(edited(watching, { access: keys }))).toEqual(['APIKey/key edit', own])
    const limited = [...keys, { ...selector('a'), domains: ['example.com'] }]
    expect(await watching.by(edited(watching, { access: limited }))).toEqual(['Backend/web edit', own])
    const everybody = [...limited, { namespaceSelector: {} }]
    expect(await watching.by(edited(watching, { access: everybody }))).toEqual([
      'Backend/far edit',
      'Backend/web edit',
      own,
    ])
    expect(await watching.by(edited(watching, { access: [] }))).toEqual([
      'APIKey/key edit',
      'Backend/far edit',
      'Backend/web edit',
      own,
    ])
  })

  test('with anything else of it, wakes all that live in it and none that do not', async () => {
    const watching = await start([selector('a')], { team: 'a' })
    expect(await watching.by(edited(watching, { caBundle: 'x' }))).toEqual([
      'APIKey/key edit',
      'Backend/far edit',
      'Backend/web edit',
      'ClusterAccount//shared edit',
    ])
  })

  test('wakes those without an account when the default one comes', async () => {
    const watching = await Watching.start((world) => {
      world.kube.create(namespaceType, { name: 'shop' }, {})
      world.create('Account', 'own', account)
      world.create('Backend', 'web', tunnels)
      world.create('Backend', 'own', { ...tunnels, accountRef: { name: 'own' } })
    })
    expect(await watching.by(() => watching.create('ClusterAccount', 'default', account))).toEqual([
      'Backend/web edit',
      'ClusterAccount//default edit',
    ])
    expect(await watching.by(() => watching.kube.delete(typeOf('ClusterAccount'), { name: 'default' }))).toEqual([
      'Backend/web edit',
      'ClusterAccount//default edit',
    ])
  })
})

test('resources are known by what they hold, read and refer to', async () => {
  const watching = await Watching.start((start) => {
    start.create('Account', 'default', account)
    start.create('Backend', 'web', tunnels)
    start.create('Backend', 'spare', spare)
    start.patch('Backend', 'web', { status: { id: 'b_1', accountRef: { kind: 'Account', name: 'former' } } })
  })
  const { store } = watching
  const names = (found: readonly CustomResource[] = []) => found.map((cr) => shortName(nameOf(cr)))
  expect(names(store?.referrersOf({ kind: 'Backend', namespace: 'shop', name: 'web' }))).toEqual(['Backend/spare'])
  expect(store?.holderOf(shopAccount('former'), 'b_1')?.metadata.name).toBe('web')
  expect(store?.holderOf(shopAccount('default'), 'b_1')).toBeUndefined()
  expect(store?.holderOf(shopAccount('former'), 'b_2')).toBeUndefined()
  // The account in use counts, whatever the default would be.
  expect(names(store?.membersOf(shopAccount('former')))).toEqual(['Backend/web'])
  expect(names(store?.membersOf(shopAccount('default')))).toEqual(['Backend/spare'])
})

test('who comes to an object that another has wakes both; who leaves it, the other', async () => {
  const watching = await Watching.start((start) => {
    start.create('Account', 'default', account)
    start.create('Backend', 'web', tunnels)
    start.create('Backend', 'spare', tunnels)
    start.patch('Backend', 'web', { status: { id: 'b_1' } })
  })
  const hold = (id: string | null) => () => watching.patch('Backend', 'spare', { status: { id } })
  expect(await watching.by(hold('b_1'))).toEqual(['Backend/spare edit', 'Backend/web edit'])
  expect(await watching.by(hold('b_2'))).toEqual(['Backend/spare edit', 'Backend/web edit'])
  expect(await watching.by(hold('b_3'))).toEqual(['Backend/spare edit'])
})

test('an object is locked for one resource at a time, and not while another holds it', async () => {
  const { store } = await Watching.start((start) => {
    start.create('Account', 'default', account)
    start.create('Backend', 'web', tunnels)
    start.create('Backend', 'spare', tunnels)
    start.patch('Backend', 'web', { status: { id: 'b_1' } })
  })
  const [web, other] = ['web', 'spare'].map((name) => store?.get({ kind: 'Backend', namespace: 'shop', name }))
  if (store === undefined || web === undefined || other === undefined) throw new Error('nothing is watched')
  expect(store.lock(shopAccount('default'), 'b_1', web)).toBeUndefined()
  expect(store.lock(shopAccount('default'), 'b_1', other)).toBe(web)
  expect(store.lock(shopAccount('default'), 'b_2', other)).toBeUndefined()
  expect(store.lock(shopAccount('default'), 'b_2', web)).toBe(other)
  expect(store.holderOf(shopAccount('default'), 'b_2')).toBe(other)
  store.unlock(other)
  expect(store.holderOf(shopAccount('default'), 'b_2')).toBeUndefined()
  expect(store.lock(shopAccount('default'), 'b_2', web)).toBeUndefined()
})

describe('an id is that of one account', () => {
  /** Two accounts of a namespace, verified or not, each with a resource whose status names b_1. */
  const withTwo = (fingerprints: readonly (string | undefined)[]) =>
    Watching.start((start) => {
      for (const [index, name] of ['default', 'other'].entries()) {
        const keyFingerprint = fingerprints[index]
        start.create('Account', name, account)
        if (keyFingerprint !== undefined) start.patch('Account', name, { status: { internal: { keyFingerprint } } })
        start.create('Backend', name, { ...tunnels, accountRef: { name } })
        start.patch('Backend', name, { status: { id: 'b_1', accountRef: { kind: 'Account', name } } })
      }
      start.create('AgentIngress', 'idle', { domain: 'idle.example.com' })
      start.create('Backend', 'user', { type: 'Failover', failover: { backendRefs: [{ id: 'b_1' }] } })
    })
  const cases = [
    { title: 'of unproven accounts', fingerprints: [undefined, undefined], shared: false },
    { title: 'of accounts that were proven with other keys', fingerprints: ['one', 'two'], shared: false },
    { title: 'of accounts that were proven with one key, which are one', fingerprints: ['one', 'one'], shared: true },
  ]
  test.each(cases)('$title', async ({ fingerprints, shared }) => {
    const watching = await withTwo(fingerprints)
    const { store } = watching
    const holders = (name: string) => store?.holdersOf(shopAccount(name), 'b_1').map((cr) => cr.metadata.name)
    expect(holders('default')).toEqual(shared ? ['default', 'other'] : ['default'])
    expect(holders('other')).toEqual(shared ? ['default', 'other'] : ['other'])
    const [taker] = [store?.get({ kind: 'AgentIngress', namespace: 'shop', name: 'idle' })]
    if (store === undefined || taker === undefined) throw new Error('nothing is watched')
    store.lock(shopAccount('default'), 'b_2', taker)
    expect(store.holderOf(shopAccount('other'), 'b_2')).toBe(shared ? taker : undefined)
    const woken = await watching.by(() => watching.patch('Backend', 'other', { status: { id: 'b_9' } }))
    const ofOther = ['Backend/other edit']
    expect(woken).toEqual(shared ? ['Backend/default edit', ...ofOther, 'Backend/user edit'] : ofOther)
  })

  test('unless one API shows it to both', async () => {
    const { store } = await withTwo([undefined, undefined])
    const holder = (name: string) => store?.holdersOf(shopAccount(name), 'b_1').map((cr) => cr.metadata.name)
    const api = 'https://api.example.com'
    const addresses: Record<string, string> = { default: api, other: 'https://other.example.com' }
    store?.setAddressLookup(({ name }, id) => (id === 'b_1' ? addresses[name] : undefined))
    expect(holder('other')).toEqual(['other'])
    addresses.other = api
    expect(holder('other')).toEqual(['default', 'other'])
  })

  test('and with no account at all, nobody refers to it', async () => {
    const { store } = await withTwo([undefined, undefined])
    const target = { kind: 'Backend', ids: ['b_1'] }
    expect(store?.referrersOf(target)).toEqual([])
    expect(store?.referrersOf({ ...target, account: shopAccount('default') })).toHaveLength(1)
    expect(store?.referrersOf({ ...target, account: shopAccount('other') })).toEqual([])
  })
})
