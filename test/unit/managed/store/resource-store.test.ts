import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { configMapType, secretType } from '../../../../src/kube/core-types.ts'
import { type AccountResource, accountText } from '../../../../src/managed/account-resource.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import type { indexes } from '../../../../src/managed/store/resource-indexes.ts'
import type { ResourceStore } from '../../../../src/managed/store/resource-store.ts'
import { ModelKube } from '../../../builders/model-kube.ts'
import { account, tunnels, typeOf, watchedStore } from '../../../builders/watched-store.ts'
import { VirtualTime } from '../../../faults/simulation/virtual-time.ts'

type Fields = Readonly<Record<string, unknown>>

const shop = { kind: 'Account', namespace: 'shop', name: 'default' } as const
const tcp = { protocol: 'TCP', hostports: [{ type: 'Any', port: 7000 }] }
const shared = { kind: 'ClusterAccount', name: 'shared' } as const
const inUse = { accountRef: { kind: 'Account', name: 'default' } }

function create(kube: ModelKube, kind: string, name: string, content: Fields, namespace = 'shop'): CustomResource {
  return kube.create<CustomResource>(typeOf(kind), { namespace, name }, content)
}

/** What the watches of a cluster with these resources tell. */
async function storeOf(prepare: (kube: ModelKube) => void): Promise<ResourceStore> {
  const kube = new ModelKube()
  prepare(kube)
  return (await watchedStore(kube, new VirtualTime())).store
}

/** Namespaces and names of what was found. */
const names = (found: readonly (CustomResource | AccountResource | undefined)[]): readonly string[] => {
  return found.map((cr) => `${cr?.metadata.namespace}/${cr?.metadata.name}`)
}

/** How an index is asked: in a cluster with these resources, a question whose answer it is. */
interface Case {
  readonly cluster: (kube: ModelKube) => void
  readonly ask: (store: ResourceStore) => unknown
  readonly answer: unknown
}

/** A Secret that a resource wrote, and the resource. */
function outputOf(kube: ModelKube): void {
  const key = create(kube, 'APIKey', 'pipeline', { spec: { output: { secret: { name: 'token' } } } })
  const { apiVersion, kind, metadata } = key
  kube.create(
    secretType,
    { namespace: 'shop', name: 'former-token' },
    {
      metadata: {
        annotations: { 'internal.culvert.dev/output-of': 'pipeline' },
        ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }],
      },
    },
  )
}

const cases: Readonly<Record<keyof typeof indexes, Case>> = {
  targets: {
    cluster: (kube) => create(kube, 'Edge', 'shop', { spec: { ...tcp, backend: { name: 'web' } } }),
    ask: (store) => names(store.referrersOf({ kind: 'Backend', namespace: 'shop', name: 'web' })),
    answer: ['shop/shop'],
  },
  crossings: {
    cluster: (kube) => {
      create(kube, 'Edge', 'near', { spec: { ...tcp, backend: { name: 'web' } } })
      create(kube, 'Edge', 'far', { spec: { ...tcp, backend: { name: 'web', namespace: 'shop' } } }, 'other')
    },
    ask: (store) => names(store.crossReferrersOf({ kind: 'Backend', namespace: 'shop', name: 'web' })),
    answer: ['other/far'],
  },
  targetIds: {
    cluster: (kube) => create(kube, 'Edge', 'shop', { spec: { ...tcp, backend: { id: 'bkd_1' } }, status: inUse }),
    ask: (store) => names(store.referrersOf({ kind: 'Backend', ids: ['bkd_1'], account: shop })),
    answer: ['shop/shop'],
  },
  holds: {
    cluster: (kube) => {
      const internal = { superseded: [{ id: 'bkd_1' }] }
      create(kube, 'Backend', 'web', { spec: tunnels, status: { ...inUse, id: 'bkd_2', internal } })
    },
    ask: (store) => names([store.holderOf(shop, 'bkd_1'), store.holderOf(shop, 'bkd_2')]),
    answer: ['shop/web', 'shop/web'],
  },
  notes: {
    cluster: (kube) => {
      create(kube, 'Account', 'default', { spec: account })
      const { uid } = create(kube, 'Backend', 'web', { spec: tunnels }).metadata
      const annotations = { 'internal.culvert.dev/id': `shop/web/${uid}/bkd_1/0123456789abcdef` }
      kube.mergePatch(typeOf('Backend'), { namespace: 'shop', name: 'web' }, { metadata: { annotations } }, {})
    },
    ask: (store) => [...names([store.noterOf(shop, 'bkd_1')]), store.noterOf(shop, 'bkd_2')],
    answer: ['shop/web', undefined],
  },
  children: {
    cluster: (kube) => create(kube, 'IPPolicy', 'office', { spec: {}, status: { ...inUse, rules: [{ id: 'ipr_1' }] } }),
    ask: (store) => names([store.childHolderOf(shop, 'ipr_1')]),
    answer: ['shop/office'],
  },
  secrets: {
    cluster: (kube) => create(kube, 'Account', 'default', { spec: account }),
    ask: (store) => names(store.accountsUsing({ namespace: 'shop', name: 'key' }, 'culvert-system')),
    answer: ['shop/default'],
  },
  inputs: {
    cluster: (kube) => {
      const caPEMFrom = { configMapKeyRef: { name: 'staff', key: 'ca.crt' } }
      create(kube, 'CertificateAuthority', 'staff', { spec: { caPEMFrom } })
    },
    ask: (store) => [
      names(store.readersOf('ConfigMap', { namespace: 'shop', name: 'staff' })),
      names(store.readersOf('Secret', { namespace: 'shop', name: 'staff' })),
    ],
    answer: [['shop/staff'], []],
  },
  outputs: {
    cluster: (kube) => {
      outputOf(kube)
      const status = { output: { kind: 'Secret', name: 'earlier' } }
      kube.mergePatch(typeOf('APIKey'), { namespace: 'shop', name: 'pipeline' }, { status }, { subresource: 'status' })
    },
    ask: (store) => {
      return ['token', 'earlier'].map((name) => {
        return names(store.writersOf('Secret', { apiVersion: 'v1', kind: 'Secret', metadata: metadataOf(name) }))
      })
    },
    answer: [['shop/pipeline'], ['shop/pipeline']],
  },
  owners: {
    cluster: (kube) => {
      outputOf(kube)
      kube.create(configMapType, { namespace: 'shop', name: 'unrelated' }, {})
    },
    ask: (store) => store.all().flatMap((cr) => store.outputsOf(cr)),
    answer: [{ kind: 'Secret', name: 'former-token' }],
  },
  namespace: {
    cluster: (kube) => {
      create(kube, 'Backend', 'web', { spec: tunnels })
      create(kube, 'Backend', 'far', { spec: tunnels }, 'other')
    },
    ask: (store) => names(store.inNamespace('shop')),
    answer: ['shop/web'],
  },
  account: {
    cluster: (kube) => {
      create(kube, 'Backend', 'used', { spec: tunnels, status: { accountRef: shared } })
      create(kube, 'Backend', 'chosen', { spec: { ...tunnels, accountRef: shared } })
      create(kube, 'Backend', 'nowhere', { spec: tunnels })
      create(kube, 'Backend', 'own', { spec: tunnels, status: inUse })
    },
    ask: (store) => [names(store.membersOf(shared)), names(store.candidatesOf(shared))],
    answer: [
      ['shop/used', 'shop/chosen'],
      ['shop/used', 'shop/chosen', 'shop/nowhere'],
    ],
  },
  heldIn: {
    cluster: (kube) => {
      create(kube, 'Account', 'default', { spec: account }, 'accounts')
      create(kube, 'Backend', 'web', { spec: tunnels, metadata: { finalizers: ['culvert.dev/remote'] } })
      create(kube, 'Backend', 'web', { spec: tunnels }, 'without-finalizer')
    },
    ask: (store) => ['accounts', 'shop', 'without-finalizer'].map((namespace) => store.needsOperator(namespace)),
    answer: [true, true, false],
  },
}

function metadataOf(name: string) {
  return { namespace: 'shop', name, uid: 'any', resourceVersion: '1' }
}

const accounts = fc.constantFrom(
  shared,
  { kind: 'ClusterAccount', name: 'default' },
  { kind: 'Account', name: 'default' },
)
const members = fc.array(
  fc.record({
    namespace: fc.constantFrom('shop', 'other'),
    accountRef: fc.option(accounts, { nil: undefined }),
    used: fc.option(accounts, { nil: undefined }),
  }),
  { maxLength: 6 },
)

test('the members of an account are those that a walk through all resources finds', async () => {
  await fc.assert(
    fc.asyncProperty(members, fc.subarray(['shop', 'other']), async (resources, withDefault) => {
      const store = await storeOf((kube) => {
        for (const namespace of withDefault) create(kube, 'Account', 'default', { spec: account }, namespace)
        for (const [index, { namespace, accountRef, used }] of resources.entries()) {
          const spec = { ...tunnels, ...(accountRef === undefined ? {} : { accountRef }) }
          const status = used === undefined ? {} : { accountRef: used }
          create(kube, 'Backend', `web-${index}`, { spec, status }, namespace)
        }
      })
      for (const key of [
        shared,
        shop,
        { ...shop, namespace: 'other' },
        { kind: 'ClusterAccount', name: 'default' } as const,
      ]) {
        const isMember = (cr: CustomResource): boolean => {
          const own = store.accountKeyOf(cr)
          return own !== undefined && accountText(own) === accountText(key)
        }
        expect(names(store.membersOf(key)).toSorted()).toEqual(names(store.all().filter(isMember)).toSorted())
      }
    }),
    { numRuns: 50 },
  )
})

describe('what is in the index is found', () => {
  test.each(Object.entries(cases))('%s', async (_, { cluster, ask, answer }) => {
    expect(ask(await storeOf(cluster))).toEqual(answer)
  })
})
