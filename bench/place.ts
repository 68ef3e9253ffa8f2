import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { type Emulator, startEmulator } from '../src/emulator/emulator.ts'
import type { EmulatorOptions } from '../src/emulator/emulator-options.ts'
import { sumOfMetric } from '../test/cluster/support/metric.ts'
import { OperatorProcess } from '../test/cluster/support/operator-process.ts'
import { applyAll, clientOf, type Manifest, prepare } from './cluster.ts'

/** How long the API takes for each call. */
const LATENCY_MS = 20
const TIMEOUT_MS = 3_600_000
/** Asking for metrics costs the operator CPU time. */
const LEAST_PAUSE_MS = 150

/** Options of the emulator, and further fields of the Account. */
export interface PlaceOptions extends EmulatorOptions {
  readonly account?: Readonly<Record<string, unknown>>
}

/** Requests that an operator has sent, and keys that were queued. */
export interface Counts {
  readonly calls: number
  readonly writes: number
  readonly events: number
  readonly queued: number
}

/** A namespace with an account at an emulator of its own. */
export class Place {
  readonly namespace: string
  readonly emulator: Emulator
  readonly #kubeconfig: string

  private constructor(kubeconfig: string, namespace: string, emulator: Emulator) {
    this.#kubeconfig = kubeconfig
    this.namespace = namespace
    this.emulator = emulator
  }

  static async make(
    controlPlane: ControlPlane,
    name: string,
    manifests: readonly Manifest[],
    { account, ...options }: PlaceOptions = {},
  ): Promise<Place> {
    const emulator = await startEmulator({ latencyMs: LATENCY_MS, ...options })
    const namespace = `bench-${name}`
    const kube = clientOf(controlPlane)
    await prepare(kube, emulator, namespace, account)
    await applyAll(kube, namespace, manifests)
    await kube.close()
    return new Place(controlPlane.kubeconfigPath, namespace, emulator)
  }

  /** Starts an operator, and the clock. @param nodeFlags flags of its Node */
  async start(nodeFlags: readonly string[] = []) {
    const { host } = new URL(this.emulator.url)
    const flags = ['--watch-namespace', this.namespace, '--allow-api-host', host, '--log-level', 'info']
    const began = performance.now()
    const elapsed = (): number => (performance.now() - began) / 1000
    const operator = await OperatorProcess.start({
      kubeconfig: this.#kubeconfig,
      namespace: this.namespace,
      flags: [...flags, '--request-timeout', '10s'],
      nodeFlags,
    })
    return { operator, seconds: elapsed(), elapsed }
  }

  /** Asks often enough for a twentieth of the time so far to be the error. */
  async until(operator: OperatorProcess, holds: () => Promise<boolean>): Promise<void> {
    const began = performance.now()
    while (!(await holds())) {
      const elapsed = performance.now() - began
      if (elapsed > TIMEOUT_MS) throw new Error(`not after ${TIMEOUT_MS} ms:\n${operator.log.slice(-4000)}`)
      await sleep(Math.min(1000, Math.max(LEAST_PAUSE_MS, elapsed / 20)))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.emulator.close()
  }
}

/** What the operator has sent and queued since its start. Leases are not counted: it takes none. */
export async function countsOf(operator: OperatorProcess): Promise<Counts> {
  // Read once: a scrape is computed from all resources.
  const metrics = await operator.metrics()
  const written = (...labels: string[]): number => {
    const sums = ['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => {
      return sumOfMetric(metrics, 'rest_client_requests_total', [`method="${method}"`, ...labels])
    })
    return sums.reduce((total, each) => total + each, 0)
  }
  const events = written('resource="events"')
  return {
    calls: sumOfMetric(metrics, 'culvert_api_requests_total', []),
    writes: written() - events,
    events,
    queued: sumOfMetric(metrics, 'workqueue_adds_total', []),
  }
}
