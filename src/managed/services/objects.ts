import { createHash } from 'node:crypto'
import type { ResourceType } from '../../kube/types.ts'
import { ownField } from '../../util/json.ts'
import type { Role, WantedObject } from '../composed/wanted.ts'
import { LONGEST_TUNNEL_NAME } from '../descriptor/tunnel.ts'
import { OUTPUT_OF } from '../names.ts'
import { LABELS, noteOf } from '../ownership.ts'
import { SERVICE, type ServicePolicy, type ServiceResource } from './service.ts'
import { type Problem, type ServiceSettings, settingsOf } from './settings.ts'

/** The kinds that Services consist of, each with its role. No other file of this folder names one. */
const roles = {
  ReservedAddress: 'place',
  ReservedDomain: 'place',
  Backend: 'backend',
  Edge: 'entry',
  Tunnel: 'tunnel',
} as const satisfies Readonly<Record<string, Role>>

export type PartKind = keyof typeof roles

/** In the order in which they are made. */
export const partKinds = Object.keys(roles) as readonly PartKind[]

/** The kind of what restricts who may connect. */
export const POLICY = 'IPPolicy'

/** The role of a kind; undefined if Services do not consist of it. */
export function roleOf(kind: string): Role | undefined {
  return ownField<Role>(roles, kind)
}

/** An object of a Service. */
export interface ServicePart extends WantedObject {
  readonly role: Role
  /** Roles with which it is replaced: while it uses what is being deleted, that does not go. */
  readonly follows: readonly Role[]
}

/** What there should be for a port, in the order in which it is made. */
export interface PortObjects {
  readonly port: number
  readonly objects: readonly ServicePart[]
}

export interface ServiceObjects {
  readonly ports: readonly PortObjects[]
  /** Ports that cannot be served. */
  readonly problems: readonly Problem[]
}

/**
 * What there should be for a Service of Culvert's class, or why nothing can be. Pure.
 *
 * @param typeOf the resource type of a kind
 */
export function serviceObjects(
  service: ServiceResource,
  { maxPorts }: Pick<ServicePolicy, 'maxPorts'>,
  typeOf: (kind: PartKind) => ResourceType,
): ServiceObjects | { readonly refused: readonly Problem[] } {
  const settings = settingsOf(service)
  if ('problems' in settings) return { refused: settings.problems }
  const ports = service.spec.ports ?? []
  const served = ports.filter(({ protocol }) => isTCP(protocol))
  // Refused as a whole: to choose some would take ports away that are served already, once the limit is lowered.
  if (served.length > maxPorts) return { refused: [tooMany(served.length, maxPorts)] }
  return {
    ports: served.map(({ port }) => ({ port, objects: portObjects(service, settings, port, typeOf) })),
    problems: ports.flatMap(({ port, protocol }, index) => {
      if (isTCP(protocol)) return []
      return [`spec.ports[${index}]: ${protocol} of port ${port} is not supported: remove the port, or use TCP`]
    }),
  }
}

function tooMany(ports: number, maxPorts: number): Problem {
  const remedy = 'split them into several Services, or ask the administrator to raise tunnels.services.maxPorts'
  return `spec.ports: ${ports} TCP ports exceed the limit of ${maxPorts} per Service: ${remedy}`
}

function isTCP(protocol: string | undefined): boolean {
  return protocol === undefined || protocol === 'TCP'
}

/** What there should be for one port of a Service. Pure. */
export function portObjects(
  service: ServiceResource,
  settings: ServiceSettings,
  port: number,
  typeOf: (kind: PartKind) => ResourceType,
): readonly ServicePart[] {
  const { name: serviceName, namespace } = service.metadata
  const { domain, ipPolicies } = settings
  const name = portName(serviceName, port)
  const description = `Service ${namespace}/${serviceName}, port ${port}`
  const account = settings.account === undefined ? {} : { accountRef: settings.account }
  const part = (
    kind: PartKind,
    at: string,
    spec: object,
    { fixed = [], follows = [] }: Partial<Pick<ServicePart, 'fixed' | 'follows'>>,
  ): ServicePart => ({
    type: typeOf(kind),
    role: roles[kind],
    name: at,
    ...marks(service),
    content: { spec },
    fixed,
    follows,
  })
  const reserved = domain === undefined ? name : domainName(serviceName, domain)
  const place =
    domain === undefined
      ? part('ReservedAddress', reserved, { ...account, description }, { fixed: ['accountRef'] })
      : part(
          'ReservedDomain',
          reserved,
          { ...account, domain, certificate: CERTIFICATE },
          { fixed: ['accountRef', 'domain'] },
        )
  const backend = { ...account, type: 'TunnelGroup', tunnelGroup: { labels: tunnelLabels(service, port) }, description }
  const edge = {
    ...account,
    description,
    ...(domain === undefined
      ? { protocol: 'TCP', hostports: [{ type: 'ReservedAddress', reservedAddressRef: { name: reserved } }] }
      : {
          protocol: 'TLS',
          hostports: [{ type: 'ReservedDomain', reservedDomainRef: { name: reserved }, port }],
          tlsTermination: { enabled: true, terminateAt: 'Edge' },
        }),
    backend: { enabled: true, name },
    // Named even if there is none: an Edge that lost its restriction by the annotation must not keep another.
    ipRestriction:
      ipPolicies === undefined ? null : { enabled: true, ipPolicyRefs: ipPolicies.map((policy) => ({ name: policy })) },
  }
  return [
    place,
    part('Backend', name, backend, { fixed: ['accountRef'] }),
    part('Edge', name, edge, { fixed: ['accountRef', 'protocol'], follows: ['place', 'backend'] }),
    // Its credential cannot follow the Backend to another account.
    part('Tunnel', name, { backendRef: { name }, service: { name: serviceName, port } }, { follows: ['backend'] }),
  ]
}

/** The certificate of a domain: issued and renewed by the service, which terminates TLS. */
const CERTIFICATE = { type: 'Managed', managed: { authority: 'LetsEncrypt', privateKeyType: 'ECDSA' } }

/** Labels and annotations of all that a Service owns. */
function marks(service: ServiceResource): Pick<WantedObject, 'labels' | 'annotations'> {
  return {
    labels: { ...LABELS, [SERVICE]: service.metadata.name },
    annotations: { [OUTPUT_OF]: noteOf(service) },
  }
}

/** Labels that the tunnels of no other port have, in this cluster or another that uses the same account. */
function tunnelLabels({ metadata }: ServiceResource, port: number): Readonly<Record<string, string>> {
  const { namespace, name, uid } = metadata
  return { [SERVICE]: [namespace, name, port, uid].join('/') }
}

/** Digits of a hash in a name; more than those of a port, so that no name means two ports. */
const HASH = 10

/**
 * Name of the objects of a port: `<service>-<port>`, or, if that is too long for a Tunnel, as much of it as fits and a
 * hash. No two ports of Services of one namespace have the same.
 */
export function portName(service: string, port: number): string {
  const name = `${service}-${port}`
  if (name.length <= LONGEST_TUNNEL_NAME) return name
  return `${service.slice(0, LONGEST_TUNNEL_NAME - HASH - 1)}-${hash(name)}`
}

/** Name of the ReservedDomain of a Service: another one for another domain, since its domain cannot change. */
export function domainName(service: string, domain: string): string {
  return `${service}-${hash(domain)}`
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH)
}
