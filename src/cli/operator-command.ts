import { Command, Option } from 'commander'
import { readEnvironment } from '../config.ts'
import type { LabelSelector } from '../managed/descriptor/label-selector.ts'
import { HIGHEST_MAX_PORTS, MAX_PORTS } from '../managed/services/service.ts'
import type { TunnelPolicy } from '../managed/tunnels/policy.ts'
import { type OperatorOptions, refuseUnsafeSelectors } from '../operator/options.ts'
import { runOperator } from '../operator/run-operator.ts'
import { runRelease } from '../operator/run-release.ts'
import { createLogger, type LogLevel, logNodeWarnings } from '../util/logger.ts'
import { endWith, stopSignal } from './exit.ts'
import {
  collect,
  connectionOptions,
  domainPatterns,
  duration,
  installation,
  labelSelector,
  positive,
  upTo,
} from './flags.ts'
import { standardTerminals } from './terminal/terminal.ts'

interface Flags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: string
  readonly name: string
  readonly installation?: string
  readonly watchNamespace: readonly string[]
  readonly accountSelector?: LabelSelector
  readonly namespaceSelector?: LabelSelector
  readonly holdNamespaces: boolean
  readonly watchSecrets: boolean
  readonly secretsInterval: number
  readonly allowApiHost: readonly string[]
  readonly allowHttp: boolean
  readonly dnsEndpoints: boolean
  readonly dnsDomains: readonly string[]
  readonly tunnels: boolean
  readonly services: boolean
  readonly servicesDefault: boolean
  readonly servicePorts: number
  readonly agentImage?: string
  readonly allowSshGateway: readonly string[]
  readonly tunnelTemplates: boolean
  readonly allowAgentImage: readonly string[]
  readonly allowAgentMetadata: readonly string[]
  readonly allowAgentPriorityClass: readonly string[]
  readonly leaderElect: boolean
  readonly leaseDuration: number
  readonly renewDeadline: number
  readonly retryPeriod: number
  readonly requestTimeout: number
  readonly scanPause: number
  readonly readLag: number
  readonly watchSilence: number
  readonly workers: number
  readonly apiRequests: number
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
  return connectionOptions(new Command('operator'))
    .description('Keep accounts in sync with the custom resources in a cluster, until stopped.')
    .option('--namespace <name>', "the operator's own namespace (default: POD_NAMESPACE, the pod's, or culvert-system)")
    .option('--name <name>', 'name of this release; also names its Lease and is part of the installation id', 'culvert')
    .option(
      '--installation <id>',
      'id that marks remote objects as belonging to this installation (default: derived from cluster, namespace and name)',
      installation,
    )
    .option(
      '--watch-namespace <name>',
      'watch only this namespace, and no ClusterAccounts (repeatable; default: all)',
      collect,
      [],
    )
    .option(
      '--account-selector <selector>',
      'manage only Accounts and ClusterAccounts with these labels, and their resources; needs --installation ' +
        '(default: all)',
      labelSelector,
    )
    .option(
      '--namespace-selector <selector>',
      'manage only Accounts in namespaces with these labels; needs --installation (default: all)',
      labelSelector,
    )
    .option(
      '--hold-namespaces',
      'with --watch-namespace, keep a finalizer on the RoleBinding <namespace>-<name>-hold in each, ' +
        'so that a namespace can be deleted with its resources',
      false,
    )
    .option(
      '--no-watch-secrets',
      'do not list or watch Secrets and ConfigMaps; get those that accounts and resources refer to one by one',
    )
    .option(
      '--secrets-interval <time>',
      'with --no-watch-secrets, how often each is reread; a change may take this long to be noticed',
      duration,
      60_000,
    )
    .option(
      '--allow-api-host <host>',
      'host[:port] or *.suffix that accounts may use; http://host[:port] allows plain http to that host (repeatable)',
      collect,
      [],
    )
    .option('--allow-http', 'allow plain http to every allowed host; for local use only', false)
    .option(
      '--dns-endpoints',
      'create DNSEndpoints for resources that request them, if --dns-domains allows it; needs permissions for DNSEndpoints',
      false,
    )
    .option(
      '--dns-domains <patterns>',
      'comma-separated domains permitted in DNSEndpoints: names, or *.suffix for all subdomains ' +
        '(repeatable; default: none)',
      domainPatterns,
      [],
    )
    .option(
      '--tunnels',
      'run the agents of Tunnels; needs --agent-image, and permissions for Deployments and related objects',
      false,
    )
    .option('--agent-image <image>', "image of the agents: the operator's own, or one with the same `culvert agent`")
    .option(
      '--allow-ssh-gateway <address>',
      'host:port or *.suffix:port that accounts may use as spec.sshGateway (repeatable; default: none)',
      collect,
      [],
    )
    .option(
      '--tunnel-templates',
      'accept spec.template and spec.agent of Tunnels; anyone who may write Tunnels then determines which Pods run',
      false,
    )
    .option(
      '--allow-agent-image <pattern>',
      'additional agent image that Tunnels may use: a full reference, or a prefix ending in * (repeatable; default: none)',
      collect,
      [],
    )
    .option(
      '--allow-agent-metadata <key>',
      'key of labels and annotations that Tunnels may set: a full key, or a prefix ending in * (repeatable; default: none)',
      collect,
      [],
    )
    .option(
      '--allow-agent-priority-class <name>',
      'PriorityClass beginning with system- that Tunnels may use (repeatable; default: none)',
      collect,
      [],
    )
    .option(
      '--services',
      'serve Services of type LoadBalancer with loadBalancerClass culvert.dev/edge; needs --tunnels, and permissions for Services',
      false,
    )
    .option(
      '--services-default',
      'also serve Services of type LoadBalancer without a class, in clusters without another load balancer; needs --services',
      false,
    )
    .option(
      '--service-ports <number>',
      'maximum number of TCP ports of such a Service; each gets an edge with its own agents',
      upTo(HIGHEST_MAX_PORTS),
      MAX_PORTS,
    )
    .option('--no-leader-elect', 'run without a Lease; safe only where no other operator can run')
    .option(
      '--lease-duration <time>',
      'how long candidates wait before they take over from a leader that has stopped renewing',
      duration,
      15_000,
    )
    .option('--renew-deadline <time>', 'how long a leader that cannot renew the Lease keeps leading', duration, 10_000)
    .option('--retry-period <time>', 'time between two attempts to acquire or renew the Lease', duration, 2_000)
    .option(
      '--request-timeout <time>',
      'timeout of each API request; must be shorter than lease duration minus renew deadline',
      duration,
      4_000,
    )
    .option(
      '--scan-pause <time>',
      'time between the two lists that must agree before an object is considered absent',
      duration,
      2_000,
    )
    .option(
      '--read-lag <time>',
      'how long API reads may lag behind a create; a younger object is never considered deleted',
      duration,
      60_000,
    )
    .option(
      '--watch-silence <time>',
      'how long a watch may be idle before it is considered dead; API servers send something about once a minute',
      duration,
      150_000,
    )
    .option('--workers <number>', 'number of concurrent reconciles', positive, 16)
    .option(
      '--api-requests <number>',
      'maximum number of concurrent API requests per account; fewer while the API refuses, fails or is slow',
      positive,
      64,
    )
    .option(
      '--listen <address>',
      'address of /healthz, /readyz and /metrics; port 0 picks a free one',
      '127.0.0.1:8080',
    )
    .option(
      '--metrics-authentication',
      'serve /metrics only to bearer tokens whose owner may get the non-resource URL /metrics; ' +
        'needs permission to create TokenReviews and SubjectAccessReviews',
      false,
    )
    .option(
      '--audit-log <file>',
      'where to record each modifying request as a JSON line: - for standard output, off, or a file',
      '-',
    )
    .option(
      '--otlp-endpoint <url>',
      'send traces to this OTLP/HTTP receiver (default: OTEL_EXPORTER_OTLP_ENDPOINT, or none)',
    )
    .addOption(new Option('--log-level <level>').choices(['debug', 'info', 'warn', 'error', 'silent']).default('info'))
    .option(
      '--release',
      'release all resources without changing any account, then exit; run it before removing Culvert',
      false,
    )
    .option('--release-timeout <time>', 'how long --release waits for a running operator to stop', duration, 60_000)
    .action(async (flags: Flags, command: Command) => {
      if (flags.tunnels && flags.agentImage === undefined) {
        command.error('error: --tunnels needs --agent-image', { exitCode: 1 })
      }
      if (flags.services && !flags.tunnels) command.error('error: --services needs --tunnels', { exitCode: 1 })
      if (flags.servicesDefault && !flags.services) {
        command.error('error: --services-default needs --services', { exitCode: 1 })
      }
      if (flags.tunnelTemplates && !flags.tunnels) {
        command.error('error: --tunnel-templates needs --tunnels', { exitCode: 1 })
      }
      if (flags.release && (flags.accountSelector ?? flags.namespaceSelector) !== undefined) {
        const remedy = 'stop every operator, and run it once, without selectors'
        command.error(`error: --release releases the resources of all accounts: ${remedy}`, { exitCode: 1 })
      }
      const options = optionsFrom(flags)
      try {
        refuseUnsafeSelectors(options)
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        command.error(`error: ${error.message}`, { exitCode: 1 })
      }
      logNodeWarnings(options.logger)
      if (flags.release) {
        const release = { timeoutMs: flags.releaseTimeout, print: standardTerminals().out.print }
        process.exitCode = await runRelease(options, release, stopSignal())
        return
      }
      endWith(await runOperator(options, stopSignal()))
    })
}

function tunnelPolicy(flags: Flags): TunnelPolicy | undefined {
  const { tunnels, agentImage } = flags
  if (!tunnels || agentImage === undefined) return undefined
  return {
    image: agentImage,
    gateways: flags.allowSshGateway,
    templates: flags.tunnelTemplates,
    images: flags.allowAgentImage,
    metadataKeys: flags.allowAgentMetadata,
    priorityClasses: flags.allowAgentPriorityClass,
  }
}

function optionsFrom(flags: Flags): OperatorOptions {
  const environment = readEnvironment()
  return {
    ...flags,
    namespace: flags.namespace ?? environment.podNamespace ?? 'culvert-system',
    identity: environment.identity,
    proxies: environment.proxies,
    kubeconfigs: environment.kubeconfigs,
    tracing: environment.tracesAllowed && (flags.otlpEndpoint !== undefined || environment.tracesConfigured),
    watchNamespaces: flags.watchNamespace,
    selectors: { accounts: flags.accountSelector, namespaces: flags.namespaceSelector },
    readSecretsEveryMs: flags.watchSecrets ? undefined : flags.secretsInterval,
    baseURLPolicy: { allowedHosts: flags.allowApiHost, allowHTTP: flags.allowHttp },
    dnsEndpoints: { enabled: flags.dnsEndpoints, domains: flags.dnsDomains },
    tunnels: tunnelPolicy(flags),
    services: flags.services ? { unclassed: flags.servicesDefault, maxPorts: flags.servicePorts } : undefined,
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
