import { collections } from '../../api/collections.ts'
import type { Collection, RemoteObject } from '../../api/types.ts'
import { objectOf, textOf, textsOf } from '../../kinds/building-blocks/remote.ts'
import { sentPolicy } from '../../kinds/edge/traffic-policy.ts'
import { type StatedResource, stateOf } from '../cluster/resource-state.ts'

type Fields = Readonly<Record<string, unknown>>

/** Kinds whose resources show what decides about connections. */
export const SHOWING_KINDS = [
  'Edge',
  'Backend',
  'IPPolicy',
  'IPPolicyRule',
  'IPRestriction',
  'CertificateAuthority',
  'ReservedDomain',
] as const

/** An object of an account. */
interface Located {
  readonly collection: Collection
  readonly object: RemoteObject
}

/**
 * The objects of a resource, as far as its status shows what the API returned last; a traffic policy and a PEM, which
 * no status shows, are those of the spec. None for a resource without an object.
 */
export function objectsOf(resource: StatedResource): readonly Located[] {
  const { kind, spec, status } = resource
  const id = textOf(status?.id)
  const isCurrent = stateOf(resource).phase === 'current'
  const shown = { id: id ?? '', spec: objectOf(spec) ?? {}, status: status ?? {}, isCurrent }
  return id === undefined ? [] : (OBJECTS[kind]?.(shown) ?? [])
}

/** Stands for the rules of a traffic policy that the spec does not show as they are. */
const UNREAD = { unread: true }

interface Shown {
  readonly id: string
  readonly spec: Fields
  readonly status: Fields
  /** Whether the object is as the spec says. */
  readonly isCurrent: boolean
}

const OBJECTS: Readonly<Record<string, (shown: Shown) => readonly Located[]>> = {
  Edge: ({ id, spec, status: { hostports, modules }, isCurrent }) => {
    const { backend, ipRestriction, trafficPolicy, mutualTLS, tlsTermination } = modulesIn(modules)
    const sent = isCurrent ? objectOf(spec.trafficPolicy) : undefined
    const object = {
      id,
      hostports,
      backend: backend && { enabled: backend.enabled, backend: refTo(backend.backendID) },
      ip_restriction: ipRestriction && { enabled: ipRestriction.enabled, ip_policies: refs(ipRestriction.ipPolicyIDs) },
      policy: trafficPolicy && { ...(sent === undefined ? UNREAD : sentPolicy(sent)), enabled: trafficPolicy.enabled },
      mutual_tls: mutualTLS && {
        enabled: mutualTLS.enabled,
        certificate_authorities: refs(mutualTLS.certificateAuthorityIDs),
      },
      tls_termination: tlsTermination && {
        enabled: tlsTermination.enabled,
        terminate_at: textOf(tlsTermination.terminateAt)?.toLowerCase(),
        min_version: tlsTermination.minVersion,
      },
    }
    return [{ collection: spec.protocol === 'TLS' ? collections.tlsEdges : collections.tcpEdges, object }]
  },
  Backend: ({ id, spec: { type }, status: { labels, backends = [], tunnelCount } }) => {
    const children = (backends as readonly Fields[]).map((child) => [String(child.id), child.weight] as const)
    switch (type) {
      case 'Weighted':
        return [{ collection: collections.weightedBackends, object: { id, backends: Object.fromEntries(children) } }]
      case 'Failover':
        return [
          { collection: collections.failoverBackends, object: { id, backends: children.map(([child]) => child) } },
        ]
      case 'HTTPResponse':
        return [{ collection: collections.httpResponseBackends, object: { id } }]
      default: {
        const tunnels = Array.from({ length: Number(tunnelCount ?? 0) }, (_, index) => refTo(String(index)))
        return [{ collection: collections.tunnelGroupBackends, object: { id, labels, tunnels } }]
      }
    }
  },
  IPPolicy: ({ id, status: { rules = [] } }) => [
    { collection: collections.ipPolicies, object: { id } },
    ...(rules as readonly Fields[]).map(({ id: rule, cidr, action }) => {
      return { collection: collections.ipPolicyRules, object: { id: String(rule), ip_policy: refTo(id), cidr, action } }
    }),
  ],
  IPRestriction: ({ id, spec: { type }, status: { enforcement, ipPolicyIDs } }) => {
    const sent = textOf(type)?.toLowerCase()
    const object = { id, type: sent, enforced: enforcement === 'Enforce', ip_policies: refs(ipPolicyIDs) }
    return [{ collection: collections.ipRestrictions, object }]
  },
  CertificateAuthority: ({ id, spec: { caPEM }, isCurrent }) => [
    { collection: collections.certificateAuthorities, object: { id, ca_pem: isCurrent ? caPEM : undefined } },
  ],
  ReservedDomain: ({ id, spec: { domain }, status: { certificateID, cnameTarget } }) => [
    {
      collection: collections.reservedDomains,
      object: { id, domain, certificate: refTo(certificateID), cname_target: cnameTarget },
    },
  ],
}

function modulesIn(modules: unknown): Readonly<Record<string, Fields | undefined>> {
  return (objectOf(modules) ?? {}) as Readonly<Record<string, Fields | undefined>>
}

function refTo(id: unknown): Fields | null {
  return textOf(id) === undefined ? null : { id }
}

function refs(ids: unknown): readonly (Fields | null)[] {
  return textsOf(ids).map(refTo)
}
