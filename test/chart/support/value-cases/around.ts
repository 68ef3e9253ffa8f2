import { expect } from 'vitest'
import { absent, args, object, pod, type Sight, type ValueCase } from './case.ts'

const policy = (spec: Readonly<Record<string, unknown>>): Sight => object('NetworkPolicy', 'culvert', { spec })
const egress = (...rules: readonly object[]): Sight => policy({ egress: expect.arrayContaining([...rules]) })
const ingress = (...rules: readonly object[]): Sight => policy({ ingress: expect.arrayContaining([...rules]) })
const tcp = (...ports: readonly (number | string)[]) => ports.map((port) => ({ port, protocol: 'TCP' }))
const block = (cidr: string) => [{ ipBlock: { cidr } }]
const peer = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }
const tests = { podSelector: { matchLabels: expect.objectContaining({ 'app.kubernetes.io/component': 'test' }) } }
const restricted = { networkPolicy: { egress: true } }

const authenticated = { metrics: { authentication: { enabled: true } } }
const prometheus = { kind: 'ServiceAccount', name: 'prometheus', namespace: 'monitoring' }
const OWN_READER = { name: 'culvert-metrics-reader', cluster: 'culvert-system-culvert-metrics-reader' }
const tokenOf = (kind: string, endpoints: string, credentials: Readonly<Record<string, string>>): Sight =>
  object(kind, 'culvert', { spec: { [endpoints]: [{ authorization: { credentials } }] } })

const emulated = { emulator: { enabled: true } }
const emulator = (fields: Readonly<Record<string, unknown>>): Sight =>
  object('Deployment', 'culvert-emulator', { spec: { template: { spec: { containers: [fields] } } } })

/** The least that Tunnels need. */
const agents = { enabled: true, gateways: ['ssh.example.com:22'] }

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Values for the operator's surroundings: rights, metrics, network, account, emulator, uninstalling. */
export const aroundCases: readonly ValueCase[] = [
  {
    path: 'watchNamespaces',
    to: ['web'],
    only: 'cluster',
    sees: [
      args('--watch-namespace=web', '--hold-namespaces'),
      { ...object('Role', 'culvert-system-culvert', { rules: expect.anything() }), namespace: 'web' },
      object('ClusterRole', 'culvert-system-culvert', {
        rules: [{ apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] }],
      }),
    ],
  },
  {
    path: 'admissionPolicy.authors.enabled',
    to: true,
    sees: [
      object('ValidatingAdmissionPolicy', 'culvert-system-culvert-authors', {
        spec: { variables: expect.arrayContaining([{ name: 'home', expression: '"culvert-system"' }]) },
      }),
      object('ValidatingAdmissionPolicyBinding', 'culvert-system-culvert-authors', {
        spec: { policyName: 'culvert-system-culvert-authors', validationActions: ['Deny'] },
      }),
    ],
  },
  {
    path: 'dnsEndpoints.enabled',
    to: true,
    sees: [args('--dns-endpoints')],
  },
  {
    path: 'dnsEndpoints.domains',
    to: ['shop.example.com', '*.apps.example.com'],
    beside: { dnsEndpoints: { enabled: true } },
    sees: [args('--dns-domains=shop.example.com,*.apps.example.com')],
  },
  {
    path: 'tunnels.enabled',
    to: true,
    beside: { tunnels: { gateways: agents.gateways } },
    sees: [args('--tunnels', expect.stringMatching(/^--agent-image=/))],
  },
  {
    path: 'tunnels.gateways',
    to: ['*.example.com:22'],
    beside: { tunnels: agents },
    sees: [args('--allow-ssh-gateway=*.example.com:22')],
  },
  {
    path: 'tunnels.templates.enabled',
    to: true,
    beside: { tunnels: agents },
    sees: [args('--tunnel-templates')],
  },
  {
    path: 'tunnels.templates.images',
    to: ['registry.example.com/agents/*'],
    beside: { tunnels: { ...agents, templates: { enabled: true } } },
    sees: [args('--allow-agent-image=registry.example.com/agents/*')],
  },
  {
    path: 'tunnels.templates.metadataKeys',
    to: ['team', 'example.com/*'],
    beside: { tunnels: { ...agents, templates: { enabled: true } } },
    sees: [args('--allow-agent-metadata=team', '--allow-agent-metadata=example.com/*')],
  },
  {
    path: 'tunnels.templates.priorityClasses',
    to: ['system-cluster-critical'],
    beside: { tunnels: { ...agents, templates: { enabled: true } } },
    sees: [args('--allow-agent-priority-class=system-cluster-critical')],
  },
  {
    path: 'tunnels.services.enabled',
    to: true,
    beside: { tunnels: agents },
    sees: [args('--services')],
  },
  {
    path: 'tunnels.services.default',
    to: true,
    beside: { tunnels: { ...agents, services: { enabled: true } } },
    sees: [args('--services-default')],
  },
  {
    path: 'tunnels.services.maxPorts',
    to: 8,
    beside: { tunnels: { ...agents, services: { enabled: true } } },
    sees: [args('--service-ports=8')],
  },
  {
    path: 'serviceAccount.create',
    to: false,
    sees: [absent('ServiceAccount', 'culvert'), pod({ serviceAccountName: 'default' })],
  },
  {
    path: 'serviceAccount.name',
    to: 'tunnels',
    sees: [
      object('ServiceAccount', 'tunnels'),
      pod({ serviceAccountName: 'tunnels' }),
      object('RoleBinding', 'culvert', { subjects: [{ name: 'tunnels', namespace: 'culvert-system' }] }),
    ],
  },
  {
    path: 'serviceAccount.annotations',
    to: { role: 'edge' },
    sees: [object('ServiceAccount', 'culvert', { metadata: { annotations: { role: 'edge' } } })],
  },
  {
    path: 'rbac.create',
    to: false,
    sees: [
      absent('Role', 'culvert'),
      absent('RoleBinding', 'culvert'),
      absent('ClusterRole', 'culvert-system-culvert'),
    ],
  },
  {
    path: 'rbac.holdNamespaces',
    to: false,
    beside: { watchNamespaces: ['web'] },
    only: 'cluster',
    sees: [absent('ClusterRole', 'culvert-system-culvert-hold')],
  },
  {
    path: 'rbac.userRoles',
    to: false,
    sees: ['view', 'edit', 'admin'].map((user) => absent('ClusterRole', `culvert-system-culvert-${user}`)),
  },
  {
    path: 'admissionPolicy.access.enabled',
    to: false,
    only: 'cluster',
    sees: [
      absent('ValidatingAdmissionPolicy', 'culvert-system-culvert-access'),
      absent('ValidatingAdmissionPolicyBinding', 'culvert-system-culvert-access'),
    ],
  },
  {
    path: 'admissionPolicy.operator.enabled',
    to: false,
    sees: ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'].map((kind) => {
      return absent(kind, 'culvert-system-culvert-operator')
    }),
  },
  {
    path: 'admissionPolicy.operator.protectedNamespaces',
    to: ['argocd', 'openshift-*'],
    sees: [
      object('ValidatingAdmissionPolicy', 'culvert-system-culvert-operator', {
        spec: {
          variables: expect.arrayContaining([{ name: 'protectedNamespaces', expression: '["argocd","openshift-*"]' }]),
        },
      }),
    ],
  },
  {
    path: 'admissionPolicy.operator.extraFields',
    to: ['secrets.metadata.labels.team'],
    sees: [
      object('ValidatingAdmissionPolicy', 'culvert-system-culvert-operator', {
        spec: {
          variables: expect.arrayContaining([{ name: 'extraFields', expression: '["secrets.metadata.labels.team"]' }]),
        },
      }),
    ],
  },
  { path: 'service.enabled', to: false, sees: [absent('Service', 'culvert'), absent('Pod', 'culvert-test')] },
  { path: 'service.type', to: 'NodePort', sees: [object('Service', 'culvert', { spec: { type: 'NodePort' } })] },
  {
    path: 'service.port',
    to: 80,
    sees: [
      object('Service', 'culvert', { spec: { ports: [{ port: 80, targetPort: 'http' }] } }),
      object('Pod', 'culvert-test', {
        spec: { containers: [{ args: ['probe', 'http://culvert.culvert-system.svc:80/readyz'] }] },
      }),
    ],
  },
  {
    path: 'service.annotations',
    to: { note: 'x' },
    sees: [object('Service', 'culvert', { metadata: { annotations: { note: 'x' } } })],
  },
  {
    path: 'metrics.authentication.enabled',
    to: true,
    beside: { serviceMonitor: { enabled: true }, podMonitor: { enabled: true } },
    sees: [
      args('--metrics-authentication'),
      object('ClusterRole', 'culvert-system-culvert-metrics'),
      object('ClusterRoleBinding', 'culvert-system-culvert-metrics', {
        subjects: [{ kind: 'ServiceAccount', name: 'culvert', namespace: 'culvert-system' }],
      }),
      object('ClusterRole', 'culvert-system-culvert-metrics-reader', {
        rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
      }),
      object('ClusterRoleBinding', OWN_READER.cluster, { subjects: [{ name: OWN_READER.name }] }),
      object('ServiceAccount', OWN_READER.name, { automountServiceAccountToken: false }),
      object('Secret', OWN_READER.name, {
        type: 'kubernetes.io/service-account-token',
        metadata: { annotations: { 'kubernetes.io/service-account.name': OWN_READER.name } },
      }),
      tokenOf('ServiceMonitor', 'endpoints', { name: OWN_READER.name, key: 'token' }),
      tokenOf('PodMonitor', 'podMetricsEndpoints', { name: OWN_READER.name, key: 'token' }),
      object('Pod', 'culvert-test', {
        spec: {
          containers: [{ name: 'probe' }, { args: ['probe', '--status=401', expect.stringMatching(/\/metrics$/)] }],
        },
      }),
    ],
  },
  {
    path: 'metrics.authentication.readers',
    to: [prometheus],
    beside: authenticated,
    sees: [
      object('ClusterRoleBinding', 'culvert-system-culvert-metrics-reader', {
        roleRef: { kind: 'ClusterRole', name: 'culvert-system-culvert-metrics-reader' },
        subjects: [prometheus],
      }),
    ],
  },
  {
    path: 'metrics.authentication.tokenSecret.name',
    to: 'reader',
    beside: { ...authenticated, serviceMonitor: { enabled: true } },
    sees: [
      tokenOf('ServiceMonitor', 'endpoints', { name: 'reader', key: 'token' }),
      absent('ServiceAccount', OWN_READER.name),
      absent('Secret', OWN_READER.name),
    ],
  },
  {
    path: 'metrics.authentication.tokenSecret.key',
    to: 'bearer',
    beside: {
      metrics: { authentication: { enabled: true, tokenSecret: { name: 'reader' } } },
      serviceMonitor: { enabled: true },
      podMonitor: { enabled: true },
    },
    sees: [
      tokenOf('ServiceMonitor', 'endpoints', { name: 'reader', key: 'bearer' }),
      tokenOf('PodMonitor', 'podMetricsEndpoints', { name: 'reader', key: 'bearer' }),
    ],
  },
  ...monitorCases('serviceMonitor', 'ServiceMonitor', 'endpoints'),
  ...monitorCases('podMonitor', 'PodMonitor', 'podMetricsEndpoints'),
  {
    path: 'networkPolicy.ingress',
    to: false,
    beside: emulated,
    sees: ['culvert', 'culvert-hooks', 'culvert-emulator'].map((name) => absent('NetworkPolicy', name)),
  },
  {
    path: 'networkPolicy.egress',
    to: true,
    sees: [policy({ policyTypes: ['Ingress', 'Egress'], egress: expect.anything() })],
  },
  {
    path: 'networkPolicy.apiServerCIDRs',
    to: ['10.0.0.1/32'],
    beside: restricted,
    sees: [egress({ ports: tcp(443, 6443), to: block('10.0.0.1/32') })],
  },
  { path: 'networkPolicy.apiServerPorts', to: [8443], beside: restricted, sees: [egress({ ports: tcp(8443) })] },
  {
    path: 'networkPolicy.apiCIDRs',
    to: ['2001:db8::/32'],
    beside: restricted,
    sees: [egress({ ports: tcp(443), to: block('2001:db8::/32') })],
  },
  { path: 'networkPolicy.apiPorts', to: [3128], beside: restricted, sees: [egress({ ports: tcp(3128) })] },
  {
    path: 'networkPolicy.dnsPeers',
    to: [peer],
    beside: restricted,
    sees: [
      egress({
        ports: [
          { port: 53, protocol: 'UDP' },
          { port: 53, protocol: 'TCP' },
        ],
        to: [peer],
      }),
    ],
  },
  {
    path: 'networkPolicy.metricsPeers',
    to: [peer],
    sees: [
      policy({
        ingress: [
          { ports: tcp('http'), from: [peer] },
          { ports: tcp('http'), from: [tests] },
        ],
      }),
    ],
  },
  { path: 'networkPolicy.extraEgress', to: [{ to: [peer] }], beside: restricted, sees: [egress({ to: [peer] })] },
  { path: 'networkPolicy.extraIngress', to: [{ from: [peer] }], sees: [ingress({ from: [peer] })] },
  {
    path: 'emulator.enabled',
    to: true,
    sees: [
      emulator({ args: expect.arrayContaining(['emulator', '--listen=0.0.0.0:4040']) }),
      object('Service', 'culvert-emulator', { spec: { ports: [{ port: 4040 }] } }),
      args('--allow-api-host=http://culvert-emulator.culvert-system.svc:4040'),
    ],
  },
  {
    path: 'emulator.apiKey',
    to: 'try',
    beside: emulated,
    sees: [object('Secret', 'culvert-emulator', { data: { apiKey: base64('try') } })],
  },
  {
    path: 'emulator.adminToken',
    to: 'admin',
    beside: emulated,
    sees: [object('Secret', 'culvert-emulator', { data: { adminToken: base64('admin') } })],
  },
  {
    path: 'emulator.port',
    to: 8081,
    beside: emulated,
    sees: [
      emulator({ ports: [{ containerPort: 8081 }], args: expect.arrayContaining(['--listen=0.0.0.0:8081']) }),
      args('--allow-api-host=http://culvert-emulator.culvert-system.svc:8081'),
    ],
  },
  {
    path: 'emulator.extraArgs',
    to: ['--cert-seconds=1'],
    beside: emulated,
    sees: [emulator({ args: expect.arrayContaining(['--cert-seconds=1']) })],
  },
  {
    path: 'emulator.resources',
    to: { limits: { memory: '1Gi' } },
    beside: emulated,
    sees: [emulator({ resources: { limits: { memory: '1Gi' } } })],
  },
  {
    path: 'uninstall.check',
    to: false,
    sees: [absent('Job', 'culvert-leftovers'), absent('ServiceAccount', 'culvert-leftovers')],
  },
  {
    path: 'uninstall.allowLeftovers',
    to: true,
    sees: [
      object('Job', 'culvert-leftovers', {
        spec: { template: { spec: { containers: [{ args: expect.arrayContaining(['leftovers', '--allow']) }] } } },
      }),
    ],
  },
]

function monitorCases(path: string, kind: string, endpoints: string): readonly ValueCase[] {
  const beside = { [path]: { enabled: true } }
  const sees = (like: object): readonly Sight[] => [object(kind, 'culvert', { spec: { [endpoints]: [like] } })]
  const relabelings = [{ action: 'drop', sourceLabels: ['pod'], regex: 'x' }]
  return [
    { path: `${path}.enabled`, to: true, sees: sees({ port: 'http', path: '/metrics', honorLabels: true }) },
    { path: `${path}.interval`, to: '30s', beside, sees: sees({ interval: '30s' }) },
    { path: `${path}.scrapeTimeout`, to: '5s', beside, sees: sees({ scrapeTimeout: '5s' }) },
    {
      path: `${path}.labels`,
      to: { release: 'p' },
      beside,
      sees: [object(kind, 'culvert', { metadata: { labels: { release: 'p' } } })],
    },
    { path: `${path}.relabelings`, to: relabelings, beside, sees: sees({ relabelings }) },
    { path: `${path}.metricRelabelings`, to: relabelings, beside, sees: sees({ metricRelabelings: relabelings }) },
  ]
}
