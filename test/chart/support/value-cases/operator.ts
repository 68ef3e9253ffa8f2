import { expect } from 'vitest'
import { absent, args, container, deployment, env, object, pod, type ValueCase } from './case.ts'

const caVolume = (volume: object) => [
  pod({ volumes: [{ name: 'ca-bundle', ...volume }] }),
  container({ volumeMounts: [{ name: 'ca-bundle', mountPath: '/etc/culvert/ca', readOnly: true }] }),
  env('NODE_EXTRA_CA_CERTS', '/etc/culvert/ca/ca.crt'),
]

const digest = `sha256:${'a'.repeat(64)}`
const affinity = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'pool', operator: 'In', values: ['edge'] }] }],
    },
  },
}

/** Values for what the operator does and where it runs. */
export const operatorCases: readonly ValueCase[] = [
  {
    path: 'nameOverride',
    to: 'tunnels',
    sees: [object('Deployment', 'culvert-tunnels', { metadata: { labels: { 'app.kubernetes.io/name': 'tunnels' } } })],
  },
  {
    path: 'fullnameOverride',
    to: 'edge',
    sees: [
      object('Deployment', 'edge', {
        spec: { template: { spec: { containers: [{ args: expect.arrayContaining(['--name=edge']) }] } } },
      }),
      absent('Deployment', 'culvert'),
    ],
  },
  {
    path: 'commonLabels',
    to: { team: 'edge' },
    sees: [
      object('Deployment', 'culvert', { metadata: { labels: { team: 'edge' } } }),
      object('Job', 'culvert-leftovers', { metadata: { labels: { team: 'edge' } } }),
      object('Role', 'culvert', { metadata: { labels: { team: 'edge' } } }),
    ],
  },
  {
    path: 'commonAnnotations',
    to: { owner: 'edge' },
    sees: [
      object('Deployment', 'culvert', { metadata: { annotations: { owner: 'edge' } } }),
      object('Service', 'culvert', { metadata: { annotations: { owner: 'edge' } } }),
    ],
  },
  {
    path: 'image.repository',
    to: 'mirror.example/culvert',
    sees: [container({ image: 'mirror.example/culvert:0.1.0' })],
  },
  { path: 'image.tag', to: '9.9.9', sees: [container({ image: expect.stringMatching(/:9\.9\.9$/) })] },
  { path: 'image.digest', to: digest, sees: [container({ image: expect.stringMatching(`/culvert@${digest}$`) })] },
  { path: 'image.pullPolicy', to: 'Always', sees: [container({ imagePullPolicy: 'Always' })] },
  { path: 'imagePullSecrets', to: [{ name: 'registry' }], sees: [pod({ imagePullSecrets: [{ name: 'registry' }] })] },
  {
    path: 'selectors.accounts',
    to: 'team in (a,b),!legacy',
    beside: { operator: { installation: 'one' } },
    sees: [args('--account-selector=team in (a,b),!legacy')],
  },
  {
    path: 'selectors.namespaces',
    to: 'team=a',
    beside: { operator: { installation: 'one' } },
    only: 'cluster',
    sees: [args('--namespace-selector=team=a')],
  },
  {
    path: 'watchSecrets',
    to: false,
    sees: [args('--no-watch-secrets')],
  },
  {
    path: 'secretsInterval',
    to: '5m',
    beside: { watchSecrets: false },
    sees: [args('--secrets-interval=5m')],
  },
  { path: 'operator.installation', to: 'blue', sees: [args('--installation=blue')] },
  {
    path: 'operator.allowApiHosts',
    to: ['api.example.com', '*.example.org:8443', 'http://api.local:4040'],
    sees: [
      args(
        '--allow-api-host=api.example.com',
        '--allow-api-host=*.example.org:8443',
        '--allow-api-host=http://api.local:4040',
      ),
    ],
  },
  { path: 'operator.allowHttp', to: true, sees: [args('--allow-http')] },
  { path: 'operator.workers', to: 4, sees: [args('--workers=4')] },
  { path: 'operator.apiRequests', to: 8, sees: [args('--api-requests=8')] },
  { path: 'operator.requestTimeout', to: '3s', sees: [args('--request-timeout=3s')] },
  { path: 'operator.scanPause', to: '5s', sees: [args('--scan-pause=5s')] },
  { path: 'operator.readLag', to: '2m', sees: [args('--read-lag=2m')] },
  { path: 'operator.watchSilence', to: '3m', sees: [args('--watch-silence=3m')] },
  { path: 'operator.logLevel', to: 'debug', sees: [args('--log-level=debug')] },
  { path: 'operator.auditLog', to: 'off', sees: [args('--audit-log=off')] },
  { path: 'operator.otlpEndpoint', to: 'http://otel:4318', sees: [args('--otlp-endpoint=http://otel:4318')] },
  { path: 'operator.host', to: '::', sees: [args('--listen=[::]:8080')] },
  {
    path: 'operator.port',
    to: 9090,
    sees: [args('--listen=0.0.0.0:9090'), container({ ports: [{ name: 'http', containerPort: 9090 }] })],
  },
  { path: 'operator.extraArgs', to: ['--context=other'], sees: [args('--context=other')] },
  {
    path: 'leaderElection.enabled',
    to: false,
    beside: { replicas: 1 },
    sees: [args('--no-leader-elect'), deployment({ strategy: { type: 'Recreate' } })],
  },
  { path: 'leaderElection.leaseDuration', to: '30s', sees: [args('--lease-duration=30s')] },
  { path: 'leaderElection.renewDeadline', to: '8s', sees: [args('--renew-deadline=8s')] },
  { path: 'leaderElection.retryPeriod', to: '1s', sees: [args('--retry-period=1s')] },
  { path: 'replicas', to: 1, sees: [deployment({ replicas: 1 }), absent('PodDisruptionBudget', 'culvert')] },
  {
    path: 'proxy.http',
    to: 'http://proxy:3128',
    sees: [env('HTTP_PROXY', 'http://proxy:3128'), env('NO_PROXY', '$(KUBERNETES_SERVICE_HOST),.svc')],
  },
  {
    path: 'proxy.https',
    to: 'http://proxy:3128',
    sees: [env('HTTPS_PROXY', 'http://proxy:3128'), env('NO_PROXY', '$(KUBERNETES_SERVICE_HOST),.svc')],
  },
  {
    path: 'proxy.noProxy',
    to: '.corp,10.0.0.0/8',
    sees: [env('NO_PROXY', '$(KUBERNETES_SERVICE_HOST),.svc,.corp,10.0.0.0/8')],
  },
  { path: 'caBundle.configMap', to: 'corporate', sees: caVolume({ configMap: { name: 'corporate' } }) },
  { path: 'caBundle.secret', to: 'corporate', sees: caVolume({ secret: { secretName: 'corporate' } }) },
  {
    path: 'caBundle.key',
    to: 'bundle.pem',
    beside: { caBundle: { configMap: 'corporate' } },
    sees: [env('NODE_EXTRA_CA_CERTS', '/etc/culvert/ca/bundle.pem')],
  },
  {
    path: 'resources',
    to: { limits: { memory: '1Gi' } },
    sees: [container({ resources: { limits: { memory: '1Gi' }, requests: { cpu: '50m', memory: '192Mi' } } })],
  },
  {
    path: 'podSecurityContext',
    to: { runAsUser: 1001 },
    sees: [pod({ securityContext: { runAsUser: 1001, runAsNonRoot: true } })],
  },
  {
    path: 'securityContext',
    to: { readOnlyRootFilesystem: false },
    sees: [container({ securityContext: { readOnlyRootFilesystem: false, allowPrivilegeEscalation: false } })],
  },
  {
    path: 'probes.liveness',
    to: { periodSeconds: 7 },
    sees: [container({ livenessProbe: { periodSeconds: 7, httpGet: { path: '/healthz', port: 'http' } } })],
  },
  {
    path: 'probes.readiness',
    to: { periodSeconds: 7 },
    sees: [container({ readinessProbe: { periodSeconds: 7, httpGet: { path: '/readyz', port: 'http' } } })],
  },
  { path: 'podDisruptionBudget.enabled', to: false, sees: [absent('PodDisruptionBudget', 'culvert')] },
  {
    path: 'podDisruptionBudget.maxUnavailable',
    to: '50%',
    sees: [object('PodDisruptionBudget', 'culvert', { spec: { maxUnavailable: '50%' } })],
  },
  {
    path: 'podLabels',
    to: { team: 'edge' },
    sees: [deployment({ template: { metadata: { labels: { team: 'edge' } } } })],
  },
  {
    path: 'podAnnotations',
    to: { scrape: 'yes' },
    sees: [deployment({ template: { metadata: { annotations: { scrape: 'yes' } } } })],
  },
  { path: 'nodeSelector', to: { pool: 'edge' }, sees: [pod({ nodeSelector: { pool: 'edge' } })] },
  {
    path: 'tolerations',
    to: [{ key: 'edge', operator: 'Exists', effect: 'NoSchedule' }],
    sees: [pod({ tolerations: [{ key: 'edge', operator: 'Exists', effect: 'NoSchedule' }] })],
  },
  { path: 'affinity', to: affinity, sees: [pod({ affinity })] },
  {
    path: 'topologySpreadConstraints',
    to: [
      {
        maxSkew: 2,
        topologyKey: 'zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { a: 'b' } },
      },
    ],
    sees: [
      pod({
        topologySpreadConstraints: [
          { topologyKey: 'zone', labelSelector: expect.toBeOneOf([{ matchLabels: { a: 'b' } }]) },
        ],
      }),
    ],
  },
  { path: 'priorityClassName', to: 'high', sees: [pod({ priorityClassName: 'high' })] },
  { path: 'terminationGracePeriodSeconds', to: 60, sees: [pod({ terminationGracePeriodSeconds: 60 })] },
  { path: 'extraEnv', to: [{ name: 'TZ', value: 'UTC' }], sees: [env('TZ', 'UTC')] },
  {
    path: 'extraVolumes',
    to: [{ name: 'more', emptyDir: {} }],
    sees: [pod({ volumes: [{ name: 'more', emptyDir: {} }] })],
  },
  {
    path: 'extraVolumeMounts',
    to: [{ name: 'more', mountPath: '/more' }],
    beside: { extraVolumes: [{ name: 'more', emptyDir: {} }] },
    sees: [container({ volumeMounts: [{ name: 'more', mountPath: '/more' }] })],
  },
]
