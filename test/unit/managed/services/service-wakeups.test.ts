import { expect, test } from 'vitest'
import { ServiceParts } from '../../../../src/managed/services/parts.ts'
import { serviceType } from '../../../../src/managed/services/service.ts'
import { subscribePolicies, subscribeServices } from '../../../../src/managed/services/service-wakeups.ts'
import { ModelKube } from '../../../builders/model-kube.ts'
import { account, registry, typeOf, watchedStore } from '../../../builders/watched-store.ts'
import { VirtualTime } from '../../../faults/simulation/virtual-time.ts'

type Fields = Readonly<Record<string, unknown>>

const inUse = { accountRef: { kind: 'Account', name: 'default' } }
const inShop = (name: string) => ({ namespace: 'shop', name })
const ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name: 'shop', uid: 'any', controller: true }]

const created = (kind: string, content: Fields) => (kube: ModelKube) => {
  kube.create(typeOf(kind), inShop('new'), content)
}
const rule = (ipPolicyRef: Fields) => created('IPPolicyRule', { spec: { ipPolicyRef } })

test.each<[string, (kube: ModelKube) => void, readonly string[]]>([
  ['a policy that it names', (kube) => kube.delete(typeOf('IPPolicy'), inShop('office')), ['shop']],
  ['another policy', created('IPPolicy', { spec: {} }), []],
  ['a rule of its policy, by name', rule({ name: 'office' }), ['shop']],
  ['a rule of its policy, by id', rule({ id: 'ipp_1' }), ['shop']],
  ['a rule of another policy', rule({ name: 'other' }), []],
  ['what it owns', created('Backend', { spec: {}, metadata: { ownerReferences } }), ['shop']],
  ['what nobody owns', created('Backend', { spec: {} }), []],
])('a change of %s wakes a Service', async (_, change, expected) => {
  const [kube, time] = [new ModelKube(), new VirtualTime()]
  kube.create(typeOf('Account'), inShop('default'), { spec: account })
  kube.create(typeOf('IPPolicy'), inShop('office'), { spec: {}, status: { ...inUse, id: 'ipp_1' } })
  kube.create(serviceType, inShop('shop'), {
    metadata: { annotations: { 'culvert.dev/ip-policies': 'office' } },
    spec: { type: 'LoadBalancer', loadBalancerClass: 'culvert.dev/edge' },
  })
  const { store, watches } = await watchedStore(kube, time)
  const { services, managed } = watches
  if (services === undefined) throw new Error('Services are not watched')
  const woken = new Set<string>()
  subscribeServices(
    services,
    { parts: new ServiceParts(watches), policy: { unclassed: false, maxPorts: 16 } },
    ({ name }) => woken.add(name),
  )
  subscribePolicies(services, { kinds: registry, store, managed }, ({ name }) => woken.add(name))
  woken.clear()
  change(kube)
  await time.advance(20)
  expect([...woken]).toEqual(expected)
})

test('what a Service owns is found, and nothing else', async () => {
  const [kube, time] = [new ModelKube(), new VirtualTime()]
  kube.create(typeOf('Backend'), inShop('owned'), { spec: {}, metadata: { ownerReferences } })
  kube.create(typeOf('Backend'), inShop('other'), { spec: {} })
  const parts = new ServiceParts((await watchedStore(kube, time)).watches)
  expect(parts.of(inShop('shop')).map(({ metadata }) => metadata.name)).toEqual(['owned'])
})
