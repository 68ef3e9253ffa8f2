import { Command, Option } from 'commander'
import { readEnvironment } from '../config.ts'
import { logNodeWarnings } from '../operator/node-warnings.ts'
import type { OperatorOptions } from '../operator/options.ts'
import { runRelease } from '../operator/release.ts'
import { runOperator } from '../operator/run-operator.ts'
import { createLogger, type LogLevel } from '../util/logger.ts'
import { collect, domainPatterns, duration, installation, positive } from './flags.ts'
import { stopSignal } from './stop-signal.ts'

interface Flags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: string
  readonly name: string
  readonly installation?: string
  readonly watchNamespace: readonly string[]
  readonly holdNamespaces: boolean
  readonly watchSecrets: boolean
  readonly secretsInterval: number
  readonly allowApiHost: readonly string[]
  readonly allowHttp: boolean
  readonly dnsEndpoints: boolean
  readonly dnsDomains: readonly string[]
  readonly leaderElect: boolean
  readonly leaseDuration: number
  readonly renewDeadline: number
  readonly retryPeriod: number
  readonly requestTimeout: number
  readonly scanPause: number
  readonly readLag: number
  readonly watchSilence: number
  readonly workers: number
  readonly listen: string
  readonly metricsAuthentication: boolean
  readonly auditLog: string
  readonly otlpEndpoint?: string
  readonly logLevel: LogLevel
  readonly release: boolean
  readonly releaseTimeout: number
}

/** `culvert operator`: reconciles until SIGTERM or SIGINT. */
export function operatorCommand(): Command {
  return new Command('operator')
    .description('Make the accounts match the custom resources of a cluster, until stopped.')
    .option('--kubeconfig <file>', 'how to reach the cluster (default: KUBECONFIG, ~/.kube/config, or the pod itself)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--namespace <name>', "the operator's own namespace (default: POD_NAMESPACE, the pod's, or culvert-system)")
    .option('--name <name>', 'name of this release: of its Lease, and part of the installation id', 'culvert')
    .option(
      '--installation <id>',
      'marks objects at the API as this installation’s (default: cluster, namespace and name)',
      installation,
    )
    .option(
      '--watch-namespace <name>',
      'watch only this namespace, and no ClusterAccounts (repeatable; default: all)',
      collect,
      [],
    )
    .option(
      '--hold-namespaces',
      'with --watch-namespace, hold the RoleBinding <namespace>-<name>-hold in each, so that a namespace can be deleted with its resources',
      false,
    )
    .option(
      '--no-watch-secrets',
      'neither list nor watch Secrets and ConfigMaps: those that accounts and resources name are read one by one',
    )
    .option(
      '--secrets-interval <time>',
      'with --no-watch-secrets, pause between two reads of each: a change is noticed within this time',
      duration,
      60_000,
    )
    .option(
      '--allow-api-host <host>',
      'host[:port] or *.suffix that accounts may be aimed at; http://host[:port] allows plain http to that one (repeatable)',
      collect,
      [],
    )
    .option('--allow-http', 'allow plain http to every allowed host: for local use only', false)
    .option(
      '--dns-endpoints',
      'make the DNSEndpoints that resources ask for, where --dns-domains allows it; needs rights to them',
      false,
    )
    .option(
      '--dns-domains <patterns>',
      'domains that DNSEndpoints may publish, as name or *.suffix for the names below, with commas between (repeatable; default: none)',
      domainPatterns,
      [],
    )
    .option('--no-leader-elect', 'do not take a Lease: only where nothing else can run')
    .option('--lease-duration <time>', 'how long others wait for a leader that is silent', duration, 15_000)
    .option('--renew-deadline <time>', 'how long a leader that cannot renew goes on', duration, 10_000)
    .option('--retry-period <time>', 'between two attempts at the Lease', duration, 2_000)
    .option(
      '--request-timeout <time>',
      'of each API request; shorter than lease duration less renew deadline',
      duration,
      4_000,
    )
    .option(
      '--scan-pause <time>',
      'between two lists that must agree before something counts as absent',
      duration,
      2_000,
    )
    .option(
      '--read-lag <time>',
      "how long the API's reads may lag behind a create: a younger object is never taken for deleted",
      duration,
      60_000,
    )
    .option(
      '--watch-silence <time>',
      'how long a watch may be silent before it is taken for dead; API servers say something about once a minute',
      duration,
      150_000,
    )
    .option('--workers <number>', 'resources reconciled at a time', positive, 16)
    .option(
      '--listen <address>',
      'address of /healthz, /readyz and /metrics; port 0 takes a free one',
      '127.0.0.1:8080',
    )
    .option(
      '--metrics-authentication',
      'serve /metrics only to a bearer token whose owner may get the non-resource URL /metrics; takes the right to create TokenReviews and SubjectAccessReviews',
      false,
    )
    .option(
      '--audit-log <file>',
      'where each request that changes something is recorded as a JSON line: - for standard output, off, or a file',
      '-',
    )
    .option(
      '--otlp-endpoint <url>',
      'send traces to this OTLP/HTTP receiver (default: OTEL_EXPORTER_OTLP_ENDPOINT, or none)',
    )
    .addOption(new Option('--log-level <level>').choices(['debug', 'info', 'warn', 'error', 'silent']).default('info'))
    .option('--release', 'release all resources, touch no account, and end: before Culvert is removed', false)
    .option('--release-timeout <time>', 'how long --release waits for a running operator to end', duration, 60_000)
    .action(async (flags: Flags) => {
      const options = optionsFrom(flags)
      logNodeWarnings(options.logger)
      if (flags.release) {
        const release = { timeoutMs: flags.releaseTimeout, print: (line: string) => console.log(line) }
        process.exitCode = await runRelease(options, release, stopSignal())
        return
      }
      // All that may still be open is a receiver of traces that does not answer.
      process.exit(await runOperator(options, stopSignal()))
    })
}

function optionsFrom(flags: Flags): OperatorOptions {
  const environment = readEnvironment()
  return {
    ...flags,
    namespace: flags.namespace ?? environment.podNamespace ?? 'culvert-system',
    identity: environment.identity,
    proxies: environment.proxies,
    tracing: environment.tracesAllowed && (flags.otlpEndpoint !== undefined || environment.tracesConfigured),
    watchNamespaces: flags.watchNamespace,
    readSecretsEveryMs: flags.watchSecrets ? undefined : flags.secretsInterval,
    baseURLPolicy: { allowedHosts: flags.allowApiHost, allowHTTP: flags.allowHttp },
    dnsEndpoints: { enabled: flags.dnsEndpoints, domains: flags.dnsDomains },
    leaseDurationMs: flags.leaseDuration,
    renewDeadlineMs: flags.renewDeadline,
    retryPeriodMs: flags.retryPeriod,
    requestTimeoutMs: flags.requestTimeout,
    scanPauseMs: flags.scanPause,
    readLagMs: flags.readLag,
    watchSilenceMs: flags.watchSilence,
    logger: createLogger(flags.logLevel),
  }
}
