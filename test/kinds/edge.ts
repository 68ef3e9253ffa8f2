import fc from 'fast-check'
import { expect } from 'vitest'
import { idOf, idsOf, list, lowerSet, sorted } from '../builders/declared/forms.ts'
import type { Declared, Held, Ref, Resolved } from '../builders/declared/types.ts'
import { backendPlace } from './backend.ts'
import type { Body, Edit, ManagedKindTestData } from './kind-test-data.ts'
import { ref } from './shared/account.ts'
import { disabled } from './shared/drifts.ts'
import {
  bothModules,
  commonFields,
  commonModuleEdits,
  edgeNeeds,
  shownModules,
  tlsModuleEdits,
} from './shared/edge-modules.ts'
import { patch, sets, story } from './shared/edits.ts'
import { policyPlace } from './shared/ip-policies.ts'
import { bare, seeded, shownWorded, worded } from './shared/objects.ts'
import { crossingRefusal, managedRefusals, refuse, refuseChange } from './shared/refusals.ts'
import { textEdits, textRefusals, withTexts } from './shared/texts.ts'

const authority = { certificateAuthorityRefs: [{ id: 'ca_1' }] }
const upstream = { terminateAt: 'Upstream' }
const refuseHostport = (because: string, hostport: Body, message: string) =>
  refuse(because, { hostports: [hostport] }, message)

const hostportEdits: readonly Edit[] = [
  patch(
    'hostports',
    {
      hostports: [
        { type: 'Host', host: 'a.edit-wild.tunnel.example', port: 443 },
        { type: 'ReservedAddress', reservedAddressRef: { name: 'one' } },
      ],
    },
    { hostports: sets(['a.edit-wild.tunnel.example:443', expect.stringMatching(/:\d+$/)]) },
  ),
  patch(
    'hostports',
    { hostports: [{ type: 'ReservedDomain', reservedDomainRef: { name: 'shop' }, port: 8443 }] },
    { hostports: ['shop.tunnel.example:8443'] },
  ),
  patch('hostports', { hostports: undefined }, { hostports: [] }),
]

const expression = fc.constantFrom('conn.tls.version == "1.0"', 'req.method == "GET" && size(req.path) > 3', 'true')

export const edge: ManagedKindTestData = {
  kind: 'Edge',
  accepted: {
    protocol: 'TLS',
    hostports: [{ type: 'Host', host: 'a.example.com', port: 443 }],
    backend: { name: 'shop' },
  },
  refusals: [
    ...managedRefusals,
    ...textRefusals,
    crossingRefusal((ofAnother) => ({ backend: ofAnother })),
    refuseChange('with another protocol', { protocol: 'TCP' }, 'protocol is immutable: delete'),
    refuseHostport(
      'with a hostport of nothing',
      { type: 'Host', port: 1 },
      'set the member for the type, and no other: host for Host, reservedDomainRef for ReservedDomain',
    ),
    refuseHostport(
      'with a hostport of two',
      { type: 'Host', host: 'a.example.com', reservedDomainRef: { name: 'a' }, port: 1 },
      'set the member for the type',
    ),
    refuseHostport(
      'with a host without port',
      { type: 'Host', host: 'a.example.com' },
      'port is required with type Host',
    ),
    refuseHostport(
      'with a port for a reserved address',
      { type: 'ReservedAddress', reservedAddressRef: { name: 'a' }, port: 1 },
      'port is required with type Host',
    ),
    refuse(
      'with a backend module without backend',
      { backend: {} },
      'name or id is required while the module is enabled',
    ),
    refuse('with a restriction without policy', { ipRestriction: {} }, 'ipPolicyRefs is required while the module'),
    refuse('with mutual TLS without authority', { mutualTLS: {} }, 'certificateAuthorityRefs is required while'),
    refuse(
      'with TLS modules on TCP',
      { protocol: 'TCP', mutualTLS: authority },
      'mutualTLS is allowed only for TLS edges: remove mutualTLS',
    ),
    refuse(
      'with termination on TCP',
      { protocol: 'TCP', tlsTermination: {} },
      'tlsTermination is allowed only for TLS edges: remove',
    ),
    refuse(
      'with a minimum version for TLS that passes through',
      { tlsTermination: { ...upstream, minVersion: '1.2' } },
      'minVersion has no effect with terminateAt: Upstream: remove',
    ),
    refuse(
      'with mutual TLS for TLS that passes through',
      { tlsTermination: upstream, mutualTLS: authority },
      'mutualTLS cannot act on TLS that passes through: remove',
    ),
    refuse(
      'with a traffic policy for TLS that passes through',
      { tlsTermination: upstream, trafficPolicy: {} },
      'trafficPolicy cannot act on TLS that passes through: remove',
    ),
    refuse('with a policy by no name', { ipRestriction: { ipPolicyRefs: [{}] } }, 'set exactly one of name, id'),
    refuse('with a backend by name and by id', { backend: { name: 'a', id: 'b' } }, 'set at most one of name, id'),
    refuse(
      'with more expressions than fit',
      { trafficPolicy: { inbound: [{ expressions: Array.from({ length: 5 }, () => 'a'.repeat(16_384)) }] } },
      'expressions of inbound and outbound must have at most 65536 characters together',
    ),
  ],
  specs: {
    minimal: {
      spec: () => ({ protocol: 'TCP' }),
      object: () => ({ ...bare, hostports: [], backend: null, ip_restriction: null, policy: null }),
    },
    full: {
      spec: (name) => ({
        ...worded(name),
        protocol: 'TLS',
        hostports: [
          { type: 'Host', host: `a.${name}-wildcard.tunnel.example`, port: 443 },
          { type: 'ReservedDomain', reservedDomainRef: { name: `${name}-domain` }, port: 8443 },
          { type: 'ReservedAddress', reservedAddressRef: { name: `${name}-address` } },
        ],
        ...bothModules(name),
        mutualTLS: { enabled: true, certificateAuthorityRefs: [{ id: 'ca_specs1' }, { id: 'ca_specs2' }] },
        tlsTermination: { enabled: true, terminateAt: 'Edge', minVersion: '1.2' },
      }),
      needs: edgeNeeds,
      object: (around) => ({
        ...shownWorded(around.name),
        hostports: [
          `a.${around.name}-wildcard.tunnel.example:443`,
          `${around.name}-domain.tunnel.example:8443`,
          around.addr(`${around.name}-address`),
        ],
        ...shownModules(around),
        mutual_tls: { enabled: true, certificate_authorities: [seeded('ca_specs1'), seeded('ca_specs2')] },
        tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.2' },
      }),
    },
    'TCP with its modules': {
      spec: (name) => ({
        protocol: 'TCP',
        hostports: [{ type: 'ReservedAddress', reservedAddressRef: { name: `${name}-address` } }],
        ...bothModules(name),
      }),
      needs: edgeNeeds,
      object: (around) => ({
        ...bare,
        hostports: [around.addr(`${around.name}-address`)],
        ...shownModules(around),
      }),
    },
  },
  edits: [
    story('tls', { protocol: 'TLS' }, [...textEdits, ...hostportEdits, ...commonModuleEdits, ...tlsModuleEdits]),
    story('tcp', { protocol: 'TCP' }, [...textEdits, ...commonModuleEdits]),
  ],
  collections: {
    'edges/tcp': withTexts(commonFields),
    'edges/tls': withTexts({
      ...commonFields,
      drifts: {
        ...commonFields.drifts,
        mutual_tls: [
          () => ({ mutual_tls: disabled }),
          () => ({ mutual_tls: { enabled: true, certificate_authority_ids: ['ca_specs1'] } }),
        ],
        tls_termination: [
          () => ({ tls_termination: disabled }),
          () => ({ tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.3' } }),
          // Modules that inspect the connection require that TLS is terminated.
          () => ({
            policy: disabled,
            mutual_tls: disabled,
            tls_termination: { enabled: true, terminate_at: 'upstream' },
          }),
        ],
      },
    }),
  },
  places: {
    'spec.tlsTermination.minVersion': fc.constantFrom('1.0', '1.1', '1.2', '1.3'),
    'spec.hostports[].host': fc.stringMatching(/^[a-z0-9]{1,9}$/).map((label) => `${label}.wild.tunnel.example`),
    'spec.hostports[].reservedDomainRef': ref(['shop'], ['rd_mine']),
    'spec.hostports[].reservedAddressRef': ref(['one'], ['ra_two']),
    'spec.backend': fc.oneof(
      fc.constant({ enabled: false }),
      fc
        .tuple(backendPlace, fc.constantFrom({}, { enabled: true }, { enabled: false }))
        .map(([found, enabled]) => ({ ...found, ...enabled })),
    ),
    'spec.ipRestriction.ipPolicyRefs[]': policyPlace,
    'spec.mutualTLS.certificateAuthorityRefs[]': ref(['first', 'second'], ['ca_third']),
    'spec.trafficPolicy.inbound[].expressions[]': expression,
    'spec.trafficPolicy.outbound[].expressions[]': expression,
  },
  declares,
}

/** The edge may have modules that the spec does not name: others add modules too. */
function declares(spec: Body, { object }: Held, resolved: Resolved): readonly Declared[] {
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
        // If the spec sets none, the service chooses one.
        // Some services take versions only as in `tls1.2`.
        const version = typeof min_version === 'string' ? min_version.replace(/^tls/, '') : (min_version ?? null)
        return [terminate_at ?? 'edge', isNamed ? version : null]
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
