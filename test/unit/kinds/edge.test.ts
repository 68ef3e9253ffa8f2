import { describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import type { EdgeSpec } from '../../../src/kinds/edge/edge-schema.ts'
import { edge } from '../../../src/kinds/edge.ts'
import { reservedAddress } from '../../../src/kinds/reserved-address.ts'
import { reservedDomain } from '../../../src/kinds/reserved-domain.ts'
import type { ManagedDescriptor } from '../../../src/managed/descriptor/descriptor.ts'
import { intendedModules, modulesAtRest } from '../../../src/managed/plan/modules.ts'
import { chosenByServer, type PlanContext, planCreate, planUpdate } from '../../../src/managed/plan/plan.ts'
import { stored } from '../../builders/kinds/api-model.ts'
import { desiredOf } from '../../builders/kinds/desired.ts'

const spec: EdgeSpec = {
  protocol: 'TCP',
  hostports: [{ type: 'Host', host: 'a.example.com', port: 443 }],
  backend: { name: 'web' },
  ipRestriction: { ipPolicyRefs: [{ name: 'office' }, { id: 'ipp_2' }] },
}

const quiet: PlanContext = { markedMetadata: undefined, inputsChanged: false }

const remote: RemoteObject = {
  id: 'edgtcp_1',
  hostports: ['a.example.com:443'],
  backend: { enabled: true, backend: { id: 'id-of-web', uri: '' } },
  ip_restriction: {
    enabled: true,
    ip_policies: [
      { id: 'ipp_2', uri: '' },
      { id: 'id-of-office', uri: '' },
    ],
  },
  policy: null,
}

describe('a create', () => {
  test('carries every module that the spec sets', () => {
    expect(planCreate(edge, desiredOf({ spec }), 'marker')).toEqual({
      hostports: ['a.example.com:443'],
      backend: { enabled: true, backend_id: 'id-of-web' },
      ip_restriction: { enabled: true, ip_policy_ids: ['id-of-office', 'ipp_2'] },
      metadata: 'marker',
    })
  })

  test('listens on what reserved domains and addresses are at the API', () => {
    const desired = desiredOf<EdgeSpec>({
      spec: {
        protocol: 'TLS',
        hostports: [
          { type: 'ReservedDomain', reservedDomainRef: { name: 'shop' }, port: 443 },
          { type: 'ReservedAddress', reservedAddressRef: { id: 'ra_1' } },
        ],
      },
      objects: {
        'ReservedDomain/shop': { id: 'rd_1', domain: 'shop.example.com' },
        'ReservedAddress/ra_1': { id: 'ra_1', addr: '1.tcp.example.net:10001' },
      },
    })
    expect(edge.fields.desire(desired, undefined).hostports).toEqual([
      'shop.example.com:443',
      '1.tcp.example.net:10001',
    ])
  })

  test.each(['Host', 'ReservedDomain', 'ReservedAddress'] as const)(
    'does not listen on a %s without the member of that type',
    (type) => {
      const desired = desiredOf<EdgeSpec>({ spec: { protocol: 'TLS', hostports: [{ type, port: 443 }] } })
      expect(() => edge.fields.desire(desired, undefined)).toThrow(expect.objectContaining({ code: 'MISSING_MEMBER' }))
    },
  )
})

describe('a module that is not in the spec', () => {
  const without: EdgeSpec = { protocol: 'TCP', hostports: [] }

  test('is disabled when Culvert put it there', () => {
    const desired = desiredOf({ spec: without, status: { internal: { appliedModules: ['backend', 'ipRestriction'] } } })
    expect(edge.fields.desire(desired, remote)).toEqual({
      hostports: [],
      backend: { enabled: false },
      ip_restriction: { enabled: false },
      policy: undefined,
    })
  })

  test('is left alone and reported when somebody else put it there', () => {
    const desired = desiredOf({ spec: without, status: { internal: { appliedModules: ['backend'] } } })
    expect(edge.fields.desire(desired, remote).ip_restriction).toBeUndefined()
    const kept = { appliedModules: ['backend'] }
    expect(edge.status.shown(remote, kept)).toMatchObject({ foreignModules: ['ipRestriction'] })
    expect(modulesAtRest(edge.modules, remote, kept)).toEqual(kept)
  })

  test('is somebody else’s when neither the spec nor the status says that we put it there', () => {
    const named: EdgeSpec = { ...without, backend: { id: 'bkdtg_1' } }
    const kept = intendedModules(edge.modules, named, {})
    expect(edge.status.shown(remote, kept)).toMatchObject({
      hostports: ['a.example.com:443'],
      access: 'Restricted',
      foreignModules: ['ipRestriction'],
    })
    expect(modulesAtRest(edge.modules, remote, kept)).toEqual({ appliedModules: ['backend'] })
  })

  test('is nobody’s once it is disabled', () => {
    const disabled = { ...remote, ip_restriction: { enabled: false, ip_policies: [] } }
    const kept = { appliedModules: ['backend', 'ipRestriction'] }
    expect(edge.status.shown(disabled, kept)).toMatchObject({ access: 'Public' })
    expect(modulesAtRest(edge.modules, disabled, kept)).toEqual({ appliedModules: ['backend'] })
  })
})

test('a row of kubectl get shows where the edge listens, and how many more places there are', () => {
  const rowOf = (...hostports: readonly string[]) =>
    edge.status.shown({ id: 'edgtcp_1', hostports }, {}).hostportSummary
  expect(rowOf()).toBeUndefined()
  expect(rowOf('b.example.com:443', 'a.example.com:443')).toBe('a.example.com:443,b.example.com:443')
  expect(rowOf('e:1', 'd:1', 'c:1', 'b:1', 'a:1')).toBe('a:1,b:1,c:1 + 2 more')
})

test('what an update is about to add is taken charge of before it is sent', () => {
  expect(intendedModules(edge.modules, spec, { appliedModules: ['trafficPolicy'] })).toEqual({
    appliedModules: ['backend', 'ipRestriction', 'trafficPolicy'],
  })
  expect(intendedModules(edge.modules, spec, {}, ['tlsTermination'])).toEqual({
    appliedModules: ['backend', 'ipRestriction', 'tlsTermination'],
  })
})

describe('a module that the spec switches off', () => {
  const disabled: EdgeSpec = { ...spec, ipRestriction: { enabled: false, ipPolicyRefs: [{ name: 'home' }] } }
  const desired = desiredOf({ spec: disabled, status: { internal: { appliedModules: ['ipRestriction'] } } })
  const off = (ids: readonly string[]) => ({
    ...remote,
    ip_restriction: { enabled: false, ip_policies: ids.map((id) => ({ id, uri: '' })) },
  })
  const bare: EdgeSpec = { ...spec, ipRestriction: { enabled: false } }
  const toggled = desiredOf({ spec: bare, status: { internal: { appliedModules: ['ipRestriction'] } } })

  test('is made with its contents, or else without the module', () => {
    const body = planCreate(edge, desired, 'marker')
    expect(body.ip_restriction).toEqual({ enabled: false, ip_policy_ids: ['id-of-home'] })
    const { ip_restriction: _, ...without } = body
    expect(edge.fields.alternatives?.(body)).toEqual([without])
    expect(edge.modules?.named(disabled)).toContain('ipRestriction')
  })

  test.each<[string, Partial<EdgeSpec>, unknown]>([
    ['backend', { backend: { enabled: false, id: 'bkd_1' } }, { enabled: false, backend_id: 'bkd_1' }],
    [
      'mutual_tls',
      { mutualTLS: { enabled: false, certificateAuthorityRefs: [{ id: 'ca_1' }] } },
      { enabled: false, certificate_authority_ids: ['ca_1'] },
    ],
    [
      'tls_termination',
      { tlsTermination: { enabled: false, terminateAt: 'Edge', minVersion: '1.3' } },
      { enabled: false, terminate_at: 'edge', min_version: '1.3' },
    ],
    [
      'policy',
      { trafficPolicy: { enabled: false, inbound: [{ name: 'a' }] } },
      { enabled: false, inbound: [{ name: 'a', expressions: [], actions: [] }], outbound: [] },
    ],
    ['tls_termination', { tlsTermination: { enabled: false } }, { enabled: false }],
    ['backend', { backend: { enabled: false } }, { enabled: false }],
  ])('is made as a disabled %s', (name, modules, sent) => {
    const body = planCreate(edge, desiredOf<EdgeSpec>({ spec: { protocol: 'TLS', ...modules } }), 'marker')
    expect(body[name]).toEqual(sent)
  })

  test('is awaited by a new edge only', () => {
    expect(edge.references.of(disabled)).toEqual([
      expect.objectContaining({ path: 'spec.backend', optional: false }),
      expect.objectContaining({ path: 'spec.ipRestriction.ipPolicyRefs[0]', optional: true }),
    ])
    const waiting = { ...desired, resolves: (kind: string) => kind !== 'IPPolicy' }
    expect(edge.fields.desire(waiting, remote).ip_restriction).toEqual({
      enabled: false,
      ip_policy_ids: ['ipp_2', 'id-of-office'],
    })
  })

  test('is sent with its contents in the spec, or else as the edge has it, or as nothing but disabled', () => {
    expect(planUpdate(edge, desired, remote, quiet)).toMatchObject({
      fields: ['ip_restriction'],
      body: { ip_restriction: { enabled: false, ip_policy_ids: ['id-of-home'] } },
      alternatives: [{ ip_restriction: { enabled: false } }],
    })
    expect(planUpdate(edge, toggled, remote, quiet)).toMatchObject({
      fields: ['ip_restriction'],
      body: { ip_restriction: { enabled: false, ip_policy_ids: ['ipp_2', 'id-of-office'] } },
      alternatives: [{ ip_restriction: { enabled: false } }],
    })
  })

  test.each(['refused or dropped', 'not shown'])('whose contents are %s is no drift, which Ready says', (how) => {
    const found = how === 'not shown' ? { ...remote, ip_restriction: null } : off([])
    const chosen = chosenByServer(edge, desired, found)
    expect(planUpdate(edge, desired, found, quiet)).toBeDefined()
    expect(planUpdate(edge, desired, found, { ...quiet, chosen })).toBeUndefined()
    expect(planUpdate(edge, desired, off(['ipp_2']), { ...quiet, chosen })).toBeDefined()
    const readiness = (object: RemoteObject) =>
      edge.status.readiness({ spec: disabled, remote: object, now: 0 }).message
    expect(readiness(found)).toContain('contents of spec.ipRestriction while disabled')
    expect(readiness(off(['id-of-home']))).toBe('the edge has every module set in its spec')
  })

  test('without contents in the spec is the same with or without contents at the API', () => {
    for (const held of [off(['ipp_2', 'id-of-office']), off([]), { ...remote, ip_restriction: null }]) {
      expect(planUpdate(edge, toggled, held, quiet)).toBeUndefined()
    }
  })

  test('keeps traffic rules and the lowest version as they are', () => {
    const rules = [{ name: null, expressions: ['true'], actions: [{ type: 'deny', config: {} }] }]
    const tls = {
      id: 'x',
      hostports: [],
      policy: { enabled: true, inbound: rules, outbound: [] },
      tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.3' },
    }
    const both: EdgeSpec = { protocol: 'TLS', trafficPolicy: { enabled: false }, tlsTermination: { enabled: false } }
    expect(planUpdate(edge, desiredOf({ spec: both }), tls, quiet)?.body).toEqual({
      policy: {
        enabled: false,
        inbound: [{ expressions: ['true'], actions: [{ type: 'deny', config: {} }] }],
        outbound: [],
      },
      tls_termination: { enabled: false, terminate_at: 'edge', min_version: '1.3' },
    })
  })

  test('is sent with its rules in another form, then without contents, where these are refused', () => {
    const rule = { name: null, expressions: ['true'], actions: [{ type: 'deny', config: {} }] }
    const held = { ...remote, policy: { enabled: true, inbound: [rule], outbound: [] } }
    const off: EdgeSpec = { ...bare, trafficPolicy: { enabled: false } }
    const both = desiredOf({ spec: off, status: { internal: { appliedModules: ['ipRestriction', 'trafficPolicy'] } } })
    const restriction = { enabled: false, ip_policy_ids: ['ipp_2', 'id-of-office'] }
    const action = { type: 'deny', config: {} }
    const update = planUpdate(edge, both, held, quiet)
    expect(update?.body).toMatchObject({ ip_restriction: restriction, policy: { inbound: [{ actions: [action] }] } })
    expect(update?.alternatives).toEqual([
      {
        ip_restriction: restriction,
        policy: { enabled: false, inbound: { expressions: ['true'], actions: action } },
      },
      { ip_restriction: { enabled: false }, policy: { enabled: false } },
    ])
  })

  test('releases what it refers to once it has left the spec', () => {
    const held = off(['ipp_2'])
    const kept = modulesAtRest(edge.modules, held, { appliedModules: ['ipRestriction'] })
    expect(kept).toEqual({ appliedModules: ['ipRestriction'] })
    expect(edge.status.shown(held, kept).foreignModules).toEqual(['backend'])
    const { ipRestriction: _, ...without } = disabled
    const gone = desiredOf({ spec: without, status: { internal: kept } })
    expect(planUpdate(edge, gone, held, quiet)?.body).toEqual({ ip_restriction: { enabled: false } })
    expect(planUpdate(edge, gone, off([]), quiet)).toBeUndefined()
  })
})

describe('of an adopted edge', () => {
  const rules = (name: string) => [{ name, expressions: [], actions: [{ type: 'deny', config: {} }] }]
  const held: RemoteObject = {
    id: 'edgtls_1',
    hostports: [],
    policy: { enabled: true, inbound: rules('theirs'), outbound: rules('theirs') },
    tls_termination: { enabled: true, terminate_at: 'upstream', min_version: null },
  }
  const bodyFor = (named: Partial<EdgeSpec>, object: RemoteObject, applied: readonly string[] = []) => {
    const whole: EdgeSpec = { protocol: 'TLS', ...named }
    const decided = new Set([...edge.fields.setBy(whole), ...applied])
    const desired = { ...desiredOf({ spec: whole }), decides: (field: string) => decided.has(field) }
    return planUpdate(edge, desired, object, { markedMetadata: undefined, inputsChanged: false })?.body
  }

  test('what the spec leaves out inside of a module stays, until the spec has set it once', () => {
    expect(bodyFor({ trafficPolicy: {}, tlsTermination: {} }, held)).toBeUndefined()
    const inbound = [{ name: 'ours' }]
    expect(bodyFor({ trafficPolicy: { inbound } }, held)).toEqual({
      policy: {
        enabled: true,
        inbound: [{ name: 'ours', expressions: [], actions: [] }],
        outbound: rules('theirs'),
      },
    })
    expect(bodyFor({ trafficPolicy: {} }, held, ['policy.inbound'])).toEqual({
      policy: { enabled: true, inbound: [], outbound: rules('theirs') },
    })
  })

  test('an end of TLS that has left the spec is the service’s default', () => {
    expect(bodyFor({ tlsTermination: {} }, held, ['tls_termination.terminate_at'])).toEqual({
      tls_termination: { enabled: true, terminate_at: 'edge' },
    })
  })

  test('a low version that somebody chose stays, and one that is named ends TLS at the edge', () => {
    const low = { ...held, tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.0' } }
    expect(bodyFor({ tlsTermination: { terminateAt: 'Edge' } }, low)).toBeUndefined()
    expect(bodyFor({ tlsTermination: { minVersion: '1.2' } }, held)).toEqual({
      tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.2' },
    })
  })
})

describe('a policy that was deleted', () => {
  const gone = (names: readonly string[]) => ({
    ...desiredOf({ spec }),
    isGone: (_kind: string, ref: { readonly name?: string }) => names.includes(ref.name ?? ''),
  })
  const holding = (...ids: readonly string[]) => ({
    ...remote,
    ip_restriction: { enabled: true, ip_policies: ids.map((id) => ({ id, uri: '' })) },
  })
  const sent = (names: readonly string[], held: RemoteObject) =>
    (edge.fields.desire(gone(names), held).ip_restriction as { readonly ip_policy_ids: unknown }).ip_policy_ids

  test('stays where the edge holds it, and does not keep another from being added', () => {
    expect(sent(['office'], holding('ipp_2', 'id-of-office'))).toEqual(['id-of-office', 'ipp_2'])
    expect(sent(['office'], holding('id-of-office'))).toEqual(['ipp_2'])
    expect(sent(['office'], holding('ipp_2'))).toEqual(['ipp_2'])
  })

  test('stays where nothing would be left', () => {
    const all = { ...gone([]), isGone: () => true }
    expect(edge.fields.desire(all, holding('id-of-office')).ip_restriction).toEqual({
      enabled: true,
      ip_policy_ids: ['id-of-office', 'ipp_2'],
    })
  })
})

test('a module that the API returns without enabled is enabled', () => {
  const { ip_restriction } = edge.fields.observe({
    ...remote,
    ip_restriction: { ip_policies: [{ id: 'ipp_1', uri: '' }] },
  })
  expect(ip_restriction).toEqual({ enabled: true, ip_policy_ids: ['ipp_1'] })
})

test('a single rule or action of the traffic policy is read as a list of one', () => {
  const single = { inbound: { name: 'a', actions: { type: 'deny' } }, outbound: null }
  expect(edge.fields.observe({ ...remote, policy: single }).policy).toEqual({
    enabled: true,
    inbound: [{ name: 'a', expressions: [], actions: [{ type: 'deny', config: {} }] }],
    outbound: [],
  })
})

test.each([
  [
    'Restricted',
    { ip_restriction: { ip_policies: [{ id: 'ipp_1' }] }, mutual_tls: { certificate_authorities: [{ id: 'ca_1' }] } },
  ],
  [
    'MutualTLS',
    {
      ip_restriction: { enabled: false, ip_policies: [{ id: 'ipp_1' }] },
      mutual_tls: { certificate_authorities: [{ id: 'ca_1' }] },
    },
  ],
  ['Public', { ip_restriction: { enabled: true, ip_policies: [] }, mutual_tls: null }],
])('access is %s when the modules say so', (access, modules) => {
  expect(edge.status.shown({ id: 'x', ...modules }, {}).access).toBe(access)
})

test('the modules stand in the status as the API has them, no matter who set them', () => {
  const modules = {
    backend: { enabled: false, backend: null },
    ip_restriction: { ip_policies: [{ id: 'ipp_2' }, { id: 'ipp_1' }] },
    mutual_tls: { enabled: true, certificate_authorities: [{ id: 'ca_1' }] },
    tls_termination: { enabled: true, terminate_at: 'edge', min_version: 'tls1.2' },
    policy: { enabled: true, inbound: [{ name: 'a' }, { name: 'b' }], outbound: null },
  }
  expect(edge.status.shown({ id: 'x', ...modules }, {}).modules).toEqual({
    backend: { enabled: false },
    ipRestriction: { enabled: true, ipPolicyIDs: ['ipp_1', 'ipp_2'] },
    mutualTLS: { enabled: true, certificateAuthorityIDs: ['ca_1'] },
    tlsTermination: { enabled: true, terminateAt: 'Edge', minVersion: 'tls1.2' },
    trafficPolicy: { enabled: true, inboundRules: 2, outboundRules: 0 },
  })
  expect(edge.status.shown({ id: 'x', backend: null }, {})).not.toHaveProperty('modules')
})

describe('without a minVersion in the spec', () => {
  const tls: EdgeSpec = { protocol: 'TLS', tlsTermination: {} }
  const holding = (min_version: string | null) => ({
    id: 'x',
    tls_termination: { enabled: true, terminate_at: 'edge', min_version },
  })
  const differs = (min_version: string | null): boolean => {
    const found = holding(min_version)
    const wanted = edge.fields.comparable(edge.fields.desire(desiredOf({ spec: tls }), found)).tls_termination
    return JSON.stringify(wanted) !== JSON.stringify(edge.fields.observe(found).tls_termination)
  }

  test('none is sent', () => {
    expect(edge.fields.desire(desiredOf({ spec: tls }), undefined).tls_termination).toEqual({
      enabled: true,
      terminate_at: 'edge',
    })
  })

  test('an edge without one is up to date', () => {
    expect(differs(null)).toBe(false)
  })

  test.each(['1.0', '1.1', '1.2', '1.3', 'tls1.2'])(
    'a version %s that is not the service’s choice is drift',
    (version) => {
      expect(differs(version)).toBe(true)
    },
  )

  test.each(['1.2', '1.3'])('the module is sent without a version %s that the spec had named', (version) => {
    const found = stored({ metadata: 'marker', ...holding(version) })
    // Adopted: what the spec has set is in `internal.applied` until it has returned to its default.
    const wasSet = new Set([...edge.fields.setBy(tls), 'tls_termination.min_version', 'tls_termination.terminate_at'])
    for (const decides of [() => true, (field: string) => wasSet.has(field)]) {
      const update = planUpdate(edge, { ...desiredOf({ spec: tls }), decides }, found, quiet)
      expect(update?.body).toEqual({ tls_termination: { enabled: true, terminate_at: 'edge' } })
    }
    const neverSet = new Set(edge.fields.setBy(tls))
    const adopted = { ...desiredOf({ spec: tls }), decides: (field: string) => neverSet.has(field) }
    expect(planUpdate(edge, adopted, found, quiet)).toBeUndefined()
  })
})

test.each([
  ['1.2', ['tls1.2']],
  ['TLSv1.3', ['1.3']],
  ['newest', []],
])('a minVersion %s is sent as the spec has it, and by its other name where that is refused', (minVersion, others) => {
  const body = planCreate(edge, desiredOf<EdgeSpec>({ spec: { protocol: 'TLS', tlsTermination: { minVersion } } }), 'm')
  expect(body.tls_termination).toMatchObject({ min_version: minVersion })
  const sent = edge.fields.alternatives?.(body).map(({ tls_termination }) => tls_termination)
  expect(sent).toEqual(others.map((min_version) => expect.objectContaining({ min_version })))
})

test('a version is the same by both of its names', () => {
  const desired = desiredOf<EdgeSpec>({ spec: { protocol: 'TLS', tlsTermination: { minVersion: '1.2' } } })
  const found = (min_version: string) =>
    stored({ metadata: 'm', tls_termination: { enabled: true, terminate_at: 'edge', min_version } })
  expect(planUpdate(edge, desired, found('tls1.2'), quiet)).toBeUndefined()
  expect(planUpdate(edge, desired, found('tls1.3'), quiet)).toBeDefined()
})

test('a domain or address is in use while an edge listens on it', () => {
  const listening = { id: 'x', hostports: ['A.example.com:443', 't.example.net:1000'] }
  const reservations: Readonly<Record<string, ManagedDescriptor>> = {
    ReservedDomain: reservedDomain,
    ReservedAddress: reservedAddress,
  }
  const uses = (kind: string, target: RemoteObject) => {
    const used = edge.references.kinds.find((entry) => entry.kind === kind)?.valuesIn?.(listening) ?? []
    return reservations[kind]?.identity.valuesOf?.(target).some((value) => used.includes(value))
  }
  expect(uses('ReservedDomain', { id: 'rd', domain: 'a.example.com' })).toBe(true)
  expect(uses('ReservedDomain', { id: 'rd', domain: '*.example.com' })).toBe(true)
  expect(uses('ReservedDomain', { id: 'rd', domain: 'b.example.com' })).toBe(false)
  expect(uses('ReservedAddress', { id: 'ra', addr: 't.example.net:1000' })).toBe(true)
  expect(uses('ReservedAddress', { id: 'ra', addr: 't.example.net:1001' })).toBe(false)
})

test('an enabled module without what it needs is a problem, not an edge without the module', () => {
  expect(edge.problems({ protocol: 'TCP', ipRestriction: {} })).toEqual([
    'spec.ipRestriction.ipPolicyRefs is required while the module is enabled: set it, or set enabled: false',
  ])
})
