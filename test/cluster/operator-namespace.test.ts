import { expect, test } from 'vitest'
import type { KubeObject } from '../../src/kube/types.ts'
import { OperatorAccount } from './support/operator-account.ts'
import { OperatorProcess } from './support/operator-process.ts'
import { until } from './support/wait.ts'
import { core, World } from './support/world.ts'

const namespaceType = core('namespaces', 'Namespace', false)
const secretType = core('secrets', 'Secret')

/** Names of the operator's own Secrets. */
async function ownSecrets({ kube, operatorNamespace }: World): Promise<readonly string[]> {
  const { items } = await kube.list<KubeObject>(secretType, { namespace: operatorNamespace })
  return items.map(({ metadata }) => metadata.name).sort()
}

async function uidOfAccount(world: World): Promise<string> {
  return (await world.until('Account', 'default', 'exists', () => true)).metadata.uid
}

test('an operator whose own namespace was lost recreates what it needs, and no object', {
  tags: 'nightly',
}, async () => {
  await using world = await World.open({ operator: false })
  const { emulator, kube, kubeconfig, namespace, operatorNamespace } = world
  const start = async (): Promise<OperatorProcess> => {
    const rights = { kubeconfig, kube, namespace: operatorNamespace, name: 'apart', watched: [namespace] }
    const account = await OperatorAccount.create(rights)
    return OperatorProcess.start({
      kubeconfig: account.kubeconfigFor(kubeconfig),
      namespace: operatorNamespace,
      leaderElect: true,
      allowHTTP: true,
      flags: ['--watch-namespace', namespace, '--allow-api-host', new URL(emulator.url).host],
    })
  }
  const operator = await start()
  await world.secret('inputs', { pin: 'value' })
  await world.apply('EventDestination', 'events', {
    type: 'Monitor',
    monitor: { apiKeySecretRef: { name: 'inputs', key: 'pin' } },
  })
  await world.apply('APIKey', 'ci', {})
  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  const all = ['EventDestination/events', 'APIKey/ci', 'IPPolicy/office'].map((each) => each.split('/'))
  for (const [kind = '', name = ''] of all) await world.ready(kind, name)
  const mark = world.mark()

  await operator.kill()
  await kube.delete(namespaceType, { name: operatorNamespace })
  const isGone = async () => (await kube.get(namespaceType, { name: operatorNamespace })) === undefined
  await until('the namespace is gone', isGone, { timeoutMs: 60_000 })
  await world.createNamespace(operatorNamespace)
  const again = await start()
  await world.resync()
  for (const [kind = '', name = ''] of all) await world.ready(kind, name)
  expect(await ownSecrets(world)).toEqual([`culvert-key-${await uidOfAccount(world)}`, 'culvert-salt'])
  expect(world.writes(mark).map(({ method, path }) => `${method} ${path}`)).toEqual([])
  await again.kill()
})
