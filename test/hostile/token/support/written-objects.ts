import { kinds } from '../../../../src/kinds/index.ts'
import { configMapType, secretType } from '../../../../src/kube/core-types.ts'
import type { ResourceType } from '../../../../src/kube/types.ts'
import type { WantedObject } from '../../../../src/managed/composed/wanted.ts'
import { KindsRegistry, resourceTypeOf } from '../../../../src/managed/kinds-registry.ts'
import { serviceObjects } from '../../../../src/managed/services/objects.ts'
import { serviceType } from '../../../../src/managed/services/service.ts'
import { marks, tunnelCredential, tunnelObjects } from '../../../../src/managed/tunnels/objects.ts'
import { events } from '../../../../src/runtime/events.ts'
import { leases } from '../../../../src/runtime/lease-lock.ts'
import { dnsEndpointType } from '../../../builders/dns-endpoints.ts'
import { kindTests } from '../../../kinds/index.ts'
import type { Fields } from './attempt.ts'

const registry = new KindsRegistry(kinds)

/** An object that the operator writes. */
export interface Written {
  readonly title: string
  readonly type: ResourceType
  readonly subresource?: 'status'
  /** The object, as the operator creates or leaves it. */
  readonly object: Fields
  /** Whether the operator creates such objects; if not, only updates are tried. */
  readonly isCreated: boolean
  /** Whether the operator writes no such object: then the policy refuses it as it is. Default: false. */
  readonly isNeverWritten?: boolean
  /** Whether others show by day what it shows. Default: false. */
  readonly isForNight?: boolean
  /** Whether it is in the operator's own namespace. Default: false. */
  readonly isAtHome?: boolean
}

const CULVERT = 'culvert.dev/v1alpha1'
const FINALIZERS = { finalizers: ['culvert.dev/remote'] }

function owner(kind: string, name: string, apiVersion = CULVERT): Fields {
  return { apiVersion, kind, name, uid: '11111111-1111-1111-1111-111111111111', controller: true }
}

function owned({ type, name, labels, annotations, content }: WantedObject, by: Fields): Written {
  const group = type.group === '' ? '' : `${type.group}/`
  // A field that is null is left out of a create.
  const fields = JSON.parse(JSON.stringify(content), (_key, value) => value ?? undefined) as Fields
  const metadata = { name, labels, annotations, ownerReferences: [by] }
  const object = { apiVersion: `${group}${type.version}`, kind: type.kind, metadata, ...fields }
  return { title: `${type.kind} ${name}`, type, object, isCreated: true }
}

const facts = { name: 'web', namespace: 'default', labels: { app: 'shop' } }
const route = { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } }
const key = { secret: 'web-tunnel-key-1', key: 'id_ed25519' }
const token = { secret: 'web-tunnel-token-1', key: 'token' }

function tunnels(): readonly Written[] {
  const gateway = { address: 'ssh.example.com:22', hostKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB'] }
  const own = tunnelObjects(route, { ...facts, key, agent: { type: 'own', image: 'culvert:test', gateway } })
  const spec = {
    image: 'registry.example.com/agents/own:1',
    args: ['$(CULVERT_TOKEN)'],
    env: [{ name: 'A', value: 'b' }],
    readinessProbe: { tcpSocket: { port: 80 } },
  }
  const foreign = tunnelObjects(
    { ...route, agent: spec },
    { ...facts, key: token, agent: { type: 'foreign', spec, version: 'cr_1' } },
  )
  const by = owner('Tunnel', 'web')
  const accountRef = { kind: 'Account', name: 'default' } as const
  const credentials = (['key', 'token'] as const).map((form) => {
    const type = registry.resourceType(form === 'key' ? 'SSHCredential' : 'TunnelCredential')
    return tunnelCredential(form, { tunnel: 'web', revision: 1, labels: facts.labels, accountRef, type })
  })
  const secret: WantedObject = {
    type: secretType,
    name: 'web-tunnel-key-1',
    ...marks('web'),
    content: { type: 'Opaque', data: { id_ed25519: 'a2V5', 'id_ed25519.pub': 'a2V5' } },
  }
  const deployment = foreign.filter(({ type }) => type.kind === 'Deployment')
  return [...own, secret, ...credentials]
    .map((each) => owned(each, by))
    .concat(deployment.map((each) => ({ ...owned(each, by), title: 'Deployment of another agent', isForNight: true })))
}

function services(): readonly Written[] {
  return [{}, { 'culvert.dev/domain': 'shop.example.com', 'culvert.dev/ip-policies': 'office' }].flatMap(
    (annotations) => {
      const uid = '11111111-1111-1111-1111-111111111111'
      const service = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'shop', namespace: 'default', uid, resourceVersion: '1', annotations },
        spec: { type: 'LoadBalancer', loadBalancerClass: 'culvert.dev/edge', ports: [{ port: 80 }] },
      }
      const wanted = serviceObjects(service as never, { maxPorts: 16 }, (kind) => registry.resourceType(kind))
      if ('refused' in wanted) throw new Error(wanted.refused.join())
      const by = owner('Service', 'shop', 'v1')
      const how = 'culvert.dev/domain' in annotations ? 'with a domain' : 'with an address'
      return wanted.ports
        .flatMap(({ objects }) => objects.map((each) => owned(each, by)))
        .map((each) => ({
          ...each,
          title: `${each.title} ${how}`,
        }))
    },
  )
}

function output(type: ResourceType, kind: string, fields: Fields): Written {
  const name = `output-of-${kind.toLowerCase()}`
  const metadata = {
    name,
    labels: { 'app.kubernetes.io/managed-by': 'culvert' },
    annotations: { 'internal.culvert.dev/output-of': `${kind}/x` },
    ownerReferences: [owner(kind, 'x')],
  }
  const group = type.group === '' ? '' : `${type.group}/`
  const object = { apiVersion: `${group}${type.version}`, kind: type.kind, metadata, ...fields }
  return { title: `${type.kind} of a ${kind}`, type, object, isCreated: true }
}

const outputs: readonly Written[] = [
  output(secretType, 'APIKey', { type: 'Opaque', data: { token: 'dG9rZW4=' } }),
  output(configMapType, 'SSHCertificateAuthority', { data: { 'ca.pub': 'ssh-ed25519 AAAA' } }),
  output(dnsEndpointType, 'ReservedDomain', {
    spec: { endpoints: [{ dnsName: 'shop.example.com', recordType: 'CNAME', targets: ['a.example.net'] }] },
  }),
]

function whole(type: ResourceType, name: string, fields: Fields): Written {
  const group = type.group === '' ? '' : `${type.group}/`
  const object = { apiVersion: `${group}${type.version}`, kind: type.kind, metadata: { name }, ...fields }
  return { title: `${type.kind} ${name}`, type, object, isCreated: true }
}

const runtime: readonly Written[] = [
  { ...whole(leases, 'culvert', { spec: { holderIdentity: 'a', leaseDurationSeconds: 15 } }), isAtHome: true },
  whole(events, 'culvert.1', {
    eventTime: '2026-12-01T00:00:00.000000Z',
    reportingController: 'culvert.dev/operator',
    reportingInstance: 'culvert-1',
    type: 'Warning',
    reason: 'Failed',
    action: 'Failed',
    note: 'a note',
    regarding: { apiVersion: CULVERT, kind: 'Account', name: 'default', namespace: 'default' },
  }),
]

const serviceSpec = { type: 'LoadBalancer', loadBalancerClass: 'culvert.dev/edge', ports: [{ port: 80 }] }
const ofService: readonly Written[] = [
  { ...whole(serviceType, 'main', { spec: serviceSpec }), isCreated: false, isNeverWritten: true },
  {
    ...whole(serviceType, 'served', {
      spec: serviceSpec,
      status: { loadBalancer: { ingress: [{ hostname: 'a.example.com', ports: [{ port: 80, protocol: 'TCP' }] }] } },
    }),
    title: 'status of a Service',
    subresource: 'status',
    isCreated: false,
  },
]

/** The policy is the same for the other kinds. */
const BY_DAY: ReadonlySet<string> = new Set(['Account', 'Edge', 'TunnelSession', 'TunnelSessionCommand', 'Tunnel'])

/** Resources that people write: of their specs the operator writes nothing. */
function resources(): readonly Written[] {
  return kinds.flatMap((descriptor): readonly Written[] => {
    const { kind, group, version, scope } = descriptor.definition
    const spec = kindTests.find((each) => each.kind === kind)?.accepted ?? {}
    const held = descriptor.role === 'managed' || descriptor.role === 'account' ? FINALIZERS : {}
    const bare = { apiVersion: `${group}/${version}`, kind, spec }
    const object = { ...bare, metadata: { name: `held-${kind.toLowerCase()}`, ...held } }
    const shown = { ...bare, metadata: { name: `shown-${kind.toLowerCase()}` } }
    const isForNight = !BY_DAY.has(kind)
    const isNeverWritten = descriptor.role === 'command' || descriptor.role === 'composed'
    const type = { ...resourceTypeOf(descriptor), namespaced: scope === 'Namespaced' }
    return [
      {
        title: `${kind} of somebody`,
        type,
        object,
        isCreated: descriptor.role === 'mirror',
        isNeverWritten,
        isForNight,
      },
      { title: `status of a ${kind}`, type, object: shown, subresource: 'status', isCreated: false, isForNight },
    ]
  })
}

/** One object of each shape that the operator writes. */
export function writtenObjects(): readonly Written[] {
  return [...tunnels(), ...services(), ...outputs, ...runtime, ...ofService, ...resources()]
}
