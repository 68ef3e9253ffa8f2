import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SALT_SECRET } from '../../src/managed/inputs/salt.ts'
import { until } from '../cluster/support/wait.ts'
import { buildImage } from '../image/build-image.ts'
import { KubernetesNode } from './node.ts'
import { Installation, NAMESPACE, RELEASE } from './support/installation.ts'
import { allObjects, type ListedObject, leftIn } from './support/objects.ts'
import { operatorPods, untilPodsAreGone } from './support/pods.ts'
import { QUICKSTART, QUICKSTART_NAMESPACE, resourcesWith, runQuickstart } from './support/quickstart.ts'

const CULVERT = fileURLToPath(new URL('../../bin/culvert.js', import.meta.url))

const tell = (message: string): void => console.error(message)

/** Resources opened by `beforeAll`, in order. */
const opened = new AsyncDisposableStack()
let node: KubernetesNode
let installation: Installation
let objectsBefore: readonly ListedObject[]

beforeAll(async () => {
  const image = await buildImage({ onProgress: tell })
  node = opened.use(await KubernetesNode.start(tell))
  await node.importImage(image)
  installation = await Installation.prepare(node, 3, tell)
  objectsBefore = await allObjects(node)
  await installation.install()
  await runQuickstart(node)
})

afterAll(() => opened.disposeAsync())

test('resources that were let go of stay when the chart is uninstalled, and hold nobody up', async () => {
  await node.kubectlOutput(['-n', NAMESPACE, 'scale', 'deployment', RELEASE, '--replicas=0'])
  await until('no operator runs', async () => (await operatorPods(node)).length === 0, { timeoutMs: 60_000 })
  const release = ['operator', '--release', '--kubeconfig', node.kubeconfig, '--namespace', NAMESPACE]
  const said = await node.namespace.output(process.execPath, [CULVERT, ...release, '--name', RELEASE])
  expect(said).toContain(`Released: resources ${QUICKSTART.length}`)
  await installation.helm(['uninstall', RELEASE, '--wait', '--timeout', '3m'])
  await untilPodsAreGone(node)
  const { crds, others } = await leftIn(node, objectsBefore)
  expect(crds).not.toEqual([])
  expect(others.toSorted()).toEqual([`Lease ${NAMESPACE}/${RELEASE}`, `Secret ${NAMESPACE}/${SALT_SECRET}`])
  const finalizers = await resourcesWith(node, '{.metadata.finalizers}')
  expect(finalizers).toEqual(QUICKSTART.map((name) => [name, '']))
  await node.kubectlOutput(['delete', 'namespace', QUICKSTART_NAMESPACE, '--timeout=120s'])
})
