import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { EmulatorClient } from '../test/builders/emulator-client.ts'
import { samplesOf, sumOfMetric } from '../test/cluster/support/metric.ts'
import { apply, applyAll, clientOf, type Manifest } from './cluster.ts'
import { backends } from './loads.ts'
import { Place } from './place.ts'
import { quantile } from './quantile.ts'
import type { Row } from './row.ts'

const COLLECTION = '/backends/tunnel_group'
const EDITED: Manifest = { kind: 'Backend', name: 'edited', spec: { type: 'TunnelGroup', tunnelGroup: {} } }
/** Between two edits, and between two looks at the API. Milliseconds. */
const EVERY_MS = 500
const LOOK_MS = 10

/**
 * Edits one resource again and again while many new ones converge, which are all there when the operator starts.
 * Measures how long each edit takes to the API, as a client sees it, and the lag of the operator's event loop.
 */
export async function run(controlPlane: ControlPlane, count: number): Promise<readonly Row[]> {
  await using place = await Place.make(controlPlane, 'fairness', [EDITED])
  const { operator: first } = await place.start()
  await place.until(first, async () => (await first.metric('culvert_resources', 'ready="True"')) >= 1)
  await first.stop()
  const kube = clientOf(controlPlane)
  const manifests = Array.from({ length: count }, (_, group) => backends.manifests(group)).flat()
  await applyAll(kube, place.namespace, manifests)

  const { operator } = await place.start()
  const api = EmulatorClient.of(place.emulator)
  const [object] = (await api.list(COLLECTION)).filter(({ labels }) => Object.keys(labels as object).length === 0)
  const edits: number[] = []
  const lags: number[] = []
  for (let ready = 0; ready < count; ) {
    const description = `edit ${edits.length}`
    const began = performance.now()
    await apply(kube, place.namespace, { ...EDITED, spec: { ...EDITED.spec, description } })
    while ((await api.get(`${COLLECTION}/${object?.id}`)).body.description !== description) await sleep(LOOK_MS)
    edits.push(performance.now() - began)
    const metrics = await operator.metrics()
    ready = sumOfMetric(metrics, 'culvert_resources', ['kind="Backend"', 'ready="True"'])
    lags.push(...samplesOf(metrics, 'nodejs_eventloop_lag_p99_seconds', []))
    await sleep(EVERY_MS)
  }
  await operator.stop()
  await kube.close()
  const load = `${edits.length} edits while ${count} Backends converge`
  return [
    { load, figure: 'until one is at the API, median', value: quantile(edits, 0.5), unit: 'ms' },
    { load, figure: 'until one is at the API, 99 of 100', value: quantile(edits, 0.99), unit: 'ms' },
    { load, figure: 'lag of the event loop, 99 of 100 turns, median', value: 1000 * quantile(lags, 0.5), unit: 'ms' },
    { load, figure: 'lag of the event loop, 99 of 100 turns, most', value: 1000 * Math.max(...lags), unit: 'ms' },
  ]
}
