import { expect, test } from 'vitest'
import { shortName } from '../../../../src/managed/cr.ts'
import { deploymentType } from '../../../../src/managed/tunnels/tunnel-resource.ts'
import { subscribeTunnels } from '../../../../src/managed/tunnels/tunnel-wakeups.ts'
import { ModelKube } from '../../../builders/model-kube.ts'
import { account, registry, tunnels, typeOf, watchedStore } from '../../../builders/watched-store.ts'
import { VirtualTime } from '../../../faults/simulation/virtual-time.ts'

type Fields = Readonly<Record<string, unknown>>

const inShop = (name: string) => ({ namespace: 'shop', name })

function patched(kind: string, name: string, patch: Fields): (kube: ModelKube) => void {
  const options = 'status' in patch ? { subresource: 'status' as const } : {}
  return (kube) => kube.mergePatch(typeOf(kind), inShop(name), patch, options)
}

test.each<[string, (kube: ModelKube) => void, readonly string[]]>([
  ['its Backend', patched('Backend', 'web', { spec: { description: 'x' } }), ['Tunnel/web']],
  ['another Backend', patched('Backend', 'other', { spec: { description: 'x' } }), []],
  ['its credential', patched('SSHCredential', 'agents', { spec: { description: 'x' } }), ['Tunnel/web']],
  [
    "its account's gateway",
    patched('Account', 'default', { spec: { sshGateway: { address: 'a:22' } } }),
    ['Tunnel/web'],
  ],
  ["its account's budget", patched('Account', 'default', { spec: { rateLimit: { requestsPerMinute: 9 } } }), []],
  [
    'its Deployment',
    (kube) => kube.create(deploymentType, inShop('any'), { metadata: { labels: { 'culvert.dev/tunnel': 'web' } } }),
    ['Tunnel/web'],
  ],
  [
    'the number of its agents, and its Backend with it',
    patched('Tunnel', 'web', { status: { online: 2 } }),
    ['Backend/web', 'Tunnel/web'],
  ],
])('a change of %s wakes a Tunnel', async (_, change, expected) => {
  const [kube, time] = [new ModelKube(), new VirtualTime()]
  kube.create(typeOf('Account'), inShop('default'), { spec: account })
  for (const name of ['web', 'other']) kube.create(typeOf('Backend'), inShop(name), { spec: tunnels })
  kube.create(typeOf('SSHCredential'), inShop('agents'), { spec: {} })
  kube.create(typeOf('Tunnel'), inShop('web'), {
    spec: { backendRef: { name: 'web' }, credentialRef: { name: 'agents' } },
    status: { accountRef: { kind: 'Account', name: 'default' } },
  })
  const { store, watches } = await watchedStore(kube, time)
  const woken = new Set<string>()
  subscribeTunnels(registry, store.ownWrites, watches, {
    tunnel: (name) => woken.add(shortName(name)),
    backend: (name) => woken.add(shortName(name)),
  })
  woken.clear()
  change(kube)
  await time.advance(20)
  expect([...woken].sort()).toEqual(expected)
})
