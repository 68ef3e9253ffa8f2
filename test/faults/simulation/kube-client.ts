import { createKubeClient } from '../../../src/kube/client.ts'
import type { KubeClient } from '../../../src/kube/types.ts'
import type { ModelKube } from '../../builders/model-kube.ts'
import { seededRandom } from '../../builders/seeded-random.ts'
import { SimulatedDispatcher } from './dispatcher.ts'
import { KubeServer } from './kube-server.ts'
import { Network } from './network.ts'
import { SimulatedProcess } from './process.ts'
import type { VirtualTime } from './virtual-time.ts'
import { isWrite, servedTypes } from './world.ts'

/** A process with the operator's own client of the model of Kubernetes, and nothing else. */
export class KubeProcess {
  /** Its clock. */
  readonly clock: SimulatedProcess
  readonly client: KubeClient
  /** Every write that it sent: `POST /api/v1/namespaces/shop/secrets`. */
  readonly writes: string[] = []

  constructor(kube: ModelKube, time: VirtualTime) {
    this.clock = new SimulatedProcess('client', time, Date.UTC(2026, 0, 1))
    const kubernetes = new KubeServer(kube, time, servedTypes)
    const network = new Network(time, { kubernetes, api: { answer: () => ({ status: 404, body: '' }) } })
    network.onSend = (sighting) => {
      if (isWrite(sighting)) this.writes.push(`${sighting.method} ${sighting.path}`)
    }
    this.client = createKubeClient({
      connection: {
        server: 'https://kubernetes.default',
        proxyUrl: undefined,
        namespace: undefined,
        openDispatcher: () => new SimulatedDispatcher(this.clock, network, 'kubernetes'),
        material: () => Promise.resolve({ headers: {}, tls: {} }),
        reload: () => undefined,
      },
      clock: this.clock,
      random: seededRandom(1),
    })
  }
}
