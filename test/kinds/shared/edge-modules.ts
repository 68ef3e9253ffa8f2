import { expect } from 'vitest'
import { refTo as refToResource } from '../../builders/contract/api-client.ts'
import type { Body, CollectionTestData, Edit, Manifest, Surrounding } from '../kind-test-data.ts'
import { asBody, asList, disabled } from './drifts.ts'
import { patch, quiet, sets } from './edits.ts'
import { need, refTo } from './objects.ts'
import { same } from './texts.ts'

/** The modules of both protocols in a spec, and in its object. */
export const bothModules = (name: string) => ({
  backend: { enabled: true, name: `${name}-backend` },
  ipRestriction: { ipPolicyRefs: [{ name: `${name}-policy` }] },
  trafficPolicy: {
    inbound: [
      {
        name: 'no-old-clients',
        expressions: ['conn.tls.version == "1.0"'],
        actions: [{ type: 'deny', config: { reason: 'outdated' } }],
      },
    ],
    outbound: [{ name: 'log', actions: [{ type: 'log' }] }],
  },
})

export const shownModules = ({ id, name }: Surrounding): Body => ({
  backend: { enabled: true, backend: refTo(id('Backend', `${name}-backend`)) },
  ip_restriction: { enabled: true, ip_policies: [refTo(id('IPPolicy', `${name}-policy`))] },
  policy: {
    enabled: true,
    inbound: [
      {
        name: 'no-old-clients',
        expressions: ['conn.tls.version == "1.0"'],
        actions: [{ type: 'deny', config: { reason: 'outdated' } }],
      },
    ],
    outbound: [{ name: 'log', expressions: [], actions: [{ type: 'log', config: {} }] }],
  },
})

export const edgeNeeds = (name: string): readonly Manifest[] => [
  need.tunnels(`${name}-backend`),
  need.policy(`${name}-policy`),
  need.domain(`${name}-domain`),
  need.domain(`${name}-wildcard`, '*.'),
  need.address(`${name}-address`),
]

/** An edit of `backend`, and the module that there is then. */
const backend = (spec: Body | undefined, enabled: boolean, name?: string): Edit =>
  patch('backend', { backend: spec }, (id) => ({
    backend: { enabled, backend: name === undefined ? null : refTo(name.includes('_') ? name : id('Backend', name)) },
  }))

/** The same of `ipRestriction`. */
const restriction = (spec: Body | undefined, enabled: boolean, ...names: readonly string[]): Edit =>
  patch('ip_restriction', { ipRestriction: spec }, (id) => ({
    ip_restriction: { enabled, ip_policies: inAnyOrder(names.map((name) => refTo(id('IPPolicy', name)))) },
  }))
const inAnyOrder = (refs: readonly Body[]) => (refs.length < 2 ? refs : sets(refs))
const policies = (...names: readonly string[]) => ({ ipPolicyRefs: names.map((name) => ({ name })) })

/** The same of `trafficPolicy`. */
const traffic = (spec: Body | undefined, shown: Body): Edit =>
  patch('policy', { trafficPolicy: spec }, { policy: { enabled: true, inbound: [], outbound: [], ...shown } })

/** A rule of a spec, without what is empty, and as the API shows it. */
const rule = (name: string | null, expressions: readonly string[], actions: readonly Body[]) => ({
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
const nameless = shownRule(null, ['true'], [])

/** Edits of the modules of both protocols. A module removed from the spec keeps no references. */
export const commonModuleEdits: readonly Edit[] = [
  backend({ name: 'blue' }, true, 'blue'),
  backend({ name: 'green' }, true, 'green'),
  // A disabled module has what the spec says of it, and keeps what it has where the spec says nothing.
  backend({ enabled: false, name: 'blue' }, false, 'blue'),
  ...quiet({ backend: { enabled: false } }),
  backend({ enabled: true, name: 'green' }, true, 'green'),
  ...quiet({ backend: { name: 'green' } }),
  backend({ id: 'bkdtg_specs1' }, true, 'bkdtg_specs1'),
  backend({ id: 'bkdtg_specs2' }, true, 'bkdtg_specs2'),
  backend(undefined, false),

  restriction(policies('office'), true, 'office'),
  restriction(policies('office', 'home'), true, 'office', 'home'),
  ...quiet({ ipRestriction: policies('home', 'office') }),
  restriction({ enabled: false }, false, 'office', 'home'),
  restriction({ enabled: true, ...policies('home') }, true, 'home'),
  ...quiet({ ipRestriction: policies('home') }),
  restriction(undefined, false),

  traffic({ inbound: [rule('a', [], deny)] }, { inbound: [shownRule('a', [], deny)] }),
  traffic(
    { inbound: [rule('a', ['1 < 2'], log)], outbound: [rule('b', [], deny)] },
    { inbound: [shownRule('a', ['1 < 2'], log)], outbound: [shownRule('b', [], deny)] },
  ),
  traffic(
    { inbound: [rule('c', [], [])], outbound: [rule('b', ['true'], log)] },
    { inbound: [shownRule('c', [], [])], outbound: [shownRule('b', ['true'], log)] },
  ),
  traffic({ outbound: [rule(null, ['true'], [])] }, { outbound: [nameless] }),
  traffic({ enabled: false, inbound: [rule('c', [], deny)] }, { enabled: false, inbound: [shownRule('c', [], deny)] }),
  traffic({ enabled: true }, {}),
  ...quiet({ trafficPolicy: {} }),
  traffic(undefined, { enabled: false }),
]

/** An edit of `tlsTermination`, and the module that there is then. */
const termination = (spec: Body | undefined, shown: Body): Edit =>
  patch(
    'tls_termination',
    { tlsTermination: spec },
    { tls_termination: { enabled: true, terminate_at: 'edge', min_version: null, ...shown } },
  )

/** The same of `mutualTLS`. */
const mutual = (spec: Body | undefined, enabled: boolean, ...ids: readonly string[]): Edit =>
  patch('mutual_tls', { mutualTLS: spec }, { mutual_tls: { enabled, certificate_authorities: ids.map(refTo) } })
const authorities = (id: string) => ({ certificateAuthorityRefs: [{ id }] })

/** Edits of the modules of TLS. */
export const tlsModuleEdits: readonly Edit[] = [
  termination({ minVersion: '1.2' }, { min_version: '1.2' }),
  termination({ terminateAt: 'Edge', minVersion: '1.3' }, { min_version: '1.3' }),
  termination({ terminateAt: 'Upstream' }, { terminate_at: 'upstream' }),
  termination({}, {}),
  termination({ enabled: false }, { enabled: false }),
  termination({ enabled: true }, {}),
  ...quiet({ tlsTermination: {} }),
  termination(undefined, { enabled: false }),
  mutual(authorities('ca_specs1'), true, 'ca_specs1'),
  mutual(authorities('ca_specs2'), true, 'ca_specs2'),
  mutual({ enabled: false }, false, 'ca_specs2'),
  mutual({ enabled: true, ...authorities('ca_specs2') }, true, 'ca_specs2'),
  ...quiet({ mutualTLS: authorities('ca_specs2') }),
  mutual(undefined, false),
]

const sampleRule = (name: string): unknown => ({
  name,
  expressions: ["conn.client_ip == '192.0.2.1'"],
  actions: [{ type: 'deny', config: { nested: [1, { deep: true }] } }],
})

/** Samples and drifts of the fields that both protocols have. */
export const commonFields: Pick<CollectionTestData, 'samples' | 'drifts'> = {
  samples: {
    hostports: async (world) => {
      const { domain } = await world.api.create('reserved_domains', { domain: world.serviceDomain() })
      return same([`${domain}:443`])
    },
    backend: async (world, variant) => {
      const made = await world.api.create('backends/http_response', { description: variant })
      const enabled = variant === 'first'
      return { sent: { enabled, backend_id: made.id }, returned: { enabled, backend: refToResource(made) } }
    },
    ip_restriction: async (world, variant) => {
      const policy = await world.api.create('ip_policies', { description: variant })
      const other = await world.api.create('ip_policies', {})
      return {
        sent: { enabled: true, ip_policy_ids: [policy.id, other.id] },
        returned: { enabled: true, ip_policies: [refToResource(policy), refToResource(other)] },
      }
    },
    mutual_tls: async (world, variant) => {
      const id = await world.admin.seedCertificateAuthority(variant)
      return {
        sent: { enabled: true, certificate_authority_ids: [id] },
        returned: { enabled: true, certificate_authorities: [{ id, uri: expect.stringContaining(id) }] },
      }
    },
    tls_termination: (_world, variant) =>
      same({ enabled: true, terminate_at: 'edge', min_version: variant === 'first' ? '1.2' : '1.3' }),
    policy: (_world, variant) =>
      same({
        enabled: true,
        inbound: [sampleRule(`in ${variant}`)],
        outbound: [sampleRule('out'), sampleRule(variant)],
      }),
  },
  drifts: {
    hostports: [() => ({ hostports: [] })],
    backend: [() => ({ backend: disabled })],
    ip_restriction: [() => ({ ip_restriction: disabled })],
    policy: [
      () => ({ policy: disabled }),
      () => ({ policy: { enabled: true, inbound: [], outbound: [] } }),
      ({ policy }) => ({ policy: { ...asBody(policy), inbound: asList(asBody(policy).outbound) } }),
    ],
  },
}
