import { expect } from 'vitest'
import { absent, args, object, pod, type Sight, type ValueCase } from './case.ts'

const policy = (spec: Readonly<Record<string, unknown>>): Sight => object('NetworkPolicy', 'culvert', { spec })
const egress = (...rules: readonly object[]): Sight => policy({ egress: expect.arrayContaining([...rules]) })
const ingress = (...rules: readonly object[]): Sight => policy({ ingress: expect.arrayContaining([...rules]) })
const tcp = (...ports: readonly (number | string)[]) => ports.map((port) => ({ port, protocol: 'TCP' }))
const block = (cidr: string) => [{ ipBlock: { cidr } }]
const peer = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }
const restricted = { networkPolicy: { enabled: true } }

const emulated = { emulator: { enabled: true } }
const emulator = (fields: Readonly<Record<string, unknown>>): Sight =>
  object('Deployment', 'culvert-emulator', { spec: { template: { spec: { containers: [fields] } } } })

const account = (spec: Readonly<Record<string, unknown>>, name = 'default'): Sight =>
  object('ClusterAccount', name, { spec })
const hosted = {
  clusterAccount: { enabled: true, baseURL: 'https://api.example.com', existingSecret: { name: 'key' } },
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Values of what stands around the operator: rights, metrics, network, account, emulator, uninstalling. */
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
  ...monitorCases('serviceMonitor', 'ServiceMonitor', 'endpoints'),
  ...monitorCases('podMonitor', 'PodMonitor', 'podMetricsEndpoints'),
  { path: 'networkPolicy.enabled', to: true, sees: [policy({ policyTypes: ['Ingress', 'Egress'] })] },
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
    beside: restricted,
    sees: [ingress({ ports: tcp('http'), from: [peer] })],
  },
  { path: 'networkPolicy.extraEgress', to: [{ to: [peer] }], beside: restricted, sees: [egress({ to: [peer] })] },
  { path: 'networkPolicy.extraIngress', to: [{ from: [peer] }], beside: restricted, sees: [ingress({ from: [peer] })] },
  {
    path: 'clusterAccount.enabled',
    to: true,
    beside: emulated,
    only: 'cluster',
    sees: [
      account({
        baseURL: 'http://culvert-emulator.culvert-system.svc:4040',
        apiKeySecretRef: { name: 'culvert-emulator', key: 'apiKey' },
      }),
    ],
  },
  { path: 'clusterAccount.name', to: 'shared', beside: hosted, only: 'cluster', sees: [account({}, 'shared')] },
  {
    path: 'clusterAccount.baseURL',
    to: 'https://other.example.com:8443/api',
    beside: hosted,
    only: 'cluster',
    sees: [account({ baseURL: 'https://other.example.com:8443/api' }), args('--allow-api-host=other.example.com:8443')],
  },
  {
    path: 'clusterAccount.apiKey',
    to: 'secret',
    beside: { clusterAccount: { ...hosted.clusterAccount, existingSecret: { name: '' }, baseURL: '' }, ...emulated },
    only: 'cluster',
    sees: [
      account({ apiKeySecretRef: { name: 'culvert-account', key: 'apiKey' } }),
      object('Secret', 'culvert-account', { data: { apiKey: base64('secret') } }),
    ],
  },
  {
    path: 'clusterAccount.existingSecret.name',
    to: 'other',
    beside: hosted,
    only: 'cluster',
    sees: [account({ apiKeySecretRef: { name: 'other', key: 'apiKey' } })],
  },
  {
    path: 'clusterAccount.existingSecret.key',
    to: 'token',
    beside: hosted,
    only: 'cluster',
    sees: [account({ apiKeySecretRef: { name: 'key', key: 'token' } })],
  },
  {
    path: 'clusterAccount.spec',
    to: { allowedNamespaces: {}, rateLimit: { requestsPerMinute: 60 } },
    beside: hosted,
    only: 'cluster',
    sees: [account({ allowedNamespaces: {}, rateLimit: { requestsPerMinute: 60 } })],
  },
  {
    path: 'emulator.enabled',
    to: true,
    sees: [
      emulator({ args: expect.arrayContaining(['emulator', '--listen=0.0.0.0:4040']) }),
      object('Service', 'culvert-emulator', { spec: { ports: [{ port: 4040 }] } }),
      args('--allow-api-host=culvert-emulator.culvert-system.svc:4040', '--allow-http'),
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
      args('--allow-api-host=culvert-emulator.culvert-system.svc:8081'),
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
