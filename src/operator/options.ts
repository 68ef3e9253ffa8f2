import type { BaseURLPolicy } from '../api/base-url.ts'
import type { ProxyOptions } from '../http-client/proxies.ts'
import type { CompanionPolicy } from '../managed/descriptor/output.ts'
import type { ServicePolicy } from '../managed/services/service.ts'
import type { TunnelPolicy } from '../managed/tunnels/policy.ts'
import type { Logger } from '../util/logger.ts'
import type { Selectors } from './claims/selection.ts'

/** How an operator is run. Times are in milliseconds. */
export interface OperatorOptions {
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
  /** The operator's own namespace. */
  readonly namespace: string
  readonly name: string
  readonly identity: string
  readonly installation?: string | undefined
  /** Which accounts this operator works on, where several divide them between them. Absent: all. */
  readonly selectors?: Selectors
  /** Empty: all. */
  readonly watchNamespaces: readonly string[]
  /**
   * Whether a RoleBinding in each watched namespace (`holdName`) has a finalizer while something there needs the
   * operator. Default false.
   */
  readonly holdNamespaces?: boolean
  /**
   * Secrets and ConfigMaps are neither listed nor watched; each one that is named is read again after this time.
   * Absent: watched.
   */
  readonly readSecretsEveryMs?: number | undefined
  readonly baseURLPolicy: BaseURLPolicy
  /** Which DNSEndpoints resources may have. Absent: none. */
  readonly dnsEndpoints?: CompanionPolicy
  /** What the agents of Tunnels are. Absent: Tunnels have none, and no rights for them are needed. */
  readonly tunnels?: TunnelPolicy | undefined
  /**
   * Which Services of type LoadBalancer are served; needs `tunnels`. Absent: none, and no rights for them are needed.
   */
  readonly services?: ServicePolicy | undefined
  readonly proxies: ProxyOptions
  /** Paths that KUBECONFIG names, unless `kubeconfig` is set. Default: none. */
  readonly kubeconfigs?: readonly string[]
  readonly leaderElect: boolean
  readonly leaseDurationMs: number
  readonly renewDeadlineMs: number
  readonly retryPeriodMs: number
  readonly requestTimeoutMs: number
  readonly scanPauseMs: number
  readonly readLagMs: number
  /** A watch without any frame for this long, bookmarks included, counts as dead. */
  readonly watchSilenceMs: number
  readonly workers: number
  /** Requests in flight to the API of one account, at most. Default as of `RateBudget`. */
  readonly apiRequests?: number
  /** `host:port` of health and metrics. */
  readonly listen: string
  /** Whether only readers that the cluster authorises get metrics (`MetricsAuth`). Default false. */
  readonly metricsAuthentication?: boolean
  /** Where audit records go: `-` for standard output, `off`, or a file. Default `off`. */
  readonly auditLog?: string
  /** Whether traces are sent. Default false. */
  readonly tracing?: boolean
  /** Base URL of the receiver. Undefined: taken from OTEL_EXPORTER_OTLP_*. */
  readonly otlpEndpoint?: string | undefined
  readonly logger: Logger
}

/**
 * A write must have ended before another process may lead, or two would write at once.
 *
 * @throws RangeError naming the flags.
 */
export function refuseUnsafeTimes({
  leaderElect,
  leaseDurationMs,
  renewDeadlineMs,
  requestTimeoutMs,
}: OperatorOptions): void {
  if (!leaderElect || requestTimeoutMs < leaseDurationMs - renewDeadlineMs) return
  throw new RangeError(
    `--request-timeout (${requestTimeoutMs} ms) must be shorter than --lease-duration less --renew-deadline ` +
      `(${leaseDurationMs - renewDeadlineMs} ms): a write of a former leader could otherwise overlap with a new one`,
  )
}

/**
 * Operators that divide accounts must recognise each other's objects, and whether one of them is dead.
 *
 * @throws RangeError naming the flag and the remedy.
 */
export function refuseUnsafeSelectors({
  selectors,
  installation,
  leaderElect,
  watchNamespaces,
}: OperatorOptions): void {
  const { accounts, namespaces } = selectors ?? {}
  const flag = accounts === undefined ? '--namespace-selector' : '--account-selector'
  if (accounts === undefined && namespaces === undefined) return
  if (installation === undefined) {
    throw new RangeError(
      `${flag} needs --installation: give all operators that divide accounts the same id, ` +
        'or the objects of an account that moves would belong to nobody',
    )
  }
  if (!leaderElect) {
    throw new RangeError(
      `${flag} needs the Lease, by which other operators see whether this one lives: remove --no-leader-elect`,
    )
  }
  if (namespaces !== undefined && watchNamespaces.length > 0) {
    throw new RangeError('--namespace-selector needs the labels of all namespaces: remove --watch-namespace')
  }
}
