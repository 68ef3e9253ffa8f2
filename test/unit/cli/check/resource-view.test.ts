import { expect, test } from 'vitest'
import { readWorld } from '../../../../src/cli/check/account-world.ts'
import { resourceView } from '../../../../src/cli/check/views.ts'
import type { StatedResource } from '../../../../src/cli/cluster/resource-state.ts'
import { judge, verdictOf } from '../../../../src/judging/judge.ts'
import { DECIDED, type Step } from '../../../../src/judging/world.ts'
import { kinds } from '../../../../src/kinds/index.ts'
import { KindsRegistry } from '../../../../src/managed/kinds-registry.ts'

type Fields = Readonly<Record<string, unknown>>

const registry = new KindsRegistry(kinds)
const synced = {
  type: 'Ready',
  status: 'True',
  reason: 'Available',
  message: 'works',
  lastTransitionTime: '2026-11-30T09:00:00Z',
}

function resource(kind: string, name: string, spec: Fields, status: Fields, metadata: Fields = {}): StatedResource {
  const conditions = [synced] as NonNullable<StatedResource['status']>['conditions']
  return {
    apiVersion: 'culvert.dev/v1alpha1',
    kind,
    metadata: { namespace: 'web', name, uid: `uid-${name}`, resourceVersion: '1', ...metadata },
    spec,
    status: { conditions, ...status },
  } as StatedResource
}

const restricted = {
  backend: { enabled: true, backendID: 'b_1' },
  ipRestriction: { enabled: true, ipPolicyIDs: ['ipp_1'] },
}

/** An edge with a policy of two rules, one of which is an IPPolicyRule, over a group with one agent. */
function resources(modules: Fields = {}, edgeSpec: Fields = {}): readonly StatedResource[] {
  const rules = [
    { id: 'ipr_1', cidr: '203.0.113.0/24', action: 'allow' },
    { id: 'ipr_2', cidr: '203.0.113.9/32', action: 'deny' },
  ]
  return [
    resource(
      'Edge',
      'shop',
      { protocol: 'TCP', ...edgeSpec },
      { id: 'e_1', hostports: ['1.tcp.example:4000'], modules: { ...restricted, ...modules } },
    ),
    resource('IPPolicy', 'office', { rulesSource: 'IPPolicyRules' }, { id: 'ipp_1', rules, ruleCount: 2 }),
    resource('IPPolicyRule', 'guest', {}, { id: 'ipr_2' }),
    resource('Backend', 'web', { type: 'TunnelGroup' }, { id: 'b_1', tunnelCount: 1 }),
    resource('Tunnel', 'agents', { backendRef: { name: 'web' } }, {}),
    resource('SSHCredential', 'agents-key', {}, { id: 'sc_1' }, { ownerReferences: [{ uid: 'uid-agents' }] }),
    ...['sc_1', 'sc_other'].map((id, index) => {
      return resource(
        'TunnelSession',
        id,
        {},
        { credential: { id }, ip: `198.51.100.${index}`, agentVersion: '3.9.0', region: 'eu' },
      )
    }),
  ]
}

async function steps(all: readonly StatedResource[], source: string): Promise<readonly Step[]> {
  const view = resourceView(
    { kinds: registry, resources: all, namespace: 'web' },
    'up to 10m old',
    'the key may not be read',
  )
  const world = await readWorld(view, { host: '1.tcp.example', port: 4000 })
  return judge(world, { source, at: Date.parse('2026-11-30T10:00:00Z') }, DECIDED)
}

const of = (found: readonly Step[], kind: Step['kind']): Step | undefined => found.find((step) => step.kind === kind)

test('a status shows the rules, how many tunnels are online, and the sessions of the credential of a Tunnel', async () => {
  const found = await steps(resources(), '203.0.113.7')
  expect(verdictOf(found)).toBe('unknown')
  expect(of(found, 'restrictions')).toMatchObject({
    outcome: 'unknown',
    text: 'what no resource shows is not known, since the key may not be read',
  })
  expect(of(found, 'ip-policies')).toMatchObject({
    outcome: 'passes',
    rule: 'ipr_1',
    source: { name: 'IPPolicy/office' },
  })
  expect(of(found, 'backend')?.details).toEqual([
    'Backend/web: 1 tunnel online (up to 10m old)',
    '  session from 198.51.100.0, version 3.9.0, region eu',
  ])
})

test('a rule that is a resource is changed there', async () => {
  const step = of(await steps(resources(), '203.0.113.9'), 'ip-policies')
  expect(step).toMatchObject({ outcome: 'refuses', rule: 'ipr_2' })
  expect(step?.source?.command).toContain('kubectl edit ippolicyrules.culvert.dev/guest -n web')
})

test('a traffic policy that the spec does not set, or not as the account has it, is unknown', async () => {
  const modules = { trafficPolicy: { enabled: true, inboundRules: 1, outboundRules: 0 } }
  expect(of(await steps(resources(modules), '203.0.113.7'), 'traffic-policy')?.outcome).toBe('unknown')
  const trafficPolicy = { inbound: [{ name: 'night', expressions: ['true'], actions: [{ type: 'deny' }] }] }
  const found = await steps(resources(modules, { trafficPolicy }), '203.0.113.7')
  expect(of(found, 'traffic-policy')).toMatchObject({ outcome: 'refuses', rule: 'night' })
})

test('a policy that no resource has is unknown', async () => {
  const found = await steps(
    resources().filter(({ kind }) => kind !== 'IPPolicy'),
    '203.0.113.7',
  )
  expect(of(found, 'ip-policies')).toMatchObject({ outcome: 'unknown' })
})
