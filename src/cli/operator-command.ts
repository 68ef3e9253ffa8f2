import { Command, Option } from 'commander'
import { readEnvironment } from '../config.ts'
import type { LabelSelector } from '../managed/descriptor/label-selector.ts'
import { HIGHEST_MAX_PORTS, MAX_PORTS } from '../managed/services/service.ts'
import type { TunnelPolicy } from '../managed/tunnels/policy.ts'
import { type OperatorOptions, refuseUnsafeSelectors } from '../operator/options.ts'
import { runRelease } from '../operator/release.ts'
import { runOperator } from '../operator/run-operator.ts'
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
    .description('Keep accounts in sync with the custom resources of a cluster, until stopped.')
    .option('--namespace <name>', "the operator's own namespace (default: POD_NAMESPACE, the pod's, or culvert-system)")
    .option('--name <name>', 'name of this release; also names its Lease and is part of the installation id', 'culvert')
    .option(
      '--installation <id>',
      "id that marks objects at the API as this installation's (default: derived from cluster, namespace and name)",
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
      'work only on Accounts and ClusterAccounts with these labels, and on their resources; needs --installation ' +
        '(default: all)',
      labelSelector,
    )
    .option(
      '--namespace-selector <selector>',
      'work only on Accounts of namespaces with these labels; needs --installation (default: all)',
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
      'neither list nor watch Secrets and ConfigMaps; read those that accounts and resources name one by one',
    )
    .option(
      '--secrets-interval <time>',
      'with --no-watch-secrets, how often each is read again; a change can take this long to be noticed',
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
      'create the DNSEndpoints that resources ask for, if --dns-domains allows them; needs rights to DNSEndpoints',
      false,
    )
    .option(
      '--dns-domains <patterns>',
      'domains that DNSEndpoints may publish: names, or *.suffix for all names below, separated by commas ' +
        '(repeatable; default: none)',
      domainPatterns,
      [],
    )
    .option(
      '--tunnels',
      'run the agents of Tunnels; needs --agent-image, and rights to Deployments and the like',
      false,
    )
    .option('--agent-image <image>', "image of these agents: the operator's own, or one with the same `culvert agent`")
    .option(
      '--allow-ssh-gateway <address>',
      'host:port or *.suffix:port that spec.sshGateway of accounts may name (repeatable; default: none)',
      collect,
      [],
    )
    .option(
      '--tunnel-templates',
      'take spec.template and spec.agent of Tunnels; whoever may write Tunnels then says what Pods run there',
      false,
    )
    .option(
      '--allow-agent-image <pattern>',
      'image that spec.agent may name: a full reference, or a prefix ending in * (repeatable; default: none)',
      collect,
      [],
    )
    .option(
      '--allow-agent-metadata <key>',
      'key of labels and annotations that spec.template may set: in full, or a prefix ending in * (repeatable; default: none)',
      collect,
      [],
    )
    .option(
      '--allow-agent-priority-class <name>',
      'PriorityClass beginning with system- that spec.template may name (repeatable; default: none)',
      collect,
      [],
    )
    .option(
      '--services',
      'serve Services of type LoadBalancer with loadBalancerClass culvert.dev/edge; needs --tunnels, and rights to Services',
      false,
    )
    .option(
      '--services-default',
      'serve Services of type LoadBalancer without a class too, for clusters without another load balancer; needs --services',
      false,
    )
    .option(
      '--service-ports <number>',
      'TCP ports that such a Service may have, at most; each gets an edge with its own agents',
      upTo(HIGHEST_MAX_PORTS),
      MAX_PORTS,
    )
    .option('--no-leader-elect', 'run without a Lease; safe only where no other operator can run')
    .option(
      '--lease-duration <time>',
      'how long others wait before they take over from a silent leader',
      duration,
      15_000,
    )
    .option('--renew-deadline <time>', 'how long a leader that cannot renew keeps leading', duration, 10_000)
    .option('--retry-period <time>', 'time between two attempts to acquire or renew the Lease', duration, 2_000)
    .option(
      '--request-timeout <time>',
      'limit for each API request; must be shorter than lease duration less renew deadline',
      duration,
      4_000,
    )
    .option(
      '--scan-pause <time>',
      'time between the two lists that must agree before an object counts as absent',
      duration,
      2_000,
    )
    .option(
      '--read-lag <time>',
      "how long the API's reads may lag behind a create; a younger object never counts as deleted",
      duration,
      60_000,
    )
    .option(
      '--watch-silence <time>',
      'how long a watch may be silent before it counts as dead; API servers send something about once a minute',
      duration,
      150_000,
    )
    .option('--workers <number>', 'number of resources reconciled at a time', positive, 16)
    .option(
      '--api-requests <number>',
      'requests in flight to the API of one account, at most; fewer while it refuses, fails or is slow',
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
      'serve /metrics only to a bearer token whose owner may get the non-resource URL /metrics; ' +
        'needs the right to create TokenReviews and SubjectAccessReviews',
      false,
    )
    .option(
      '--audit-log <file>',
      'where to record each request that changes something, as JSON lines: - for standard output, off, or a file',
      '-',
    )
    .option(
      '--otlp-endpoint <url>',
      'send traces to this OTLP/HTTP receiver (default: OTEL_EXPORTER_OTLP_ENDPOINT, or none)',
    )
    .addOption(new Option('--log-level <level>').choices(['debug', 'info', 'warn', 'error', 'silent']).default('info'))
    .option(
      '--release',
      'release all resources without touching any account, then exit; run it before removing Culvert',
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
