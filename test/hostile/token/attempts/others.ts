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
  thing,
} from '../support/attempt.ts'
import { agentAttempts } from './agents.ts'

const record = (recordType: string, target = 'evil.example.com'): Fields => ({
  dnsName: 'shop.example.com',
  recordType,
  targets: [target],
})

const endpoints = (...all: readonly Fields[]): Fields => ({ spec: { endpoints: all } })

const dns: readonly Case[] = [
  {
    title: 'create a DNSEndpoint without a mark',
    token: 'cluster',
    by: 'policy',
    says: 'notes on every output',
    attempt: ({ tenant }) => ({ verb: 'create', on: dnsEndpoint(tenant, 'stolen', endpoints(record('CNAME'))) }),
  },
  {
    title: 'create a DNSEndpoint that is owned by a kind without records',
    token: 'cluster',
    by: 'policy',
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
      by: 'policy',
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
      by: 'policy',
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
    token: 'cluster',
    by: 'policy',
    says: 'no outputs into protected namespaces',
    attempt: (scene) => {
      const metadata = mark(scene, 'ReservedDomain')
      return { verb: 'create', on: dnsEndpoint('kube-system', 'stolen', { ...endpoints(record('CNAME')), metadata }) }
    },
  },
  ...(['merge', 'json', 'apply', 'delete'] as const).map(
    (verb): Case => ({
      title: `${verb === 'delete' ? verb : `patch (${verb})`} a DNSEndpoint of somebody`,
      token: 'namespace',
      by: 'policy',
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
    token: 'cluster',
    by: 'policy',
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
    by: 'policy',
    says: 'only its own Lease',
    attempt: ({ home }) => ({ verb: 'create', on: lease(home, 'stolen') }),
  },
  {
    title: 'take the Lease of another controller in its own namespace',
    token: 'cluster',
    by: 'policy',
    says: 'only its own Lease',
    given: ({ home }) => [lease(home, 'other')],
    attempt: ({ home }) => ({ verb: 'merge', on: lease(home, 'other'), body: { spec: { holderIdentity: 'thief' } } }),
  },
  {
    title: 'take a Lease of kube-system',
    token: 'cluster',
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
    by: 'policy',
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
    token: 'cluster',
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
    token: 'cluster',
    by: 'policy',
    says: 'records Events only in its own name',
    attempt: ({ tenant }) => event(tenant, { reportingController: 'kubelet' }),
  },
  {
    title: 'record an Event about a Pod',
    token: 'namespace',
    by: 'policy',
    says: 'records Events only in its own name',
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

const BINDINGS: readonly (readonly [what: string, change: Fields])[] = [
  ['add itself to the subjects', { subjects: [thief] }],
  ['take all subjects out', { subjects: null }],
  ['set a finalizer of another name', { metadata: { finalizers: ['example.com/stay'] } }],
  ['label it as part of a role', { metadata: { labels: { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' } } }],
]

const bindings: readonly Case[] = [
  ...BINDINGS.map(
    ([what, body]): Case => ({
      title: `patch the RoleBinding that it holds: ${what}`,
      token: 'namespace',
      by: 'policy',
      says: 'changes only its own finalizer of RoleBindings',
      attempt: ({ tenant, hold }) => ({ verb: 'merge', on: roleBinding(tenant, hold), body }),
    }),
  ),
  {
    title: 'have the RoleBinding that it holds collected as garbage',
    token: 'cluster-admin',
    by: 'policy',
    says: 'changes only its own finalizer of RoleBindings',
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
      by: 'policy',
      says: 'only its own finalizer and annotations',
      attempt: (scene) => ({ verb: 'merge', on: on(scene), body }),
    }),
  ),
  {
    title: 'have a resource collected as garbage',
    token: 'cluster-admin',
    by: 'policy',
    says: 'only its own finalizer and annotations',
    attempt: ({ tenant }) => ({ verb: 'merge', on: resource('IPPolicy', 'ippolicies', tenant), body: NO_OWNER }),
  },
  {
    title: 'have a ClusterAccount take any Secret for its key',
    token: 'cluster',
    by: 'policy',
    says: 'only its own finalizer and annotations',
    attempt: () => ({
      verb: 'merge',
      on: resource('ClusterAccount', 'clusteraccounts', undefined, 'shared'),
      body: { spec: { apiKeySecretRef: { name: 'other' } } },
    }),
  },
  {
    title: 'create an Account',
    token: 'cluster',
    by: 'rbac',
    attempt: ({ tenant }) => ({ verb: 'create', on: resource('Account', 'accounts', tenant, 'stolen') }),
  },
  {
    title: 'delete a resource',
    token: 'cluster',
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
  [
    'run a Deployment that a Tunnel owns, with an image of its own',
    (scene) => ({
      verb: 'create',
      on: thing('/apis/apps/v1', 'deployments', 'stolen', scene.tenant, {
        kind: 'Deployment',
        metadata: mark(scene, 'Tunnel'),
        spec: { selector, template },
      }),
    }),
    'runs only agents, by images of the administrator',
  ],
  ...agentAttempts,
  [
    'create a ServiceAccount that a Tunnel owns, whose token Pods get',
    (scene) => ({
      verb: 'create',
      on: thing('/api/v1', 'serviceaccounts', 'stolen', scene.tenant, {
        kind: 'ServiceAccount',
        metadata: mark(scene, 'Tunnel'),
      }),
    }),
    'makes only ServiceAccounts whose token no Pod gets',
  ],
  [
    'create an SSHCredential that no Tunnel owns',
    ({ tenant }) => ({
      verb: 'create',
      on: thing(`/apis/${GROUP}/${VERSION}`, 'sshcredentials', 'stolen', tenant, {
        kind: 'SSHCredential',
        spec: { publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGWj5WsELK+Ia2pYS7rEcYT1J3hZz5UlEu40Jb6MKuWp' },
      }),
    }),
    'except for credentials that a Tunnel owns',
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
    'what a Service owns',
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
  { title: what, token: 'cluster', by: 'rbac', attempt },
  {
    title: `${what}, with more rights than it should have`,
    token: 'cluster-admin',
    by: 'policy',
    says: says ?? 'the operator of Culvert never does',
    attempt,
  },
])

const foreignService = ({ tenant }: Scene) =>
  thing('/api/v1', 'services', 'elsewhere', tenant, {
    kind: 'Service',
    spec: { type: 'LoadBalancer', loadBalancerClass: 'example.com/other', ports: [{ port: 80 }] },
  })

const condition = { status: 'True', reason: 'Any', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }

const services: readonly Case[] = (
  [
    [
      'say where a Service of another load balancer is reached',
      { loadBalancer: { ingress: [{ hostname: 'evil.example.com' }] } },
      'says only of Services of its classes',
    ],
    [
      'give a Service a condition of somebody else',
      { conditions: [{ type: 'example.com/ready', ...condition }] },
      'changes only its own condition of Services',
    ],
  ] as const
).map(([title, status, says]) => ({
  title,
  token: 'cluster-admin',
  by: 'policy',
  says,
  given: (scene) => [foreignService(scene)],
  attempt: (scene) => ({ verb: 'merge', on: foreignService(scene), subresource: 'status', body: { status } }),
}))

/** Attempts of a thief with anything but Secrets and ConfigMaps. */
export const otherCases: readonly Case[] = [
  ...dns,
  ...leaseCases,
  ...eventCases,
  ...bindings,
  ...resources,
  ...services,
  ...never,
]
