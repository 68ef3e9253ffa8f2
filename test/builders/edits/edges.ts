import { expect } from 'vitest'
import { refTo } from '../expected.ts'
import { type Body, type Edit, type EditStory, patch, quiet, sets, story, texts } from './edit.ts'

const anyRule = { enabled: true, inbound: [], outbound: [] }

const policyRule = (name: string | null, expressions: readonly string[], actions: readonly Body[]) => ({
  ...(name === null ? {} : { name }),
  ...(expressions.length === 0 ? {} : { expressions }),
  ...(actions.length === 0 ? {} : { actions }),
})
const shownRule = (name: string | null, expressions: readonly string[], actions: readonly Body[]) => ({
  name,
  expressions,
  actions: actions.map((action) => ({ config: {}, ...action })),
})
const deny = [{ type: 'deny' }]
const log = [{ type: 'log', config: { level: 'info' } }]

/** Edits of the modules of both protocols. A module removed from the spec keeps no references. */
const commonModules: readonly Edit[] = [
  patch('backend', { backend: { name: 'blue' } }, (id) => ({
    backend: { enabled: true, backend: refTo(id('Backend', 'blue')) },
  })),
  patch('backend', { backend: { name: 'green' } }, (id) => ({
    backend: { enabled: true, backend: refTo(id('Backend', 'green')) },
  })),
  // A disabled module keeps its content, whatever else the spec then says about it.
  patch('backend', { backend: { enabled: false, name: 'blue' } }, (id) => ({
    backend: { enabled: false, backend: refTo(id('Backend', 'green')) },
  })),
  ...quiet({ backend: { enabled: false } }),
  patch('backend', { backend: { enabled: true, name: 'green' } }, (id) => ({
    backend: { enabled: true, backend: refTo(id('Backend', 'green')) },
  })),
  ...quiet({ backend: { name: 'green' } }),
  patch('backend', { backend: { id: 'bkdtg_specs1' } }, { backend: { enabled: true, backend: refTo('bkdtg_specs1') } }),
  patch('backend', { backend: { id: 'bkdtg_specs2' } }, { backend: { enabled: true, backend: refTo('bkdtg_specs2') } }),
  patch('backend', { backend: undefined }, { backend: { enabled: false, backend: null } }),

  patch('ip_restriction', { ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } }, (id) => ({
    ip_restriction: { enabled: true, ip_policies: [refTo(id('IPPolicy', 'office'))] },
  })),
  patch('ip_restriction', { ipRestriction: { ipPolicyRefs: [{ name: 'office' }, { name: 'home' }] } }, (id) => ({
    ip_restriction: { enabled: true, ip_policies: sets(['office', 'home'].map((name) => refTo(id('IPPolicy', name)))) },
  })),
  ...quiet({ ipRestriction: { ipPolicyRefs: [{ name: 'home' }, { name: 'office' }] } }),
  patch('ip_restriction', { ipRestriction: { enabled: false } }, (id) => ({
    ip_restriction: {
      enabled: false,
      ip_policies: sets(['office', 'home'].map((name) => refTo(id('IPPolicy', name)))),
    },
  })),
  patch('ip_restriction', { ipRestriction: { enabled: true, ipPolicyRefs: [{ name: 'home' }] } }, (id) => ({
    ip_restriction: { enabled: true, ip_policies: [refTo(id('IPPolicy', 'home'))] },
  })),
  ...quiet({ ipRestriction: { ipPolicyRefs: [{ name: 'home' }] } }),
  patch('ip_restriction', { ipRestriction: undefined }, { ip_restriction: { enabled: false, ip_policies: [] } }),

  patch(
    'policy',
    { trafficPolicy: { inbound: [policyRule('a', [], deny)] } },
    {
      policy: { ...anyRule, inbound: [shownRule('a', [], deny)] },
    },
  ),
  patch(
    'policy',
    { trafficPolicy: { inbound: [policyRule('a', ['1 < 2'], log)], outbound: [policyRule('b', [], deny)] } },
    {
      policy: { ...anyRule, inbound: [shownRule('a', ['1 < 2'], log)], outbound: [shownRule('b', [], deny)] },
    },
  ),
  patch(
    'policy',
    { trafficPolicy: { inbound: [policyRule('c', [], [])], outbound: [policyRule('b', ['true'], log)] } },
    {
      policy: { ...anyRule, inbound: [shownRule('c', [], [])], outbound: [shownRule('b', ['true'], log)] },
    },
  ),
  patch(
    'policy',
    { trafficPolicy: { outbound: [policyRule(null, ['true'], [])] } },
    {
      policy: { ...anyRule, outbound: [shownRule(null, ['true'], [])] },
    },
  ),
  patch(
    'policy',
    { trafficPolicy: { enabled: false, inbound: [policyRule('c', [], deny)] } },
    { policy: { ...anyRule, enabled: false, outbound: [shownRule(null, ['true'], [])] } },
  ),
  patch('policy', { trafficPolicy: { enabled: true } }, { policy: anyRule }),
  ...quiet({ trafficPolicy: {} }),
  patch('policy', { trafficPolicy: undefined }, { policy: disabledPolicy() }),
]

function disabledPolicy(): Body {
  return { enabled: false, inbound: [], outbound: [] }
}

const tlsModules: readonly Edit[] = [
  patch(
    'tls_termination',
    { tlsTermination: { minVersion: '1.2' } },
    {
      tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.2' },
    },
  ),
  patch(
    'tls_termination',
    { tlsTermination: { terminateAt: 'Edge', minVersion: '1.3' } },
    {
      tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.3' },
    },
  ),
  patch(
    'tls_termination',
    { tlsTermination: { terminateAt: 'Upstream' } },
    {
      tls_termination: { enabled: true, terminate_at: 'upstream', min_version: null },
    },
  ),
  patch(
    'tls_termination',
    { tlsTermination: {} },
    {
      tls_termination: { enabled: true, terminate_at: 'edge', min_version: null },
    },
  ),
  patch(
    'tls_termination',
    { tlsTermination: { enabled: false } },
    {
      tls_termination: { enabled: false, terminate_at: 'edge', min_version: null },
    },
  ),
  patch(
    'tls_termination',
    { tlsTermination: { enabled: true } },
    {
      tls_termination: { enabled: true, terminate_at: 'edge', min_version: null },
    },
  ),
  ...quiet({ tlsTermination: {} }),
  patch(
    'tls_termination',
    { tlsTermination: undefined },
    {
      tls_termination: { enabled: false, terminate_at: 'edge', min_version: null },
    },
  ),
  patch(
    'mutual_tls',
    { mutualTLS: { certificateAuthorityRefs: [{ id: 'ca_specs1' }] } },
    {
      mutual_tls: { enabled: true, certificate_authorities: [refTo('ca_specs1')] },
    },
  ),
  patch(
    'mutual_tls',
    { mutualTLS: { certificateAuthorityRefs: [{ id: 'ca_specs2' }] } },
    {
      mutual_tls: { enabled: true, certificate_authorities: [refTo('ca_specs2')] },
    },
  ),
  patch(
    'mutual_tls',
    { mutualTLS: { enabled: false } },
    {
      mutual_tls: { enabled: false, certificate_authorities: [refTo('ca_specs2')] },
    },
  ),
  patch(
    'mutual_tls',
    { mutualTLS: { enabled: true, certificateAuthorityRefs: [{ id: 'ca_specs2' }] } },
    {
      mutual_tls: { enabled: true, certificate_authorities: [refTo('ca_specs2')] },
    },
  ),
  ...quiet({ mutualTLS: { certificateAuthorityRefs: [{ id: 'ca_specs2' }] } }),
  patch('mutual_tls', { mutualTLS: undefined }, { mutual_tls: { enabled: false, certificate_authorities: [] } }),
]

const hostports: readonly Edit[] = [
  patch(
    'hostports',
    {
      hostports: [
        { type: 'Host', host: 'a.edit-wild.tunnel.example', port: 443 },
        { type: 'ReservedAddress', reservedAddressRef: { name: 'address' } },
      ],
    },
    { hostports: sets(['a.edit-wild.tunnel.example:443', expect.stringMatching(/:\d+$/)]) },
  ),
  patch(
    'hostports',
    { hostports: [{ type: 'ReservedDomain', reservedDomainRef: { name: 'shop' }, port: 8443 }] },
    {
      hostports: ['edit-shop.tunnel.example:8443'],
    },
  ),
  patch('hostports', { hostports: undefined }, { hostports: [] }),
]

/** Edits of edges. */
export const edgeStories: readonly EditStory[] = [
  story('Edge', 'tls', { protocol: 'TLS' }, [...texts, ...hostports, ...commonModules, ...tlsModules]),
  story('Edge', 'tcp', { protocol: 'TCP' }, [...texts, ...commonModules]),
]
