import { idOf, idsOf, list, lowerCased, lowerSet, sorted } from './forms.ts'
import type { Body, Declared, Held, Ref, Resolved } from './types.ts'

/** A backend has the fields of its type. */
export function backend(spec: Body, { object }: Held, { id }: Resolved): readonly Declared[] {
  const own = (name: string): Body => (spec[name] ?? {}) as Body
  switch (spec.type) {
    case 'TunnelGroup':
      return [['labels', own('tunnelGroup').labels ?? {}, object.labels ?? {}]]
    case 'HTTPResponse': {
      const { body = '', headers = {}, statusCode = 200 } = own('httpResponse')
      return [
        ['body', body, object.body],
        ['headers', lowerCased(headers), lowerCased(object.headers)],
        ['status_code', statusCode, object.status_code],
      ]
    }
    case 'Weighted': {
      const shares = list(own('weighted').backendRefs) as readonly (Ref & { weight: number })[]
      const wanted = Object.fromEntries(shares.map((ref) => [id('Backend', ref), ref.weight]))
      return [['backends', wanted, object.backends]]
    }
    default: {
      const refs = list(own('failover').backendRefs) as readonly Ref[]
      return [['backends', refs.map((ref) => id('Backend', ref)), object.backends]]
    }
  }
}

/** The edge may have modules that the spec does not name: others add modules too. */
export function edge(spec: Body, { object }: Held, resolved: Resolved): readonly Declared[] {
  const ports = (list(spec.hostports) as readonly Body[]).map(
    ({ host, port, reservedDomainRef, reservedAddressRef }) => {
      if (reservedAddressRef !== undefined) return resolved.field('ReservedAddress', reservedAddressRef as Ref, 'addr')
      if (reservedDomainRef === undefined) return `${host}:${port}`
      return `${resolved.field('ReservedDomain', reservedDomainRef as Ref, 'domain')}:${port}`
    },
  )
  const held = (name: string): Body | null => {
    const module = (object[name] ?? null) as Body | null
    return module?.enabled === true ? module : null
  }
  const module = (
    field: string,
    name: string,
    wanted: (named: Body) => unknown,
    found: (held: Body) => unknown,
  ): readonly Declared[] => {
    if (spec[field] === undefined) return []
    const named = spec[field] as Body
    const there = held(name)
    return [[name, named.enabled === false ? null : wanted(named), there === null ? null : found(there)]]
  }
  return [
    ['hostports', lowerSet(ports), lowerSet(object.hostports)],
    ...module(
      'backend',
      'backend',
      (named) => resolved.id('Backend', named as Ref),
      (there) => idOf(there.backend),
    ),
    ...module(
      'ipRestriction',
      'ip_restriction',
      ({ ipPolicyRefs }) => idsOf('IPPolicy', ipPolicyRefs, resolved),
      ({ ip_policies }) => sorted(list(ip_policies).map(idOf)),
    ),
    ...module(
      'mutualTLS',
      'mutual_tls',
      ({ certificateAuthorityRefs }) => idsOf('CertificateAuthority', certificateAuthorityRefs, resolved),
      ({ certificate_authorities }) => sorted(list(certificate_authorities).map(idOf)),
    ),
    ...module('trafficPolicy', 'policy', trafficPolicy, trafficPolicy),
    ...module(
      'tlsTermination',
      'tls_termination',
      ({ terminateAt = 'Edge', minVersion = null }) => [String(terminateAt).toLowerCase(), minVersion],
      ({ terminate_at, min_version }) => {
        const isNamed = (spec.tlsTermination as Body).minVersion !== undefined
        // If the spec names none, the service chooses a safe one.
        const chosen = !isNamed && typeof min_version === 'string' && min_version >= '1.2'
        return [terminate_at ?? 'edge', chosen ? null : (min_version ?? null)]
      },
    ),
  ]
}

function trafficPolicy({ inbound, outbound }: Body): unknown {
  const action = ({ type, config }: Body): Body => ({ type, config: config ?? {} })
  const rule = ({ name, expressions, actions }: Body): Body => ({
    name: name ?? '',
    expressions: list(expressions),
    actions: (list(actions) as readonly Body[]).map(action),
  })
  return [inbound, outbound].map((rules) => (list(rules) as readonly Body[]).map(rule))
}
