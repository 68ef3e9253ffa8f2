import { runOperator } from '../../../src/operator/run-operator.ts'
import type { LeapingClock } from '../../builders/leaping-clock.ts'
import { createSilentLogger } from '../../builders/silent-logger.ts'
import { samplesOf } from './metric.ts'
import { until } from './wait.ts'
import type { World } from './world.ts'

/** Longer than any test's time: the API server uses the machine's time, whatever the operator's clock says. */
const NEVER_MS = 1000 * 365 * 86_400_000

/**
 * The whole operator within the test's own process, so that it can be given a clock. It watches only the world's
 * namespace.
 */
export class OperatorInProcess implements AsyncDisposable {
  readonly #stop = new AbortController()
  readonly #logger = createSilentLogger()
  readonly #running: Promise<number>

  private constructor(world: World, clock: LeapingClock) {
    const { kubeconfig, namespace, operatorNamespace, emulator } = world
    this.#running = runOperator(
      {
        kubeconfig,
        namespace: operatorNamespace,
        name: 'culvert',
        identity: 'in-process',
        watchNamespaces: [namespace],
        baseURLPolicy: { allowedHosts: [new URL(emulator.url).host], allowHTTP: true },
        proxies: {},
        leaderElect: false,
        leaseDurationMs: 15_000,
        renewDeadlineMs: 10_000,
        retryPeriodMs: 2_000,
        requestTimeoutMs: 4_000,
        scanPauseMs: 200,
        readLagMs: 500,
        watchSilenceMs: NEVER_MS,
        workers: 4,
        listen: '127.0.0.1:0',
        logger: this.#logger,
      },
      this.#stop.signal,
      clock,
    )
    // The error is reported on disposal.
    this.#running.catch(() => undefined)
  }

  /** Starts it; resolves once it reconciles. */
  static async start(world: World, clock: LeapingClock): Promise<OperatorInProcess> {
    const operator = new OperatorInProcess(world, clock)
    await until('the operator reconciles', () => operator.#said('reconciling') !== undefined, {
      describe: () => operator.log,
    })
    return operator
  }

  /** Its log. */
  get log(): readonly unknown[] {
    return this.#logger.lines
  }

  /** Unexpected errors in its log. */
  get bugs(): readonly unknown[] {
    return this.#logger.lines.filter(({ level }) => level === 'error')
  }

  /** Its metrics as of one scrape: returns the value of a metric of one resource; undefined if it is not exposed. */
  async scrape(): Promise<(name: string, kind: string, resource: string) => number | undefined> {
    const response = await fetch(`http://127.0.0.1:${this.#said('serving health and metrics')?.fields.port}/metrics`)
    const text = await response.text()
    return (name, kind, resource) => samplesOf(text, name, [`kind="${kind}"`, `name="${resource}"`])[0]
  }

  /** Stops it gracefully. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  #said(message: string) {
    return this.#logger.lines.find((line) => line.message === message)
  }
}
