import { GROUP, VERSION } from '../../../../src/managed/names.ts'
import {
  type Attempt,
  type Case,
  dnsEndpoint,
  type Fields,
  lease,
  mark,
  note,
  RBAC,
  resource,
  roleBinding,
  type Scene,
  type Thing,
  thing,
} from '../support/attempt.ts'
import { agentAttempts, partAttempts } from './agents.ts'
import { leftPartCases } from './left-parts.ts'

const record = (recordType: string, target = 'evil.example.com'): Fields => ({
  dnsName: 'shop.example.com',
  recordType,
  targets: [target],
})

const endpoints = (...all: readonly Fields[]): Fields => ({ spec: { endpoints: all } })

const dns: readonly Case[] = [
  {
    title: 'create a DNSEndpoint without a mark',
    says: 'notes on every output',
    attempt: ({ tenant }) => ({ verb: 'create', on: dnsEndpoint(tenant, 'stolen', endpoints(record('CNAME'))) }),
  },
  {
    title: 'create a DNSEndpoint that is owned by a kind without records',
    says: 'notes on every output',
    attempt: (scene) => {
      const metadata = mark(scene, 'TunnelCredential')
      return { verb: 'create', on: dnsEndpoint(scene.tenant, 'stolen', { ...endpoints(record('CNAME')), metadata }) }
    },
  },
  ...['A', 'TXT', 'MX'].map(
    (type): Case => ({
      title: `publish a record of type ${type}`,
      token: 'namespace',
      says: 'publishes only CNAME and NS records',
      attempt: (scene) => {
        const metadata = mark(scene, 'ReservedDomain')
        const target = type === 'A' ? '192.0.2.1' : type === 'MX' ? '10 evil.example.com' : 'token'
        return {
          verb: 'create',
          on: dnsEndpoint(scene.tenant, 'stolen', { ...endpoints(record(type, target)), metadata }),
        }
      },
    }),
  ),
  ...['shop.example.net', 'example.com', 'evil-example.com', '_acme-challenge.shop.example.net'].map(
    (dnsName): Case => ({
      title: `publish a record of ${dnsName}, which is no domain to publish`,
      token: 'namespace',
      says: 'only for the domains that DNSEndpoints may publish',
      attempt: (scene) => {
        const metadata = mark(scene, 'ReservedDomain')
        const published = endpoints({ ...record('CNAME'), dnsName })
        return { verb: 'create', on: dnsEndpoint(scene.tenant, 'stolen', { ...published, metadata }) }
      },
    }),
  ),
  {
    title: 'create a DNSEndpoint with every mark in kube-system',
    says: 'into protected namespaces',
    attempt: (scene) => {
      const metadata = mark(scene, 'ReservedDomain')
      return { verb: 'create', on: dnsEndpoint('kube-system', 'stolen', { ...endpoints(record('CNAME')), metadata }) }
    },
  },
  ...(['merge', 'json', 'apply', 'delete'] as const).map(
    (verb): Case => ({
      title: `${verb === 'delete' ? verb : `patch (${verb})`} a DNSEndpoint of somebody`,
      token: 'namespace',
      says: 'changes and deletes only outputs that a resource of Culvert owns',
      given: ({ tenant }) => [dnsEndpoint(tenant, `foreign-${verb}`, endpoints(record('CNAME', 'good.example.com')))],
      attempt: (scene) => {
        const metadata = mark(scene, 'ReservedDomain')
        const on = dnsEndpoint(scene.tenant, `foreign-${verb}`, { ...endpoints(record('CNAME')), metadata })
        const body = [{ op: 'replace', path: '/spec/endpoints/0/targets/0', value: 'evil.example.com' }]
        return verb === 'json' ? { verb, on, body } : { verb, on }
      },
    }),
  ),
  {
    title: 'turn a record of an output into another type',
    says: 'publishes only CNAME and NS records',
    given: (scene) => {
      return [dnsEndpoint(scene.tenant, 'output', { ...endpoints(record('CNAME')), metadata: note('ReservedDomain') })]
    },
    attempt: ({ tenant }) => {
      return { verb: 'merge', on: dnsEndpoint(tenant, 'output'), body: endpoints(record('TXT', 'token')) }
    },
  },
]

const leaseCases: readonly Case[] = [
  {
    title: 'create a Lease of another name in its own namespace',
    token: 'namespace',
    says: 'only its own Lease',
    attempt: ({ home }) => ({ verb: 'create', on: lease(home, 'stolen') }),
  },
  {
    title: 'take the Lease of another controller in its own namespace',
    says: 'only its own Lease',
    given: ({ home }) => [lease(home, 'other')],
    attempt: ({ home }) => ({ verb: 'merge', on: lease(home, 'other'), body: { spec: { holderIdentity: 'thief' } } }),
  },
  {
    title: 'take a Lease of kube-system',
    by: 'rbac',
    given: () => [lease('kube-system', 'some-controller')],
    attempt: () => ({
      verb: 'merge',
      on: lease('kube-system', 'some-controller'),
      body: { spec: { holderIdentity: 'thief' } },
    }),
  },
  {
    title: 'take a Lease of kube-system, with more rights than it should have',
    token: 'cluster-admin',
    says: 'only its own Lease',
    given: () => [lease('kube-system', 'some-controller')],
    attempt: () => ({
      verb: 'merge',
      on: lease('kube-system', 'some-controller'),
      body: { spec: { holderIdentity: 'thief' } },
    }),
  },
  {
    title: "delete the operator's Lease",
    by: 'rbac',
    given: ({ home }) => [lease(home, 'culvert')],
    attempt: ({ home }) => ({ verb: 'delete', on: lease(home, 'culvert') }),
  },
]

function event(namespace: string, fields: Fields): Attempt {
  return {
    verb: 'create',
    on: thing('/apis/events.k8s.io/v1', 'events', 'stolen', namespace, {
      kind: 'Event',
      eventTime: '2026-12-01T00:00:00.000000Z',
      reportingController: 'culvert.dev/operator',
      reportingInstance: 'thief',
      type: 'Warning',
      reason: 'Stolen',
      action: 'Stolen',
      regarding: { apiVersion: 'culvert.dev/v1alpha1', kind: 'Account', name: 'default', namespace },
      ...fields,
    }),
  }
}

const eventCases: readonly Case[] = [
  {
    title: 'record an Event in the name of another controller',
    says: 'events.reportingController',
    attempt: ({ tenant }) => event(tenant, { reportingController: 'kubelet' }),
  },
  {
    title: 'record an Event about a Pod',
    token: 'namespace',
    says: 'events.regarding.kind',
    attempt: ({ tenant }) => {
      return event(tenant, { regarding: { apiVersion: 'v1', kind: 'Pod', name: 'web', namespace: tenant } })
    },
  },
]

const thief = { kind: 'User', name: 'thief', apiGroup: 'rbac.authorization.k8s.io' }

/**
 * Metadata of an object whose owner does not exist: the garbage collector deletes it. Some API servers require the
 * right to delete of a client that sets an owner.
 */
const NO_OWNER: Fields = {
  metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' }] },
}

const AGGREGATE = 'rbac.authorization.k8s.io/aggregate-to-admin'
const BINDINGS: readonly (readonly [what: string, change: Fields, field: string])[] = [
  ['add itself to the subjects', { subjects: [thief] }, 'subjects'],
  ['take all subjects out', { subjects: null }, 'subjects'],
  ['set a finalizer of another name', { metadata: { finalizers: ['example.com/stay'] } }, 'metadata.finalizers'],
  ['label it as part of a role', { metadata: { labels: { [AGGREGATE]: 'true' } } }, 'metadata.labels'],
]

const bindings: readonly Case[] = [
  ...BINDINGS.map(
    ([what, body, field]): Case => ({
      title: `patch the RoleBinding that it holds: ${what}`,
      token: 'namespace',
      says: `rolebindings.${field}`,
      attempt: ({ tenant, hold }) => ({ verb: 'merge', on: roleBinding(tenant, hold), body }),
    }),
  ),
  {
    title: 'have the RoleBinding that it holds collected as garbage',
    token: 'cluster-admin',
    says: 'rolebindings.metadata.ownerReferences',
    given: ({ tenant, hold }) => [
      roleBinding(tenant, hold, {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      }),
    ],
    attempt: ({ tenant, hold }) => ({ verb: 'merge', on: roleBinding(tenant, hold), body: NO_OWNER }),
  },
  {
    title: 'patch another RoleBinding',
    token: 'namespace',
    by: 'rbac',
    attempt: ({ tenant }) => ({ verb: 'merge', on: roleBinding(tenant, 'culvert'), body: { subjects: [thief] } }),
  },
]

/** Fields of a resource that people write, written by a thief instead. */
const RESOURCES: readonly (readonly [
  what: string,
  on: (scene: Scene) => ReturnType<typeof resource>,
  change: Fields,
])[] = [
  [
    'have an Account spend more requests',
    ({ tenant }) => resource('Account', 'accounts', tenant, 'default'),
    { spec: { rateLimit: { requestsPerMinute: 6000 } } },
  ],
  [
    'have an Account take any Secret for its key',
    ({ tenant }) => resource('Account', 'accounts', tenant, 'default'),
    { spec: { apiKeySecretRef: { name: 'other' } } },
  ],
  [
    'confirm another identity of an Account',
    ({ tenant }) => resource('Account', 'accounts', tenant, 'default'),
    { metadata: { annotations: { 'culvert.dev/confirm-identity-requested-at': 'now' } } },
  ],
  [
    'open an IPPolicy',
    ({ tenant }) => resource('IPPolicy', 'ippolicies', tenant),
    { spec: { rules: [{ cidr: '0.0.0.0/0', action: 'Allow' }] } },
  ],
  [
    'have a TunnelCredential write elsewhere',
    ({ tenant }) => resource('TunnelCredential', 'tunnelcredentials', tenant),
    { spec: { output: { secret: { name: 'other' } } } },
  ],
  [
    'hold up the deletion of a resource',
    ({ tenant }) => resource('IPPolicy', 'ippolicies', tenant),
    { metadata: { finalizers: ['example.com/stay'] } },
  ],
  [
    'label a resource for another controller',
    ({ tenant }) => resource('IPPolicy', 'ippolicies', tenant),
    { metadata: { labels: { 'argocd.argoproj.io/instance': 'app' } } },
  ],
]

const resources: readonly Case[] = [
  ...RESOURCES.map(
    ([what, on, body]): Case => ({
      title: what,
      token: 'namespace',
      says: 'the operator of Culvert does not write ',
      attempt: (scene) => ({ verb: 'merge', on: on(scene), body }),
    }),
  ),
  {
    title: 'have a resource collected as garbage',
    token: 'cluster-admin',
    says: 'the operator of Culvert does not write ',
    attempt: ({ tenant }) => ({ verb: 'merge', on: resource('IPPolicy', 'ippolicies', tenant), body: NO_OWNER }),
  },
  {
    title: 'have a ClusterAccount take any Secret for its key',
    says: 'the operator of Culvert does not write ',
    attempt: () => ({
      verb: 'merge',
      on: resource('ClusterAccount', 'clusteraccounts', undefined, 'shared'),
      body: { spec: { apiKeySecretRef: { name: 'other' } } },
    }),
  },
  {
    title: 'create an Account',
    by: 'rbac',
    attempt: ({ tenant }) => ({ verb: 'create', on: resource('Account', 'accounts', tenant, 'stolen') }),
  },
  {
    title: 'delete a resource',
    by: 'rbac',
    attempt: ({ tenant }) => ({ verb: 'delete', on: resource('IPPolicy', 'ippolicies', tenant) }),
  },
]

const CONTAINERS = [{ name: 'a', image: 'a' }]
const selector = { matchLabels: { app: 'stolen' } }
const template = { metadata: { labels: { app: 'stolen' } }, spec: { containers: CONTAINERS } }

/** Kinds that Tunnels consist of, without the marks of what one owns. */
const UNMARKED = 'notes on every output'

/**
 * Requests that the operator never sends: refused for lack of the right, and by the policy if it was granted the right
 * by mistake.
 */
const NEVER: readonly (readonly [what: string, attempt: (scene: Scene) => Attempt, says?: string])[] = [
  [
    'run a Pod',
    ({ tenant }) => ({
      verb: 'create',
      on: thing('/api/v1', 'pods', 'stolen', tenant, { kind: 'Pod', spec: { containers: CONTAINERS } }),
    }),
  ],
  [
    'run a Deployment',
    ({ tenant }) => ({
      verb: 'create',
      on: thing('/apis/apps/v1', 'deployments', 'stolen', tenant, { kind: 'Deployment', spec: { selector, template } }),
    }),
    UNMARKED,
  ],
  [
    'ask for the token of another ServiceAccount',
    ({ tenant }) => ({
      verb: 'create',
      on: thing('/api/v1', 'serviceaccounts', 'default', tenant, {}),
      subresource: 'token',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    }),
  ],
  [
    'bind somebody to cluster-admin',
    () => ({
      verb: 'create',
      on: thing(RBAC, 'clusterrolebindings', 'stolen', undefined, {
        kind: 'ClusterRoleBinding',
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [thief],
      }),
    }),
  ],
  [
    'create a Role',
    ({ tenant }) => ({ verb: 'create', on: thing(RBAC, 'roles', 'stolen', tenant, { kind: 'Role', rules: [] }) }),
  ],
  [
    'create a ServiceAccount',
    ({ tenant }) => ({
      verb: 'create',
      on: thing('/api/v1', 'serviceaccounts', 'stolen', tenant, { kind: 'ServiceAccount' }),
    }),
    UNMARKED,
  ],
  ...agentAttempts,
  ...partAttempts,
  [
    'create an SSHCredential that no Tunnel owns',
    ({ tenant }) => ({
      verb: 'create',
      on: thing(`/apis/${GROUP}/${VERSION}`, 'sshcredentials', 'stolen', tenant, {
        kind: 'SSHCredential',
        spec: { publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGWj5WsELK+Ia2pYS7rEcYT1J3hZz5UlEu40Jb6MKuWp' },
      }),
    }),
    'except the credentials of Tunnels',
  ],
  ...['no owner', 'a Tunnel'].map((owner): (typeof NEVER)[number] => [
    `create an Edge of ${owner}`,
    (scene) => ({
      verb: 'create',
      on: thing(`/apis/${GROUP}/${VERSION}`, 'edges', 'stolen', scene.tenant, {
        kind: 'Edge',
        ...(owner === 'a Tunnel' ? { metadata: mark(scene, 'Tunnel') } : {}),
        spec: { protocol: 'TCP' },
      }),
    }),
    'the objects of Services',
  ]),
  [
    'define a new kind of resource',
    () => ({
      verb: 'create',
      on: thing('/apis/apiextensions.k8s.io/v1', 'customresourcedefinitions', 'stolens.example.com', undefined, {
        kind: 'CustomResourceDefinition',
        spec: {
          group: 'example.com',
          names: { kind: 'Stolen', plural: 'stolens' },
          scope: 'Cluster',
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
        },
      }),
    }),
  ],
  [
    'label a namespace',
    ({ tenant }) => ({
      verb: 'merge',
      on: thing('/api/v1', 'namespaces', tenant, undefined, {}),
      body: { metadata: { labels: { stolen: 'yes' } } },
    }),
  ],
]

const never: readonly Case[] = NEVER.flatMap(([what, attempt, says]): readonly Case[] => [
  { title: what, by: 'rbac', attempt },
  {
    title: `${what}, with more rights than it should have`,
    token: 'cluster-admin',
    says: says ?? 'the operator of Culvert never does',
    attempt,
  },
])

const service = (scene: Scene, name: string, spec: Fields): Thing => {
  return thing('/api/v1', 'services', name, scene.tenant, { kind: 'Service', spec: { ports: [{ port: 80 }], ...spec } })
}
const foreign = (scene: Scene) =>
  service(scene, 'elsewhere', { type: 'LoadBalancer', loadBalancerClass: 'example.com/other' })
const served = (scene: Scene) =>
  service(scene, 'served', { type: 'LoadBalancer', loadBalancerClass: 'culvert.dev/edge' })
const internal = (scene: Scene) => service(scene, 'internal', { type: 'ClusterIP' })

const condition = { status: 'True', reason: 'Any', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }
const OWN_CONDITION = { type: 'culvert.dev/ready', ...condition }
const OF_OTHERS = 'writes the status only of Services of its classes'
const reached = (...ingress: readonly Fields[]): Fields => ({ status: { loadBalancer: { ingress } } })
const annotated = (key: string, value: string | null): Fields => ({ metadata: { annotations: { [key]: value } } })

/** Writes of the status of a Service, which store its metadata too. */
const STATUSES: readonly (readonly [what: string, on: (scene: Scene) => Thing, body: Fields, says: string])[] = [
  [
    'say where a Service of another load balancer is reached',
    foreign,
    reached({ hostname: 'evil.example.com' }),
    OF_OTHERS,
  ],
  [
    'mark a Service of another load balancer as served',
    foreign,
    { status: { conditions: [OWN_CONDITION] } },
    OF_OTHERS,
  ],
  [
    'annotate a Service of another load balancer',
    foreign,
    annotated('service.beta.kubernetes.io/aws-load-balancer-internal', 'false'),
    OF_OTHERS,
  ],
  ['have any Service scraped', internal, annotated('prometheus.io/scrape', 'true'), OF_OTHERS],
  [
    'have any Service published in DNS',
    internal,
    annotated('external-dns.alpha.kubernetes.io/hostname', 'login.example.com'),
    OF_OTHERS,
  ],
  [
    'give a Service a condition of somebody else',
    served,
    { status: { conditions: [{ type: 'example.com/ready', ...condition }] } },
    'services.status.conditions',
  ],
  [
    'open a Service by its annotation',
    served,
    annotated('culvert.dev/ip-policies', null),
    'services.metadata.annotations',
  ],
  ['label a Service', served, { metadata: { labels: { app: 'bank' } } }, 'services.metadata.labels'],
  ['hold a Service', served, { metadata: { finalizers: ['culvert.dev/remote'] } }, 'services.metadata.finalizers'],
  ['have a Service collected', served, NO_OWNER, 'services.metadata.ownerReferences'],
  [
    'have the nodes redirect an address to a Service (CVE-2020-8554)',
    served,
    reached({ ip: '10.0.0.1', ipMode: 'VIP' }),
    'services.status.loadBalancer.ingress',
  ],
  [
    'have the nodes redirect an address, by the default of its mode',
    served,
    reached({ ip: '8.8.8.8' }),
    'services.status.loadBalancer.ingress',
  ],
]

const services: readonly Case[] = STATUSES.map(([title, on, body, says]) => ({
  title,
  token: 'cluster-admin',
  says,
  given: (scene) => [{ ...on(scene), manifest: { ...on(scene).manifest, metadata: restricted(on(scene)) } }],
  attempt: (scene) => ({ verb: 'merge', on: on(scene), subresource: 'status', body }),
}))

/** With the annotation that restricts who may connect. */
function restricted({ manifest }: Thing): Fields {
  return { ...(manifest.metadata as Fields), annotations: { 'culvert.dev/ip-policies': 'office' } }
}

const ofService = (scene: Scene, plural: string, kind: string, name: string, spec: Fields): Attempt => ({
  verb: 'create',
  on: thing(`/apis/${GROUP}/${VERSION}`, plural, name, scene.tenant, {
    kind,
    metadata: {
      labels: { 'app.kubernetes.io/managed-by': 'culvert', 'culvert.dev/service': 'served' },
      annotations: { 'internal.culvert.dev/output-of': 'Service/served' },
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Service', name: 'served', uid: crypto.randomUUID(), controller: true },
      ],
    },
    spec,
  }),
})

/** An Edge of a Service as the operator makes one. */
const EDGE = {
  protocol: 'TCP',
  hostports: [{ type: 'ReservedAddress', reservedAddressRef: { name: 'served-80' } }],
  backend: { enabled: true, name: 'served-80' },
}

/** An Edge of a made-up Service, as the operator creates one. */
export const permittedEdge = (scene: Scene): Attempt => ofService(scene, 'edges', 'Edge', 'served-80', EDGE)

/** Objects of a made-up Service, as the operator never makes them. */
const PARTS: (typeof NEVER)[number][] = [
  [
    'create an Edge of a Service that leads elsewhere',
    (scene) => ofService(scene, 'edges', 'Edge', 'served-80', { ...EDGE, backend: { enabled: true, name: 'bank' } }),
    'edges.spec.backend.name',
  ],
  [
    'create an Edge of a Service with a module that Services do not set',
    (scene) =>
      ofService(scene, 'edges', 'Edge', 'served-80', { ...EDGE, trafficPolicy: { enabled: true, policy: '{}' } }),
    'edges.spec.trafficPolicy',
  ],
  [
    'create an Edge of a Service under the name of another',
    (scene) => ofService(scene, 'edges', 'Edge', 'bank-80', EDGE),
    'names the objects of a Service after the Service',
  ],
  [
    'create a Tunnel of a Service that leads to another Service',
    (scene) =>
      ofService(scene, 'tunnels', 'Tunnel', 'served-80', {
        backendRef: { name: 'served-80' },
        service: { name: 'bank', port: 80 },
      }),
    'tunnels.spec.service.name',
  ],
  [
    'create a Backend of a Service that takes the tunnels of others',
    (scene) =>
      ofService(scene, 'backends', 'Backend', 'served-80', {
        type: 'TunnelGroup',
        tunnelGroup: { labels: { app: 'bank' } },
      }),
    'backends.spec.tunnelGroup.labels.app',
  ],
]

const parts: readonly Case[] = PARTS.map(([title, attempt, says = '']) => {
  return { title, token: 'cluster-admin', says, attempt }
})

/** Attempts of a thief with anything but Secrets and ConfigMaps. */
export const otherCases: readonly Case[] = [
  ...dns,
  ...leaseCases,
  ...eventCases,
  ...bindings,
  ...resources,
  ...services,
  ...parts,
  ...leftPartCases,
  ...never,
]
