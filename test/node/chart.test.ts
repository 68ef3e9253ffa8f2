import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SALT_SECRET } from '../../src/managed/inputs/salt.ts'
import { PROGRAM } from '../builders/program.ts'
import { until } from '../cluster/support/wait.ts'
import { BASE_REMARK } from '../image/base-image.ts'
import { buildImage } from '../image/build-image.ts'
import { lookAtMachine, type MachineState, tracesOf } from './machine.ts'
import { KubernetesNode } from './node.ts'
import { Installation, NAMESPACE, RELEASE } from './support/installation.ts'
import { LeaseWatch, leadershipOf } from './support/lease-watch.ts'
import { expectMemoryHeld } from './support/memory.ts'
import { allObjects, type ListedObject, leftIn } from './support/objects.ts'
import { operatorPods, untilPodsAreGone } from './support/pods.ts'
import { QUICKSTART, QUICKSTART_NAMESPACE, readyResources, runQuickstart } from './support/quickstart.ts'

/** The chart's default. */
const LEASE_DURATION_MS = 15_000

const tell = (message: string): void => console.error(message)

/** Resources opened by `beforeAll`, in order. */
const opened = new AsyncDisposableStack()
let before: MachineState
let node: KubernetesNode
let installation: Installation
let objectsBefore: readonly ListedObject[]

beforeAll(async () => {
  before = await lookAtMachine()
  const image = await buildImage({ onProgress: tell })
  node = opened.use(await KubernetesNode.start(tell))
  await node.importImage(image)
  installation = await Installation.prepare(node, 4, tell)
  objectsBefore = await allObjects(node)
})

afterAll(() => opened.disposeAsync())

test('helm install waits for two Ready operators, in a namespace that refuses Pods with rights', async () => {
  const privileged = ['run', 'x', '--image=x', '--privileged', '--dry-run=server', '-n', NAMESPACE]
  expect((await node.kubectl(privileged)).stderr).toContain('violates PodSecurity "restricted')
  const started = performance.now()
  await installation.install()
  console.log(`helm install --wait took ${Math.round(performance.now() - started)} ms. ${BASE_REMARK}`)
  expect((await operatorPods(node)).map((pod) => pod.ready)).toEqual([true, true])
})

test('every resource of the quickstart becomes Ready', async () => {
  const started = performance.now()
  await runQuickstart(node)
  console.log(`all ${QUICKSTART.length} resources Ready after ${Math.round(performance.now() - started)} ms`)
  expect(await readyResources(node)).toEqual(QUICKSTART)
  await expectMemoryHeld(node, 'after the quickstart')
})

test('culvert events finds what was sent to the API in the logs of the operators', async () => {
  const cluster = ['--kubeconfig', node.kubeconfig, '-n', QUICKSTART_NAMESPACE, '--release', RELEASE]
  const told = await node.namespace.output(process.execPath, [PROGRAM, 'events', 'edge/shop', ...cluster])
  expect(told).toMatch(/ spec +Edge\/shop +POST edges\/\S+ done \(201\): /)
})

test('helm test reaches the operator by the name of its Service', async () => {
  expect(await installation.helm(['test', RELEASE, '--timeout', '3m'])).toMatch(/Phase: +Succeeded/)
})

test('an upgrade rolls both operators, and nobody leads for no longer than a Lease lasts', async () => {
  const old = (await operatorPods(node)).map(({ name }) => name)
  await using watch = await LeaseWatch.start(node, NAMESPACE, RELEASE)
  const upgrade = ['upgrade', RELEASE, installation.chart, '--reset-then-reuse-values', '--wait', '--timeout', '4m']
  await installation.helm([...upgrade, '--set', 'operator.workers=8'])
  const fresh = (await operatorPods(node)).map(({ name }) => name)
  expect(fresh).toHaveLength(2)
  expect(fresh.filter((name) => old.includes(name))).toEqual([])
  const leads = (name: string): boolean => watch.states.at(-1)?.holder.startsWith(name) ?? false
  await until('a new operator leads', () => fresh.some(leads), { timeoutMs: 60_000, describe: () => watch.states })
  const { holders, longestGapMs } = leadershipOf(watch.states)
  console.log(`led in turn by ${holders.join(', ')}; longest time between two renewals ${longestGapMs} ms`)
  expect(holders.length).toBeGreaterThan(1)
  expect(longestGapMs).toBeLessThan(LEASE_DURATION_MS)
  const args = 'jsonpath={.spec.template.spec.containers[0].args}'
  expect(await node.kubectlOutput(['-n', NAMESPACE, 'get', 'deployment', RELEASE, '-o', args])).toContain('--workers=8')
  await expectMemoryHeld(node, 'after the upgrade')
})

test('when the leader is killed the other leads, and kubelet starts the killed one again', async () => {
  await using watch = await LeaseWatch.start(node, NAMESPACE, RELEASE)
  const holder = watch.states[0]?.holder ?? ''
  const leader = (await operatorPods(node)).find(({ name }) => holder.startsWith(name))
  process.kill(await node.cgroups.processOf(leader?.containerId ?? ''), 'SIGKILL')
  const another = (): boolean => watch.states.some((state) => state.holder !== '' && state.holder !== holder)
  await until('another leads', another, { timeoutMs: 60_000, describe: () => watch.states })
  console.log(`after a kill, ${leadershipOf(watch.states).longestGapMs} ms between two renewals`)
  const restarted = async (): Promise<boolean> => {
    const found = (await operatorPods(node)).find(({ name }) => name === leader?.name)
    return found?.restarts === 1 && found.ready
  }
  await until('it is back', restarted, { timeoutMs: 60_000, describe: () => operatorPods(node) })
  expect((await operatorPods(node)).flatMap((pod) => pod.terminations)).toEqual(['Error'])
})

test('helm uninstall refuses while resources need the operator, and names them', async () => {
  const { code } = await installation.run(['uninstall', RELEASE, '--wait', '--timeout', '3m'])
  expect(code).not.toBe(0)
  const said = await node.kubectlOutput(['-n', NAMESPACE, 'logs', `job/${RELEASE}-leftovers`])
  expect(said).toContain('Account: quickstart/')
  expect((await operatorPods(node)).map((pod) => pod.ready)).toEqual([true, true])
})

test('once they are deleted it leaves the CRDs, the Lease and the salt', async () => {
  await node.kubectlOutput(['delete', 'culvert', '--all', '--all-namespaces', '--timeout=240s'])
  await installation.helm(['uninstall', RELEASE, '--wait', '--timeout', '3m'])
  await untilPodsAreGone(node)
  const { crds, others } = await leftIn(node, objectsBefore)
  const files = globSync(fileURLToPath(new URL('../../crds/*.yaml', import.meta.url)))
  expect(crds).toHaveLength(files.length)
  expect(files.map((file) => basename(file))).toEqual(expect.arrayContaining(crds.map(fileOfCRD)))
  expect(others.toSorted()).toEqual([`Lease ${NAMESPACE}/${RELEASE}`, `Secret ${NAMESPACE}/${SALT_SECRET}`])
})

function fileOfCRD(name: string): string {
  const [plural, ...group] = name.split('.')
  return `${group.join('.')}_${plural}.yaml`
}

test('a node that is stopped leaves the machine as it was', async () => {
  const { id } = node.folder
  const running = await tracesOf(id)
  expect(running.cgroups).not.toEqual([])
  expect(running.folders).not.toEqual([])
  expect(running.processes).not.toEqual([])
  await opened.disposeAsync()
  expect(await tracesOf(id)).toEqual({ cgroups: [], folders: [], processes: [] })
  expect(await lookAtMachine()).toEqual(before)
})
