import { Registry } from '@prometheus-io/client'
import type { KindsRegistry } from '../../../src/managed/kinds-registry.ts'
import type { TunnelPolicy } from '../../../src/managed/tunnels/policy.ts'
import type { Selectors } from '../../../src/operator/claims/selection.ts'
import { Operator } from '../../../src/operator/operator.ts'
import type { OperatorOptions } from '../../../src/operator/options.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import type { WriteReport } from '../../../src/telemetry/write-origin.ts'
import type { Random } from '../../../src/util/random.ts'
import { createSilentLogger, type LogLine } from '../../builders/silent-logger.ts'
import { SimulatedDispatcher } from './dispatcher.ts'
import type { ServerName } from './faults.ts'
import type { Network } from './network.ts'
import type { SimulatedProcess } from './process.ts'

export const OPERATOR_NAMESPACE = 'culvert-system'
export const INSTALLATION = 'installation-1'
export const API_HOST = 'api.example.com'
/** Where another account of the same service is. */
export const OTHER_HOST = 'other.example.com'

/** Milliseconds. How long a request lives, a process considers itself the leader, and others wait for it. */
export const times = {
  requestTimeoutMs: 4_000,
  scanPauseMs: 500,
  readLagMs: 60_000,
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
  watchSilenceMs: 150_000,
} as const

export interface SimulatedOperatorOptions {
  readonly kinds: KindsRegistry
  readonly process: SimulatedProcess
  readonly network: Network
  readonly random: Random
  /** Whether it takes part in leader election; otherwise it leads from the beginning. */
  readonly leaderElect: boolean
  /** Its current token for Kubernetes, as from a file that the kubelet refreshes. */
  readonly token?: () => string
  readonly installation?: string
  /** Default: `culvert`, without selectors. */
  readonly division?: Division | undefined
  /** Default: Tunnels have no agents. */
  readonly tunnels?: TunnelPolicy | undefined
  /** Whether it serves Services of type LoadBalancer. Default: false. */
  readonly services?: boolean
}

/** One of several operators that divide accounts between them. */
export interface Division {
  /** Name of the operator, and of its Lease. */
  readonly name: string
  readonly selectors: Selectors
}

/** A whole operator, as its process runs it, over the simulated network. */
export class SimulatedOperator {
  readonly process: SimulatedProcess
  /** Name of its Lease, which it shares with its replicas. */
  readonly name: string
  /** Its log. */
  readonly lines: readonly LogLine[]
  /** Its audit records of writes to the API. */
  readonly audited: WriteReport[] = []
  /** Its metrics. */
  readonly registry = new Registry()
  readonly #stop = new AbortController()
  readonly #dispatchers: SimulatedDispatcher[] = []
  #hasEnded = false

  constructor(given: SimulatedOperatorOptions) {
    const { kinds, process, network, random, leaderElect, tunnels, services = false } = given
    const { token = () => 'token', installation = INSTALLATION, division } = given
    this.process = process
    this.name = division?.name ?? 'culvert'
    const logger = createSilentLogger()
    this.lines = logger.lines
    const dispatcherTo = (server: ServerName): SimulatedDispatcher => {
      const dispatcher = new SimulatedDispatcher(process, network, server)
      this.#dispatchers.push(dispatcher)
      return dispatcher
    }
    const options: OperatorOptions = {
      ...times,
      namespace: OPERATOR_NAMESPACE,
      name: this.name,
      ...(division === undefined ? {} : { selectors: division.selectors }),
      identity: process.name,
      installation,
      watchNamespaces: [],
      baseURLPolicy: { allowedHosts: [API_HOST, OTHER_HOST] },
      dnsEndpoints: { enabled: true, domains: ['*.com', '*.example'] },
      tunnels,
      services: services ? { unclassed: false, maxPorts: 16 } : undefined,
      proxies: {},
      leaderElect,
      workers: 4,
      listen: '',
      logger,
    }
    const operator = new Operator({
      options,
      kinds,
      connection: {
        server: 'https://kubernetes.default',
        proxyUrl: undefined,
        namespace: undefined,
        openDispatcher: () => dispatcherTo('kubernetes'),
        material: () => Promise.resolve({ headers: { authorization: `Bearer ${token()}` }, tls: {} }),
        reload: () => undefined,
      },
      openDispatcher: () => dispatcherTo('api'),
      metrics: new Metrics(this.registry),
      audit: { record: (_account, report) => this.audited.push(report), close: () => undefined },
      tracer: undefined,
      clock: process,
      random,
      // Constant, so that a story replays exactly.
      salt: Buffer.alloc(32, 1),
    })
    operator.run(this.#stop.signal).then(
      () => {
        this.#hasEnded = true
      },
      (error: unknown) => {
        this.#hasEnded = true
        logger.error({ err: error }, 'the operator ended')
      },
    )
  }

  /** Whether its process has ended: killed, or on its own. */
  get isOver(): boolean {
    return this.process.isDead || this.#hasEnded
  }

  /** Releases what its process was waiting for when it died: this has no effect but frees memory. */
  async forget(): Promise<void> {
    this.#stop.abort()
    for (const dispatcher of this.#dispatchers) await dispatcher.destroy()
  }

  /** Asks it to stop, as SIGTERM does. */
  stop(): void {
    this.process.run(() => this.#stop.abort())
  }
}
