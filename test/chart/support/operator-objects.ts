import { kinds } from '../../../src/kinds/index.ts'
import type { ResourceType } from '../../../src/kube/types.ts'
import type { ManagedDescriptor } from '../../../src/managed/descriptor/descriptor.ts'
import { KindsRegistry, resourceTypeOf } from '../../../src/managed/kinds-registry.ts'
import { OUTPUT_OF, REMOTE_ID, SERVICE_PROBLEM } from '../../../src/managed/names.ts'
import { LABELS } from '../../../src/managed/ownership.ts'
import { SERVICE, SERVICE_CLASS, SERVICE_READY, serviceType } from '../../../src/managed/services/service.ts'
import { marks, tunnelCredential, tunnelObjects } from '../../../src/managed/tunnels/objects.ts'
import type { TunnelFacts } from '../../../src/managed/tunnels/pod.ts'
import { events } from '../../../src/runtime/events.ts'
import { leases } from '../../../src/runtime/lease-lock.ts'
import type { Request, Sent } from './admission.ts'
import { NAMESPACE, RELEASE } from './helm.ts'

/** Objects that the operator writes, with as much in them as `many` says. */

const registry = new KindsRegistry(kinds)
const SHOP = 'shop'
const UID = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
const VERSION = 'culvert.dev/v1alpha1'
const TIME = '2026-01-01T00:00:00Z'

/** How much there is of everything that may be in an object more than once. */
export interface Many {
  readonly items: number
  readonly ports: number
  readonly bytes: number
}

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i))
const owner = (kind: string, name: string, apiVersion = VERSION) => ({
  apiVersion,
  kind,
  name,
  uid: UID,
  controller: true,
})
const ofTunnel = owner('Tunnel', 'web')
const ofService = owner('Service', 'web', 'v1')
const account = { kind: 'ClusterAccount', name: 'default' } as const

type Part = Pick<ResourceType, 'group' | 'version' | 'kind' | 'plural'>

function sent({ group, version, kind }: Part, metadata: Sent['metadata'], content: object = {}): Sent {
  const apiVersion = group === '' ? version : `${group}/${version}`
  return { apiVersion, kind, metadata: { namespace: SHOP, ...metadata }, ...content }
}

const created = (type: Part, metadata: Sent['metadata'], content: object = {}): Request => ({
  resource: type.plural,
  object: sent(type, metadata, content),
})

/** A write of a resource that somebody else has created. */
function changed(type: Part, more: Sent['metadata'], content: object = {}): Request {
  const metadata = { name: 'web', uid: UID, generation: 2 }
  return {
    resource: type.plural,
    oldObject: sent(type, metadata, content),
    object: sent(type, { ...metadata, ...more }, content),
  }
}

const core = (kind: string, plural: string): Part => ({ group: '', version: 'v1', kind, plural })
const secret = core('Secret', 'secrets')

/** The Tunnel's objects: with Culvert's own agents, and with others of `spec.agent`. */
export function tunnelWrites({ items }: Many, image: string): readonly Request[] {
  const facts = (agent: TunnelFacts['agent']): TunnelFacts => ({
    name: 'web',
    namespace: SHOP,
    labels: Object.fromEntries(times(Math.min(items, 8), (i) => [`label-${i}`, 'x'.repeat(40)])),
    key: { secret: 'web-tunnel-token-1', key: 'token' },
    agent,
  })
  const own = facts({
    type: 'own',
    image,
    gateway: { address: 'ssh63.example.com:22', hostKeys: [...times(items, () => `ssh-ed25519 ${'A'.repeat(68)}`)] },
  })
  const foreign = facts({
    type: 'foreign',
    version: 'v1',
    spec: {
      image: 'registry.example.com/agents63/agent:v1',
      command: ['agent'],
      args: [...times(items, (i) => `--label=$(CULVERT_LABELS)-${i}`)],
      env: [
        ...times(items, (i) => ({ name: `VARIABLE_${i}`, value: 'x'.repeat(100) })),
        { name: 'SETTING', configMapKeyRef: { name: 'settings', key: 'setting' } },
      ],
      readinessProbe: { httpGet: { path: '/readyz', port: 8080 } },
      livenessProbe: { tcpSocket: { port: 8080 } },
    } as never,
  })
  const spec = { backendRef: { name: 'web' }, service: { name: 'web', port: 80 } }
  const workloads = [own, foreign].flatMap((each) => tunnelObjects(spec, each))
  const credentials = (['key', 'token'] as const).map((form) => {
    const type = registry.resourceType(form === 'key' ? 'SSHCredential' : 'TunnelCredential')
    return tunnelCredential(form, { tunnel: 'web', revision: 1, labels: own.labels, accountRef: account, type })
  })
  return [...workloads, ...credentials].map(({ type, name, labels, annotations, content }) =>
    created(type, { name, labels, annotations, ownerReferences: [ofTunnel] }, content),
  )
}

/** What a Service consists of, and its status. */
export function serviceWrites({ items, ports }: Many): readonly Request[] {
  const description = `Service ${SHOP}/web, port 80`
  const part = (kind: string, name: string, spec: object, annotations: object = {}): Request =>
    created(
      registry.resourceType(kind),
      {
        name,
        labels: { ...LABELS, [SERVICE]: 'web' },
        annotations: { [OUTPUT_OF]: 'Service/web', ...annotations },
        ownerReferences: [ofService],
      },
      { spec: { ...spec, ...(kind === 'Tunnel' ? {} : { accountRef: account }) } },
    )
  const hash = '0123456789'
  const edge = {
    description,
    protocol: 'TLS',
    hostports: [{ type: 'ReservedDomain', reservedDomainRef: { name: `web-${hash}` }, port: 443 }],
    tlsTermination: { enabled: true, terminateAt: 'Edge' },
    backend: { enabled: true, name: 'web-80' },
    ipRestriction: { enabled: true, ipPolicyRefs: times(items, (i) => ({ name: `policy-${i}` })) },
  }
  const service = (status: object): Sent =>
    sent(
      serviceType,
      { name: 'web', uid: UID },
      {
        spec: {
          type: 'LoadBalancer',
          loadBalancerClass: SERVICE_CLASS,
          ports: times(ports, (i) => ({ port: 1000 + i, name: `p${i}`, protocol: 'TCP', targetPort: 8080 })),
        },
        status,
      },
    )
  const ready = {
    type: SERVICE_READY,
    status: 'True',
    reason: 'Ready',
    message: 'x'.repeat(1000),
    lastTransitionTime: TIME,
  }
  const ingress = times(ports, (i) => ({
    ...(i % 2 === 0 ? { hostname: `host-${i}.example.com` } : { ip: `203.0.113.${i}`, ipMode: 'Proxy' }),
    ports: times(ports, (port) => ({ port: 1000 + port, protocol: 'TCP' })),
  }))
  return [
    part('ReservedAddress', 'web-80', { description }),
    part('ReservedDomain', `web-${hash}`, {
      domain: 'www.example.com',
      certificate: { type: 'Managed', managed: { authority: 'LetsEncrypt', privateKeyType: 'ECDSA' } },
    }),
    part('Backend', 'web-80', {
      type: 'TunnelGroup',
      tunnelGroup: { labels: { [SERVICE]: `${SHOP}/web/80/${UID}` } },
      description,
    }),
    part('Edge', 'web-80', edge, { [SERVICE_PROBLEM]: 'x'.repeat(4000) }),
    part('Tunnel', 'web-80', { backendRef: { name: 'web-80' }, service: { name: 'web', port: 80 } }),
    {
      resource: serviceType.plural,
      subresource: 'status',
      oldObject: service({ loadBalancer: {}, conditions: [] }),
      object: service({ loadBalancer: { ingress }, conditions: [ready] }),
    },
  ]
}

/** What resources write their outputs into, and the operator's own Secrets. */
export function outputWrites({ items, bytes }: Many): readonly Request[] {
  const outputOf = (kind: string) => ({
    name: 'web',
    labels: LABELS,
    annotations: { [OUTPUT_OF]: `${kind}/web` },
    ownerReferences: [owner(kind, 'web')],
  })
  const writer = (writes: (each: ManagedDescriptor) => boolean): string => {
    return registry.managed.find(writes)?.definition.kind ?? ''
  }
  const data = { token: Buffer.alloc((bytes * 3) / 4, 'x').toString('base64') }
  const records = times(items, (i) => ({
    dnsName: `www-${i}.apps63.example.com`,
    recordType: 'CNAME',
    targets: ['edge.example.net'],
    recordTTL: 300,
  }))
  const dnsEndpoint = { group: 'externaldns.k8s.io', version: 'v1alpha1', kind: 'DNSEndpoint', plural: 'dnsendpoints' }
  const key = { id_ed25519: data.token, 'id_ed25519.pub': '' }
  return [
    created(secret, outputOf(writer(({ output }) => output !== undefined)), { type: 'Opaque', data }),
    created(
      secret,
      { name: 'web-tunnel-key-1', ...marks('web'), ownerReferences: [ofTunnel] },
      { type: 'Opaque', data: key },
    ),
    created(
      secret,
      { name: `culvert-key-${UID}`, namespace: NAMESPACE, labels: LABELS },
      { type: 'Opaque', immutable: true, data: { apiKey: data.token } },
    ),
    created(core('ConfigMap', 'configmaps'), outputOf(writer(({ output }) => output?.type === 'derived')), { data }),
    created(dnsEndpoint, outputOf(writer(({ companion }) => companion !== undefined)), {
      spec: { endpoints: records },
    }),
  ]
}

/** Statuses, finalizers and bookkeeping of Culvert's kinds. */
export function resourceWrites({ items, bytes }: Many): readonly Request[] {
  const spec = { labels: Object.fromEntries(times(items, (i) => [`label-${i}`, 'x'])) }
  const status = { conditions: times(items, (i) => ({ type: `C${i}`, message: 'x'.repeat(bytes / items) })) }
  const held = { finalizers: ['culvert.dev/remote'] }
  const bookkeeping = { ...held, annotations: { [REMOTE_ID]: 'x'.repeat(200) } }
  const statuses = registry.all.map((descriptor): Request => {
    const { object, ...rest } = changed(resourceTypeOf(descriptor), {}, { spec })
    return { ...rest, subresource: 'status', object: { ...(object as Sent), status } }
  })
  return [
    ...statuses,
    ...registry.accounts.map((each) => changed(resourceTypeOf(each), held, { spec })),
    ...registry.managed.map((each) => changed(resourceTypeOf(each), bookkeeping, { spec })),
    ...registry.mirrors.map((each) =>
      created(
        resourceTypeOf(each),
        {
          name: 'web',
          labels: Object.fromEntries(times(items, (i) => [`culvert.dev/label-${i}`, 'x'])),
          ownerReferences: times(items, () => ({ apiVersion: VERSION, ...account, uid: UID })),
        },
        { spec: {} },
      ),
    ),
  ]
}

/** What the operator writes about itself. */
export function runtimeWrites({ items, bytes }: Many): readonly Request[] {
  const review = (group: string, kind: string, plural: string, spec: object): Request =>
    created({ group, version: 'v1', kind, plural }, { namespace: undefined }, { spec })
  const time = '2026-01-01T00:00:00.000000Z'
  const regarding = { apiVersion: VERSION, kind: 'Edge', name: 'web', namespace: SHOP, uid: UID, resourceVersion: '1' }
  const lease = { leaseDurationSeconds: 15, acquireTime: time, leaseTransitions: 1 }
  const leaseMetadata = { name: RELEASE, namespace: NAMESPACE }
  const holding = { ...lease, holderIdentity: 'x'.repeat(200), renewTime: time }
  return [
    created(
      events,
      { name: 'web.1' },
      {
        regarding,
        eventTime: time,
        reportingController: 'culvert.dev/operator',
        reportingInstance: 'culvert-0',
        type: 'Warning',
        reason: 'x'.repeat(128),
        action: 'x'.repeat(128),
        note: 'x'.repeat(1024),
      },
    ),
    {
      resource: leases.plural,
      oldObject: sent(leases, leaseMetadata, { spec: { ...lease, holderIdentity: 'other', renewTime: time } }),
      object: sent(leases, leaseMetadata, { spec: holding }),
    },
    review('authentication.k8s.io', 'TokenReview', 'tokenreviews', { token: 'x'.repeat(bytes) }),
    review('authorization.k8s.io', 'SubjectAccessReview', 'subjectaccessreviews', {
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
      user: 'system:serviceaccount:monitoring:prometheus',
      groups: times(items, (i) => `group-${i}`),
      uid: UID,
      extra: Object.fromEntries(times(items, (i) => [`extra-${i}`, ['x'.repeat(100)]])),
    }),
    changed(
      { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'RoleBinding', plural: 'rolebindings' },
      { name: `${NAMESPACE}-${RELEASE}-hold`, finalizers: ['culvert.dev/remote'] },
      { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'x' } },
    ),
  ]
}

/** What others have written into the metadata of an object, which stays. */
export interface Foreign {
  readonly annotations: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  readonly ownerReferences: readonly object[]
  readonly finalizers: readonly string[]
}

/** The write of an object into which others have written too: an update, of a stored object if it is one. */
export function beside(foreign: Foreign, { object, oldObject = object, ...rest }: Request): Request {
  const among = (each: Sent): Sent => {
    const {
      annotations,
      labels,
      ownerReferences = [],
      finalizers = [],
      ...metadata
    } = each.metadata as Partial<Foreign>
    return {
      ...each,
      metadata: {
        ...metadata,
        annotations: { ...foreign.annotations, ...annotations },
        labels: { ...foreign.labels, ...labels },
        ownerReferences: [...ownerReferences, ...foreign.ownerReferences],
        finalizers: [...foreign.finalizers, ...finalizers],
      },
    }
  }
  return { ...rest, ...(object && { object: among(object) }), ...(oldObject && { oldObject: among(oldObject) }) }
}
