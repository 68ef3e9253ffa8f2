import { describe, expect, test } from 'vitest'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import type { ResourceStore } from '../../../../src/managed/store/resource-store.ts'
import { ModelKube } from '../../../builders/model-kube.ts'
import { typeOf, watchedStore } from '../../../builders/watched-store.ts'
import { VirtualTime } from '../../../faults/simulation/virtual-time.ts'

type Fields = Readonly<Record<string, unknown>>

const shop = { kind: 'Account', namespace: 'shop', name: 'default' } as const
const account = { baseURL: 'https://api.example.com', apiKeySecretRef: { name: 'key' } }
const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }

function create(kube: ModelKube, kind: string, name: string, content: Fields): void {
  kube.create(typeOf(kind), { namespace: 'shop', name }, content)
}

/** What the watches of a cluster with these resources tell. */
async function storeOf(prepare: (kube: ModelKube) => void): Promise<ResourceStore> {
  const kube = new ModelKube()
  prepare(kube)
  return (await watchedStore(kube, new VirtualTime())).store
}

test('who notes an object as its own is found by the id of the object', async () => {
  const store = await storeOf((kube) => {
    create(kube, 'Account', 'default', { spec: account })
    create(kube, 'Backend', 'web', { spec: tunnels })
    const web = { namespace: 'shop', name: 'web' }
    const uid = kube.get<CustomResource>(typeOf('Backend'), web)?.metadata.uid
    const note = `shop/web/${uid}/bkd_1/0123456789abcdef`
    kube.mergePatch(typeOf('Backend'), web, { metadata: { annotations: { 'internal.culvert.dev/id': note } } }, {})
  })
  expect(store.noterOf(shop, 'bkd_1')?.metadata.name).toBe('web')
  expect(store.noterOf(shop, 'bkd_2')).toBeUndefined()
})

describe('a namespace needs the operator', () => {
  const FINALIZED = { finalizers: ['culvert.dev/remote'] }

  test.each([
    ['for an Account, which is about to get the finalizer', 'Account', { spec: account }, true],
    ['for a resource with the finalizer', 'Backend', { spec: tunnels, metadata: FINALIZED }, true],
    ['not for a resource without it', 'Backend', { spec: tunnels }, false],
  ])('%s', async (_, kind, content, needed) => {
    const store = await storeOf((kube) => create(kube, kind, 'default', content))
    expect(store.needsOperator('shop')).toBe(needed)
    expect(store.needsOperator('other')).toBe(false)
  })
})
