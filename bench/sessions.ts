import type { ControlPlane } from '../controlplane/control-plane.ts'
import { startEmulator } from '../src/emulator/emulator.ts'
import type { ClosableKubeClient } from '../src/kube/client.ts'
import type { KubeObject } from '../src/kube/types.ts'
import { EmulatorClient } from '../test/builders/emulator-client.ts'
import { OperatorProcess } from '../test/cluster/support/operator-process.ts'
import { apply, clientOf, inParallel, prepare, timed, typeOf } from './cluster.ts'
import { countsOf } from './place.ts'
import type { Row } from './row.ts'

const COUNT = 5000
const NAMESPACE = 'bench-sessions'
/** The mirrors' write concurrency. */
const AT_A_TIME = 6
const TIMEOUT_MS = 300_000
const POLICY = { kind: 'IPPolicy', name: 'meanwhile', spec: { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] } }
const REQUESTS = 'rest_client_requests_total'

/** Mirrors 5,000 sessions, and replaces a tenth of them. The floor is as many plain patches. */
export async function run(controlPlane: ControlPlane): Promise<readonly Row[]> {
  const kubeconfig = controlPlane.kubeconfigPath
  const kube = clientOf(controlPlane)
  const emulator = await startEmulator({ listen: '127.0.0.1:0' })
  try {
    await prepare(kube, emulator, NAMESPACE, { mirrorSessions: { enabled: true, interval: '10s' } })
    const { body } = await EmulatorClient.of(emulator).post('/credentials', {})
    const agent = { token: String(body.token), metadata: 'machine {n}' }
    emulator.admin.connectAgents({ agent, count: COUNT })
    const calls = () => emulator.admin.journal().filter(({ path }) => path === '/tunnel_sessions').length
    const host = new URL(emulator.url).host
    const flags = ['--watch-namespace', NAMESPACE, '--allow-api-host', host, '--log-level', 'info']
    const operator = await OperatorProcess.start({ kubeconfig, namespace: NAMESPACE, flags })
    let readySeconds = 0
    const seconds = await timed(async () => {
      await until(async () => (await operator.metric(REQUESTS, 'method="PATCH"', 'resource="tunnelsessions"')) > 0)
      readySeconds = await timed(async () => {
        await apply(kube, NAMESPACE, POLICY)
        await until(() => isReady(kube))
      })
      // Listing thousands of objects repeatedly would cost the apiserver more than the writes do.
      await until(async () => (await operator.metric(REQUESTS, 'method="PATCH"', 'resource="tunnelsessions"')) >= COUNT)
    })
    if ((await shown(kube)).length !== COUNT) throw new Error('not every session is shown')
    const [callsFirst, writesFirst] = [calls(), (await countsOf(operator)).writes]
    const tenth = COUNT / 10
    const fresh = new Set(emulator.admin.connectAgents({ agent, count: tenth, disconnect: tenth }).sessions)
    await until(async () => (await operator.metric(REQUESTS, 'method="DELETE"', 'resource="tunnelsessions"')) >= tenth)
    await until(async () => {
      const ids = await shown(kube)
      return ids.length === COUNT && ids.filter((id) => fresh.has(id)).length === tenth
    })
    const [callsNext, writesNext] = [calls() - callsFirst, (await countsOf(operator)).writes - writesFirst]
    await operator.stop()
    const load = `${COUNT} sessions mirrored`
    return [
      { load, figure: 'until all are shown', value: seconds, unit: 's', floor: await floor(kube, writesFirst) },
      { load, figure: 'calls', value: callsFirst, unit: '' },
      { load, figure: 'writes to Kubernetes', value: writesFirst, unit: '' },
      { load, figure: 'a tenth replaced: calls', value: callsNext, unit: '' },
      { load, figure: 'a tenth replaced: writes to Kubernetes', value: writesNext, unit: '' },
      { load, figure: 'a policy applied meanwhile, until it is Ready', value: readySeconds, unit: 's' },
    ]
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
  const turns = Array.from({ length: writes }, (_, turn) => turn)
  return timed(() =>
    inParallel(turns, AT_A_TIME, async (turn) => {
      const key = { namespace: NAMESPACE, name: items[turn % items.length]?.metadata.name ?? '' }
      await kube.mergePatch(typeOf('TunnelSession'), key, { metadata: { annotations: { turn: String(turn) } } })
    }),
  )
}
