import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client'
import type { KubeRequestObservation } from '../kube/transport.ts'
import { knownStatus } from '../telemetry/spans.ts'
import type { Controller, ControllerObserver } from './controller.ts'
import { type StateSources, watchStates } from './state-metrics.ts'
import type { WorkQueueObserver } from './work-queue.ts'

/** In seconds. A reconcile takes a few requests, or a wait for the rate budget. */
const WORK_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
const WAIT_BUCKETS = [0.001, 0.01, 0.1, 1, 10, 60, 300, 1000]
const QUEUE = 'culvert'
/** Most fields in the labels of refused writes, of all types of objects together. */
const REFUSED_FIELDS = 50

/** One call to the management API that ended. */
export interface ApiRequestObservation {
  readonly collection: string
  readonly method: string
  /** HTTP status, or the code of the `ApiError` when there was no response. */
  readonly status: string
  readonly seconds: number
}

/** State of a resource's certificate or token. Times are wall time in milliseconds; undefined: unknown, or never. */
export interface CredentialState {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  /** When the certificate is due for renewal. */
  readonly renewsAt: number | undefined
  /** When the certificate expires. */
  readonly expiresAt: number | undefined
  /**
   * Whether a new certificate or token could not be issued when due or requested; undefined where none is ever issued.
   */
  readonly failing: boolean | undefined
}

/** A deletion of a resource that waits for resources in other namespaces. */
export interface HeldUpDeletion {
  readonly resource: { readonly kind: string; readonly namespace?: string | undefined; readonly name: string }
  /** The resources that it waits for. */
  readonly by: readonly { readonly namespace?: string | undefined }[]
}

/**
 * All metrics of the operator. Metrics for which controller dashboards have a name use that name; Culvert's own are
 * called `culvert_*`. Labels hold kinds, names and codes, never ids of the API or secrets; no server chooses any of
 * them.
 */
export class Metrics {
  readonly controller: ControllerObserver
  readonly queue: WorkQueueObserver
  readonly #registers: [Registry]
  readonly #declareController: (controller: string) => void
  readonly #kubeRequests: Counter<'code' | 'method' | 'verb' | 'resource'>
  readonly #kubeDuration: Histogram<'verb' | 'resource'>
  readonly #refusedWrites: Counter<'resource' | 'field'>
  readonly #refusedFields = new BoundedValues(REFUSED_FIELDS)
  readonly #leader: Gauge<'name'>
  readonly #apiRequests: Counter<'collection' | 'method' | 'status'>
  readonly #apiDuration: Histogram<'collection' | 'method'>
  readonly #rateLimitWait: Histogram<'priority'>
  readonly #drift: Counter<'kind' | 'field'>
  readonly #orphans: Gauge<'account'>
  readonly #sessionsLeftOut: Gauge<'account'>
  /** Operators in `#claimedElsewhere`, by account. */
  readonly #claimants = new Map<string, string>()
  readonly #claimedElsewhere: Gauge<'account' | 'operator'>
  readonly #auditFailures: Counter
  readonly #build: Gauge<'version' | 'node'>

  constructor(registry: Registry) {
    const registers: [Registry] = [registry]
    this.#registers = registers
    const { observer, declare } = createControllerObserver(registers)
    this.controller = observer
    this.#declareController = declare
    this.queue = createQueueObserver(registers)
    this.#kubeRequests = new Counter({
      name: 'rest_client_requests_total',
      help: 'Requests to the Kubernetes API, by result.',
      labelNames: ['code', 'method', 'verb', 'resource'],
      registers,
    })
    this.#kubeDuration = new Histogram({
      name: 'rest_client_request_duration_seconds',
      help: 'Duration of requests to the Kubernetes API.',
      labelNames: ['verb', 'resource'],
      buckets: WORK_BUCKETS,
      registers,
    })
    this.#refusedWrites = new Counter({
      name: 'culvert_kubernetes_refused_writes_total',
      help: 'Writes that the admission policy for the operator refused, by field.',
      labelNames: ['resource', 'field'],
      registers,
    })
    this.#leader = new Gauge({
      name: 'leader_election_master_status',
      help: 'Whether this process leads.',
      labelNames: ['name'],
      registers,
    })
    this.#apiRequests = new Counter({
      name: 'culvert_api_requests_total',
      help: 'Calls to the management API, by result.',
      labelNames: ['collection', 'method', 'status'],
      registers,
    })
    this.#apiDuration = new Histogram({
      name: 'culvert_api_request_duration_seconds',
      help: 'Duration of calls to the management API, without waits for the rate budget.',
      labelNames: ['collection', 'method'],
      buckets: WORK_BUCKETS,
      registers,
    })
    this.#rateLimitWait = new Histogram({
      name: 'culvert_rate_limit_wait_seconds',
      help: 'How long calls to the management API waited for the rate budget of their account.',
      labelNames: ['priority'],
      buckets: WAIT_BUCKETS,
      registers,
    })
    this.#drift = new Counter({
      name: 'culvert_drift_total',
      help: 'Remote changes that Culvert found and reverted, by field.',
      labelNames: ['kind', 'field'],
      registers,
    })
    this.#orphans = new Gauge({
      name: 'culvert_orphans',
      help: 'Remote objects that this installation created and whose resource is gone.',
      labelNames: ['account'],
      registers,
    })
    this.#claimedElsewhere = new Gauge({
      name: 'culvert_account_claimed_elsewhere',
      help: 'Always 1: another operator works on the account, although the selectors of this one name it too.',
      labelNames: ['account', 'operator'],
      registers,
    })
    this.#sessionsLeftOut = new Gauge({
      name: 'culvert_sessions_left_out',
      help: 'Online tunnel sessions that are not shown as TunnelSessions, because more are online than the account may show.',
      labelNames: ['account'],
      registers,
    })
    this.#auditFailures = new Counter({
      name: 'culvert_audit_failures_total',
      help: 'Failures to write audit records.',
      registers,
    })
    this.#build = new Gauge({
      name: 'culvert_build_info',
      help: 'Always 1; the labels say which Culvert runs, on which Node.',
      labelNames: ['version', 'node'],
      registers,
    })
  }

  /** Reads the gauges of the queue and the workers of `controller` at each scrape. */
  watchController(controller: Pick<Controller, 'queue' | 'workers'>, kinds: readonly string[]): void {
    const registers = this.#registers
    queueGauge(registers, 'workqueue_depth', 'Keys that are waiting.', () => controller.queue.depth)
    queueGauge(registers, 'workqueue_delayed', 'Keys that wait until they are due.', () => controller.queue.delayed)
    queueGauge(registers, 'workqueue_oldest_seconds', 'How long the oldest key has been waiting.', () => {
      return controller.queue.oldestSeconds
    })
    queueGauge(registers, 'workqueue_unfinished_work_seconds', 'Time spent on keys in flight.', () => {
      return controller.queue.unfinishedSeconds.total
    })
    queueGauge(
      registers,
      'workqueue_longest_running_processor_seconds',
      'Time spent on the key that has been in flight longest.',
      () => {
        return controller.queue.unfinishedSeconds.longest
      },
    )
    const workers = new Gauge({
      name: 'controller_runtime_max_concurrent_reconciles',
      help: 'Maximum number of concurrent reconciles; all kinds share the workers.',
      labelNames: ['controller'],
      registers,
    })
    for (const kind of kinds) {
      workers.set({ controller: kind }, controller.workers)
      this.#declareController(kind)
    }
  }

  /** For `KubeClientOptions.onRequest`. */
  readonly kubeRequest = ({ verb, resource, code, seconds }: KubeRequestObservation): void => {
    this.#kubeRequests.inc({ code: knownStatus(code), method: METHODS[verb], verb, resource })
    this.#kubeDuration.observe({ verb, resource }, seconds)
  }

  /**
   * The admission policy for the operator refused a write, because of `field`; undefined: it names none. Who chooses
   * fields, such as a webhook, must not decide how many time series there are.
   */
  readonly refusedWrite = (resource: string, field: string | undefined): void => {
    this.#refusedWrites.inc({ resource, field: field === undefined ? OTHER : this.#refusedFields.of(field) })
  }

  setLeading(name: string, leading: boolean): void {
    this.#leader.set({ name }, leading ? 1 : 0)
  }

  readonly auditFailed = (): void => this.#auditFailures.inc()

  setBuild(version: string): void {
    this.#build.set({ version, node: process.version }, 1)
  }

  readonly apiRequest = ({ collection, method, status, seconds }: ApiRequestObservation): void => {
    this.#apiRequests.inc({ collection, method, status: knownStatus(status) })
    this.#apiDuration.observe({ collection, method }, seconds)
  }

  readonly rateLimitWait = (priority: string, seconds: number): void => {
    this.#rateLimitWait.observe({ priority }, seconds)
  }

  /** One remote change was found, in `fields`. */
  driftFound(kind: string, fields: readonly string[]): void {
    for (const field of fields) this.#drift.inc({ kind, field })
  }

  setOrphans(account: string, count: number): void {
    this.#orphans.set({ account }, count)
  }

  /** Undefined when no other operator works on an account that this one selects. */
  setClaimedElsewhere(account: string, operator: string | undefined): void {
    const former = this.#claimants.get(account)
    if (former !== undefined) this.#claimedElsewhere.remove({ account, operator: former })
    if (operator === undefined) this.#claimants.delete(account)
    else {
      this.#claimants.set(account, operator)
      this.#claimedElsewhere.set({ account, operator }, 1)
    }
  }

  /** Undefined when the account's sessions are not mirrored. */
  setSessionsLeftOut(account: string, count: number | undefined): void {
    if (count === undefined) this.#sessionsLeftOut.remove({ account })
    else this.#sessionsLeftOut.set({ account }, count)
  }

  /** Reads from `sources` at each scrape. */
  watchStates(sources: StateSources): void {
    watchStates(this.#registers[0], sources)
  }

  forgetAccount(account: string): void {
    this.#orphans.remove({ account })
  }

  /** Reads at each scrape which deletions wait for resources in other namespaces. */
  watchHeldUp(deletions: () => Iterable<HeldUpDeletion>): void {
    new Gauge({
      name: 'culvert_deletion_held_up',
      help: 'Resources of other namespaces that the deletion of a resource waits for, by their namespace.',
      labelNames: ['kind', 'namespace', 'name', 'by_namespace'],
      registers: this.#registers,
      collect() {
        this.reset()
        for (const { resource, by } of deletions()) {
          const { kind, namespace = '', name } = resource
          for (const other of by) this.inc({ kind, namespace, name, by_namespace: other.namespace ?? '' })
        }
      },
    })
  }

  /** Reads the state of all managed certificates and tokens from `states` at each scrape. */
  watchCredentials(states: () => Iterable<CredentialState>): void {
    const registers = this.#registers
    const gauge = (name: string, help: string, value: (state: CredentialState) => number | undefined): void => {
      new Gauge({
        name,
        help,
        labelNames: ['kind', 'namespace', 'name'],
        registers,
        collect() {
          this.reset()
          for (const state of states()) {
            const { kind, namespace, name } = state
            const now = value(state)
            if (now !== undefined) this.set({ kind, namespace, name }, now)
          }
        },
      })
    }
    gauge(
      'culvert_certificate_renewal_timestamp_seconds',
      'When the certificate is due for renewal, in seconds since the epoch; in the past while a renewal fails.',
      ({ renewsAt }) => seconds(renewsAt),
    )
    gauge(
      'culvert_certificate_expiry_timestamp_seconds',
      'When the certificate expires, in seconds since the epoch.',
      ({ expiresAt }) => seconds(expiresAt),
    )
    gauge(
      'culvert_renewal_failing',
      'Whether a due or requested certificate or token could not be issued; the current one is still in use.',
      ({ failing }) => (failing === undefined ? undefined : Number(failing)),
    )
  }
}

function seconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1000
}

const METHODS: Readonly<Record<KubeRequestObservation['verb'], string>> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  patch: 'PATCH',
  apply: 'PATCH',
  delete: 'DELETE',
}

function queueGauge(registers: [Registry], name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    labelNames: ['name'],
    registers,
    collect() {
      this.set({ name: QUEUE }, read())
    },
  })
}

/**
 * `declare` shows a controller's counters from the start: a rate over a counter that begins at 1 misses the first
 * failure.
 */
function createControllerObserver(registers: [Registry]): {
  readonly observer: ControllerObserver
  readonly declare: (controller: string) => void
} {
  const total = new Counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles, by result.',
    labelNames: ['controller', 'result'],
    registers,
  })
  const errors = new Counter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Reconciles that failed.',
    labelNames: ['controller'],
    registers,
  })
  const terminal = new Counter({
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Reconciles that failed and need somebody to change something.',
    labelNames: ['controller'],
    registers,
  })
  const time = new Histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Duration of reconciles.',
    labelNames: ['controller'],
    buckets: WORK_BUCKETS,
    registers,
  })
  const active = new Gauge({
    name: 'controller_runtime_active_workers',
    help: 'Reconciles in progress.',
    labelNames: ['controller'],
    registers,
  })
  const observer: ControllerObserver = {
    started: (controller) => active.inc({ controller }),
    ended: (controller, result, seconds) => {
      active.dec({ controller })
      time.observe({ controller }, seconds)
      // Dashboards count a terminal error among the errors too.
      total.inc({ controller, result: result === 'terminal_error' ? 'error' : result })
      if (result === 'error' || result === 'terminal_error') errors.inc({ controller })
      if (result === 'terminal_error') terminal.inc({ controller })
    },
  }
  const declare = (controller: string): void => {
    for (const result of ['success', 'requeue_after', 'error']) total.inc({ controller, result }, 0)
    for (const metric of [errors, terminal, active]) metric.inc({ controller }, 0)
  }
  return { observer, declare }
}

function createQueueObserver(registers: [Registry]): WorkQueueObserver {
  const options = { labelNames: ['name'] as const, registers }
  const adds = new Counter({ name: 'workqueue_adds_total', help: 'Keys added.', ...options })
  const retries = new Counter({ name: 'workqueue_retries_total', help: 'Keys added after a failure.', ...options })
  const wait = new Histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long keys waited before a worker took them.',
    buckets: WAIT_BUCKETS,
    ...options,
  })
  const work = new Histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long it took to process a key.',
    buckets: WORK_BUCKETS,
    ...options,
  })
  const labels = { name: QUEUE }
  for (const counter of [adds, retries]) counter.inc(labels, 0)
  return {
    added: () => adds.inc(labels),
    retried: () => retries.inc(labels),
    taken: (seconds) => wait.observe(labels, seconds),
    finished: (seconds) => work.observe(labels, seconds),
  }
}

/** Replaces what exceeds the bound. */
const OTHER = 'other'

/** The values of a label of a metric whose number nothing else bounds: the first ones are kept. */
class BoundedValues {
  readonly #most: number
  readonly #kept = new Set<string>()

  constructor(most: number) {
    this.#most = most
  }

  /** The value itself, or `other` for one that comes after `most` different ones. */
  of(value: string): string {
    if (this.#kept.has(value)) return value
    if (this.#kept.size >= this.#most) return OTHER
    this.#kept.add(value)
    return value
  }
}
