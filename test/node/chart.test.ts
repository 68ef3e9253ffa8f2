import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aimAtEmulator, customResources, readManifests, toYaml } from '../../src/cli/demo/manifests.ts'
import { GROUP } from '../../src/managed/names.ts'
import { until } from '../cluster/support/wait.ts'
import { BASE_REMARK } from '../image/base-image.ts'
import { buildImage } from '../image/build-image.ts'
import { lookAtMachine, type MachineState, tracesOf } from './machine.ts'
import { KubernetesNode } from './node.ts'
import { Installation, NAMESPACE, RELEASE } from './support/installation.ts'
import { LeaseWatch, leadershipOf } from './support/lease-watch.ts'
import { allObjects, type ListedObject } from './support/objects.ts'
import { memoryOf, operatorPods } from './support/pods.ts'

const QUICKSTART = fileURLToPath(new URL('../../examples/quickstart', import.meta.url))
const QUICKSTART_NAMESPACE = 'quickstart'
const CRDS = fileURLToPath(new URL('../../crds', import.meta.url))
const API_KEY = 'key-of-the-node-suite'
const EMULATOR = `http://${RELEASE}-emulator.${NAMESPACE}.svc:4040`
/** The chart's default. */
const LEASE_DURATION_MS = 15_000

const manifests = await readManifests(QUICKSTART)
const tell = (message: string): void => console.error(message)

/** What `beforeAll` got to, in its order. */
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
  installation = await Installation.prepare(node, tell)
  await kubectl(['create', 'namespace', NAMESPACE])
  await kubectl(['label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/enforce=restricted'])
  await until('the namespace has its ServiceAccount', async () => {
    return (await node.kubectl(['-n', NAMESPACE, 'get', 'serviceaccount', 'default'])).code === 0
  })
  objectsBefore = await allObjects(node)
})

afterAll(async () => {
  await opened.disposeAsync()
})

async function kubectl(args: readonly string[], stdin?: string): Promise<string> {
  const { code, stdout, stderr } = await node.kubectl(args, stdin === undefined ? {} : { stdin })
  expect(code, stderr).toBe(0)
  return stdout
}

/** Kind and name of the custom resources that are Ready. */
async function ready(): Promise<readonly string[]> {
  const condition = '{.status.conditions[?(@.type=="Ready")].status}'
  const columns = `{range .items[*]}{.kind}/{.metadata.name} ${condition}{"\\n"}{end}`
  const lines = (await kubectl(['get', 'culvert', '-A', '-o', `jsonpath=${columns}`])).split('\n')
  return lines.flatMap((line) => (line.endsWith(' True') ? [line.slice(0, -' True'.length)] : [])).sort()
}

async function expectMemoryHeld(when: string): Promise<void> {
  for (const pod of await operatorPods(node)) {
    expect(pod.restarts).toBe(0)
    expect(pod.terminations).toEqual([])
    const { peak, resident, limit } = await memoryOf(node, pod)
    console.log(
      `${when}: ${pod.name} was charged at most ${mebibytes(peak)} of its ${mebibytes(limit)}, ` +
        `and had at most ${mebibytes(resident)} resident, with the files that others had loaded`,
    )
    for (const bytes of [peak, resident]) {
      expect(bytes).toBeGreaterThan(0)
      expect(bytes).toBeLessThan(limit)
    }
  }
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`
}

test('helm install waits for two Ready operators, in a namespace that refuses Pods with rights', async () => {
  const privileged = ['run', 'x', '--image=x', '--privileged', '--dry-run=server', '-n', NAMESPACE]
  expect((await node.kubectl(privileged)).stderr).toContain('violates PodSecurity "restricted')
  const started = performance.now()
  await installation.helm(['install', RELEASE, installation.chart, '--wait', '--timeout', '4m'], {
    image: { repository: 'localhost/culvert', tag: 'test', pullPolicy: 'Never' },
    emulator: { enabled: true, apiKey: API_KEY, extraArgs: ['--cert-seconds', '1'] },
  })
  console.log(`helm install --wait took ${Math.round(performance.now() - started)} ms. ${BASE_REMARK}`)
  const pods = await operatorPods(node)
  expect(pods.map((pod) => pod.ready)).toEqual([true, true])
})

test('every resource of the quickstart becomes Ready', async () => {
  const started = performance.now()
  const aimed = toYaml(aimAtEmulator(manifests, { url: EMULATOR, apiKey: API_KEY }))
  await kubectl(['apply', '--server-side', '-f', '-'], aimed)
  const wanted = customResources(manifests)
    .map(({ kind, name }) => `${kind}/${name}`)
    .sort()
  await until('all are Ready', async () => (await ready()).length === wanted.length, {
    timeoutMs: 240_000,
    describe: () => kubectl(['get', 'culvert', '-A']),
  })
  expect(await ready()).toEqual(wanted)
  console.log(`all ${wanted.length} resources Ready after ${Math.round(performance.now() - started)} ms`)
  await expectMemoryHeld('after the quickstart')
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
  const args = [
    '-n',
    NAMESPACE,
    'get',
    'deployment',
    RELEASE,
    '-o',
    'jsonpath={.spec.template.spec.containers[0].args}',
  ]
  expect(await kubectl(args)).toContain('--workers=8')
  await expectMemoryHeld('after the upgrade')
})

test('helm uninstall refuses while resources need the operator, and names them', async () => {
  const { code } = await installation.run(['uninstall', RELEASE, '--wait', '--timeout', '3m'])
  expect(code).not.toBe(0)
  const said = await kubectl(['-n', NAMESPACE, 'logs', `job/${RELEASE}-leftovers`])
  expect(said).toContain('Account: quickstart/')
  expect((await operatorPods(node)).map((pod) => pod.ready)).toEqual([true, true])
})

test('once they are deleted it leaves the CRDs and the Lease', async () => {
  await kubectl(['delete', 'culvert', '--all', '--all-namespaces', '--timeout=240s'])
  await installation.helm(['uninstall', RELEASE, '--wait', '--timeout', '3m'])
  await until('its Pods are gone', async () => (await operatorPods(node)).length === 0, { timeoutMs: 60_000 })
  const known = new Set([...objectsBefore.map(({ id }) => id), `APIService v1alpha1.${GROUP}`])
  const ofQuickstart = new Set(manifests.map(({ kind, metadata: { name } }) => `${kind} ${name}`))
  const left = (await allObjects(node)).filter(({ id, kind, namespace, name }) => {
    return !known.has(id) && namespace !== QUICKSTART_NAMESPACE && !ofQuickstart.has(`${kind} ${name}`)
  })
  const crds = left
    .filter(({ kind }) => kind === 'CustomResourceDefinition')
    .map(({ name }) => `${GROUP}_${name.split('.')[0]}.yaml`)
  expect(crds.sort()).toEqual((await readdir(CRDS)).sort())
  expect(left.filter(({ kind }) => kind !== 'CustomResourceDefinition').map(({ id }) => id)).toEqual([
    `Lease ${NAMESPACE}/${RELEASE}`,
  ])
})

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
