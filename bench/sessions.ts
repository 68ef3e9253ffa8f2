import { pathToFileURL } from 'node:url'
import { startEmulator } from '../src/emulator/emulator.ts'
import { type ClosableKubeClient, createKubeClient } from '../src/kube/client.ts'
import { loadKubeConnection } from '../src/kube/load-config.ts'
import type { KubeObject } from '../src/kube/types.ts'
import { systemClock } from '../src/util/clock.ts'
import { systemRandom } from '../src/util/random.ts'
import { EmulatorClient } from '../test/builders/emulator-client.ts'
import { OperatorProcess } from '../test/cluster/support/operator-process.ts'
import { apply, prepare, startCluster, timed, typeOf, writesOf } from './operator.ts'

/**
 * The cost of mirroring the sessions of an account that has them all when the operator starts, and after a tenth of
 * them is replaced.
 */
export interface MirrorResult {
  readonly count: number
  readonly seconds: number
  /** Seconds for the same number of merge patches alone, with the same concurrency. */
  readonly floorSeconds: number
  /** Calls to the API that list sessions, and Kubernetes writes, until all were shown. */
  readonly callsFirst: number
  readonly writesFirst: number
  /** The same from then on, until the replacements were shown. */
  readonly callsNext: number
  readonly writesNext: number
  /** Time until a policy was Ready that was applied while the first sessions were being mirrored. */
  readonly readySeconds: number
}

const COUNT = 5000
const NAMESPACE = 'bench-sessions'
/** The mirrors' write concurrency. */
const AT_A_TIME = 6
const TIMEOUT_MS = 300_000
const REQUESTS = 'rest_client_requests_total'

/** Mirrors 5,000 sessions against a real apiserver and an emulator. */
export async function run(count = COUNT): Promise<MirrorResult> {
  await using controlPlane = await startCluster()
  const kubeconfig = controlPlane.kubeconfigPath
  const kube = createKubeClient({
    connection: loadKubeConnection({ kubeconfig }),
    clock: systemClock,
    random: systemRandom,
    userAgent: 'culvert-bench',
  })
  const emulator = await startEmulator({ listen: '127.0.0.1:0' })
  try {
    await prepare(kube, emulator, NAMESPACE, { mirrorSessions: { enabled: true, interval: '10s' } })
    const { body } = await EmulatorClient.of(emulator).post('/credentials', {})
    const agent = { token: String(body.token), metadata: 'machine {n}' }
    emulator.admin.connectAgents({ agent, count })
    const calls = () => emulator.admin.journal().filter(({ path }) => path === '/tunnel_sessions').length
    const host = new URL(emulator.url).host
    const flags = ['--watch-namespace', NAMESPACE, '--allow-api-host', host, '--log-level', 'info']
    const operator = await OperatorProcess.start({ kubeconfig, namespace: NAMESPACE, flags })
    let readySeconds = 0
    const seconds = await timed(async () => {
      await until(async () => (await operator.metric(REQUESTS, 'method="PATCH"', 'resource="tunnelsessions"')) > 0)
      readySeconds = await timed(async () => {
        await apply(kube, NAMESPACE, 'IPPolicy', 'meanwhile', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
        await until(() => isReady(kube))
      })
      // Listing thousands of objects repeatedly would cost the apiserver more than the writes do.
      await until(async () => (await operator.metric(REQUESTS, 'method="PATCH"', 'resource="tunnelsessions"')) >= count)
    })
    if ((await shown(kube)).length !== count) throw new Error('not every session is shown')
    const [callsFirst, writesFirst] = [calls(), await writesOf(operator)]
    const tenth = count / 10
    const fresh = new Set(emulator.admin.connectAgents({ agent, count: tenth, disconnect: tenth }).sessions)
    await until(async () => (await operator.metric(REQUESTS, 'method="DELETE"', 'resource="tunnelsessions"')) >= tenth)
    await until(async () => {
      const ids = await shown(kube)
      return ids.length === count && ids.filter((id) => fresh.has(id)).length === tenth
    })
    const [callsNext, writesNext] = [calls() - callsFirst, (await writesOf(operator)) - writesFirst]
    await operator.stop()
    const floorSeconds = await floor(kube, writesFirst)
    return { count, seconds, floorSeconds, callsFirst, writesFirst, callsNext, writesNext, readySeconds }
  } finally {
    await emulator.close()
    await kube.close()
  }
}

interface Shown extends KubeObject {
  readonly status?: { readonly id?: string }
}

/** Ids of the sessions with a status, in the largest pages available. */
async function shown(kube: ClosableKubeClient): Promise<readonly string[]> {
  const { items } = await kube.list<Shown>(typeOf('TunnelSession'), { namespace: NAMESPACE })
  return items.flatMap(({ status }) => status?.id ?? [])
}

async function isReady(kube: ClosableKubeClient): Promise<boolean> {
  const key = { namespace: NAMESPACE, name: 'meanwhile' }
  const policy = await kube.get<KubeObject & { status?: { conditions?: { type: string; status: string }[] } }>(
    typeOf('IPPolicy'),
    key,
  )
  return policy?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not after ${TIMEOUT_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

/** Seconds for `writes` merge patches to the mirrored sessions. */
async function floor(kube: ClosableKubeClient, writes: number): Promise<number> {
  const { items } = await kube.list<Shown>(typeOf('TunnelSession'), { namespace: NAMESPACE })
  let next = 0
  const work = async (): Promise<void> => {
    for (let turn = next++; turn < writes; turn = next++) {
      const key = { namespace: NAMESPACE, name: items[turn % items.length]?.metadata.name ?? '' }
      await kube.mergePatch(typeOf('TunnelSession'), key, { metadata: { annotations: { turn: String(turn) } } })
    }
  }
  return timed(async () => {
    await Promise.all(Array.from({ length: AT_A_TIME }, work))
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.table(await run())
}
