import { fileURLToPath, pathToFileURL } from 'node:url'
import { type ControlPlane, startControlPlane } from '../controlplane/control-plane.ts'
import { type Emulator, startEmulator } from '../src/emulator/emulator.ts'
import { kinds } from '../src/kinds/index.ts'
import { type ClosableKubeClient, createKubeClient } from '../src/kube/client.ts'
import { loadKubeConnection } from '../src/kube/load-config.ts'
import type { KubeObject, ResourceType } from '../src/kube/types.ts'
import { resourceTypeOf } from '../src/managed/kinds-registry.ts'
import { systemClock } from '../src/util/clock.ts'
import { systemRandom } from '../src/util/random.ts'
import { OperatorProcess } from '../test/cluster/support/operator-process.ts'

/** The cost of making a number of resources Ready, all of which exist when the operator starts. */
export interface ConvergenceResult {
  readonly kind: string
  readonly count: number
  readonly seconds: number
  /** Calls to the API per resource, lists included. */
  readonly callsEach: number
  /** Kubernetes writes per resource, except Events. */
  readonly writesEach: number
  /** Seconds for the same number of merge patches alone, with the same client and concurrency. */
  readonly floorSeconds: number
  /** `seconds` divided by `floorSeconds`. */
  readonly ratio: number
}

export interface BenchOptions {
  /** Numbers of resources, one run of each kind for each number. Default 300 and 1,000. */
  readonly counts?: readonly number[]
  /** Called with each result as soon as it is available. */
  readonly onResult?: (result: ConvergenceResult) => void
}

const COUNTS = [300, 1000]
const SPECS: Readonly<Record<string, Record<string, unknown>>> = {
  Backend: { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } },
  IPPolicy: { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] },
}
/** The operator's default concurrency. */
const WORKERS = 16
const TIMEOUT_MS = 180_000
const CRDS = fileURLToPath(new URL('../crds', import.meta.url))

/** Converges 300 and 1,000 Backends and IPPolicies, each against its own real apiserver and emulator. */
export async function run({ counts = COUNTS, onResult }: BenchOptions = {}): Promise<readonly ConvergenceResult[]> {
  await using controlPlane = await startCluster()
  const results: ConvergenceResult[] = []
  for (const count of counts) {
    for (const kind of Object.keys(SPECS)) {
      const result = await converge(controlPlane, kind, count)
      onResult?.(result)
      results.push(result)
    }
  }
  return results
}

/** A new control plane with the CRDs. */
export async function startCluster(): Promise<ControlPlane> {
  const controlPlane = await startControlPlane({ onProgress: console.error })
  for (const args of [
    ['apply', '--server-side', '-f', CRDS],
    ['wait', '--for=condition=Established', '--timeout=60s', '-f', CRDS],
  ]) {
    const { code, stderr } = await controlPlane.kubectl(args)
    if (code !== 0) throw new Error(`kubectl ${args[0]} failed: ${stderr}`)
  }
  return controlPlane
}

async function converge({ kubeconfigPath }: ControlPlane, kind: string, count: number): Promise<ConvergenceResult> {
  const namespace = `bench-${kind.toLowerCase()}-${count}`
  const kube = createKubeClient({
    connection: loadKubeConnection({ kubeconfig: kubeconfigPath }),
    clock: systemClock,
    random: systemRandom,
    userAgent: 'culvert-bench',
  })
  const emulator = await startEmulator({ listen: '127.0.0.1:0' })
  try {
    await prepare(kube, emulator, namespace)
    await Promise.all(names(count).map((name) => apply(kube, namespace, kind, name, SPECS[kind] ?? {})))
    const host = new URL(emulator.url).host
    const flags = [
      '--watch-namespace',
      namespace,
      '--allow-api-host',
      host,
      '--log-level',
      'info',
      '--workers',
      String(WORKERS),
    ]
    const operator = await OperatorProcess.start({ kubeconfig: kubeconfigPath, namespace, flags })
    const seconds = await timed(() => allReady(operator, kube, namespace, kind, count))
    const writes = await writesOf(operator)
    const callsEach = emulator.admin.journal().length / count
    await operator.stop()
    const floorSeconds = await floor(kube, namespace, kind, count, writes)
    return { kind, count, seconds, callsEach, writesEach: writes / count, floorSeconds, ratio: seconds / floorSeconds }
  } finally {
    await emulator.close()
    await kube.close()
  }
}

/** A namespace with an Account for the emulator. */
export async function prepare(
  kube: ClosableKubeClient,
  emulator: Emulator,
  namespace: string,
  account: Record<string, unknown> = {},
): Promise<void> {
  const core = (plural: string, kind: string, namespaced: boolean): ResourceType => {
    return { group: '', version: 'v1', plural, kind, namespaced }
  }
  const inNamespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  await kube.apply(core('namespaces', 'Namespace', false), { name: namespace }, inNamespace)
  const data = { apiKey: Buffer.from(emulator.apiKey).toString('base64') }
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'credentials', namespace }, data }
  await kube.apply(core('secrets', 'Secret', true), { namespace, name: 'credentials' }, secret)
  const spec = { baseURL: emulator.url, apiKeySecretRef: { name: 'credentials' }, ...account }
  await apply(kube, namespace, 'Account', 'default', spec)
}

export async function apply(
  kube: ClosableKubeClient,
  namespace: string,
  kind: string,
  name: string,
  spec: Record<string, unknown>,
): Promise<void> {
  const object = { apiVersion: 'culvert.dev/v1alpha1', kind, metadata: { name, namespace }, spec }
  await kube.apply(typeOf(kind), { namespace, name }, object)
}

/** Waits until every resource is Ready, by the operator's metrics rather than the apiserver, which is busy enough. */
async function allReady(
  operator: OperatorProcess,
  kube: ClosableKubeClient,
  namespace: string,
  kind: string,
  count: number,
): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS
  while (performance.now() < deadline) {
    const settled = await operator.metric(
      'controller_runtime_reconcile_total',
      `controller="${kind}"`,
      'result="success"',
    )
    if (settled >= count && (await isEachReady(kube, namespace, kind))) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`not every ${kind} is Ready after ${TIMEOUT_MS} ms:\n${operator.log.slice(-4000)}`)
}

interface Conditioned extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

async function isEachReady(kube: ClosableKubeClient, namespace: string, kind: string): Promise<boolean> {
  const { items } = await kube.list<Conditioned>(typeOf(kind), { namespace })
  return items.every(({ status }) =>
    status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'),
  )
}

export async function writesOf(operator: OperatorProcess): Promise<number> {
  const name = 'rest_client_requests_total'
  const total = async (...labels: string[]): Promise<number> => {
    const verbs = ['POST', 'PUT', 'PATCH', 'DELETE'].map((method) =>
      operator.metric(name, `method="${method}"`, ...labels),
    )
    return (await Promise.all(verbs)).reduce((sum, each) => sum + each, 0)
  }
  return (await total()) - (await total('resource="events"'))
}

/** Seconds for `writes` merge patches to these resources. */
async function floor(
  kube: ClosableKubeClient,
  namespace: string,
  kind: string,
  count: number,
  writes: number,
): Promise<number> {
  const targets = names(count)
  let next = 0
  const work = async (): Promise<void> => {
    for (let turn = next++; turn < writes; turn = next++) {
      const key = { namespace, name: targets[turn % count] ?? '' }
      await kube.mergePatch(typeOf(kind), key, { metadata: { annotations: { turn: String(turn) } } })
    }
  }
  return timed(async () => {
    await Promise.all(Array.from({ length: WORKERS }, work))
  })
}

export async function timed(act: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await act()
  return (performance.now() - start) / 1000
}

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `resource-${index}`)
}

export function typeOf(kind: string): ResourceType {
  const descriptor = kinds.find(({ definition }) => definition.kind === kind)
  if (descriptor === undefined) throw new Error(`there is no kind ${kind}`)
  return resourceTypeOf(descriptor)
}

/** One line for people. */
export function describeConvergence(result: ConvergenceResult): string {
  const { kind, count, seconds, callsEach, writesEach, floorSeconds, ratio } = result
  return (
    `${count} × ${kind} Ready in ${seconds.toFixed(1)} s: ${callsEach.toFixed(2)} API calls and ${writesEach.toFixed(2)} ` +
    `Kubernetes writes each; as many plain patches take ${floorSeconds.toFixed(1)} s; ratio ${ratio.toFixed(2)}`
  )
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await run({ onResult: (result) => process.stdout.write(`${describeConvergence(result)}\n`) })
}
