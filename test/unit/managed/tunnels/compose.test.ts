import { describe, expect, test } from 'vitest'
import { kinds } from '../../../../src/kinds/index.ts'
import type { Step } from '../../../../src/managed/composed/composition.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import type { TunnelStatus } from '../../../../src/managed/descriptor/tunnel.ts'
import { KindsRegistry } from '../../../../src/managed/kinds-registry.ts'
import { composeAgents, composeCredential, type Existing } from '../../../../src/managed/tunnels/compose.ts'
import type { Deployment } from '../../../../src/managed/tunnels/deployment.ts'
import type { TunnelResource } from '../../../../src/managed/tunnels/tunnel-resource.ts'

const registry = new KindsRegistry(kinds)
const NOW = Date.UTC(2026, 0, 1, 12)
const ISSUED = { issuedAt: '2026-01-01T00:00:00Z' }
const KEY_1 = { revision: 1, name: 'shop-tunnel-key-1', ...ISSUED }
const KEY_2 = { revision: 2, name: 'shop-tunnel-key-2', ...ISSUED }
const AT_REST = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2, observedGeneration: 1 }

function tunnel(status: TunnelStatus = {}): TunnelResource {
  return {
    apiVersion: 'culvert.dev/v1alpha1',
    kind: 'Tunnel',
    metadata: { namespace: 'store', name: 'shop', uid: 'uid-1', resourceVersion: '1', generation: 1 },
    spec: { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } },
    status,
  }
}

/** The credential that Culvert makes for a key, as it stands once it can be used. */
function credential(revision: number, app = 'shop'): CustomResource {
  const name = `shop-tunnel-key-${revision}`
  const conditions = ['Ready', 'Synced'].map((type) => ({ type, status: 'True', observedGeneration: 1 }))
  const labels = {
    'app.kubernetes.io/managed-by': 'culvert',
    'app.kubernetes.io/name': 'culvert-agent',
    'app.kubernetes.io/instance': 'shop',
    'culvert.dev/tunnel': 'shop',
  }
  return {
    apiVersion: 'culvert.dev/v1alpha1',
    kind: 'SSHCredential',
    metadata: {
      ...{ namespace: 'store', name, uid: name, resourceVersion: '1', generation: 1, labels },
      annotations: { 'internal.culvert.dev/output-of': 'Tunnel/shop' },
    },
    spec: {
      accountRef: { kind: 'Account', name: 'default' },
      publicKeyFrom: { secretKeyRef: { name, key: 'id_ed25519.pub' } },
      acl: [`bind:app=${app}`],
    },
    status: { id: 'cr_1', conditions },
  } as unknown as CustomResource
}

function deployment(secretName: string, status: object = AT_REST): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'store', name: 'shop-tunnel', uid: 'd', resourceVersion: '1', generation: 1 },
    spec: { replicas: 2, template: { spec: { volumes: [{ secret: { secretName } }] } } },
    status,
  }
}

function compose(
  cr: TunnelResource,
  of: { readonly credentials?: readonly CustomResource[]; readonly deployment?: Deployment; readonly hasKey?: boolean },
) {
  const [descriptor] = registry.composed
  if (descriptor === undefined) throw new Error('no kind of Tunnel')
  const existing: Existing = {
    descriptor,
    route: {
      labels: { app: 'shop' },
      accountRef: { kind: 'Account', name: 'default' },
      ssh: { image: 'culvert:1', gateway: { address: 'ssh.example.com:22', hostKeys: [] } },
    },
    deployment: of.deployment,
    hasKey: of.hasKey ?? true,
    kinds: registry,
    resources: { get: ({ name }) => of.credentials?.find(({ metadata }) => metadata.name === name) },
    now: NOW,
  }
  const plan = composeAgents(cr, existing, composeCredential(cr, existing), () => ({ leftMs: undefined, isNew: false }))
  const [course] = plan.courses
  return { status: plan.status, unfinished: course?.unfinished, steps: (course?.steps ?? []).map(shown) }
}

function shown(step: Step): string {
  switch (step.do) {
    case 'record':
      return 'record'
    case 'keep':
    case 'check':
      return `${step.do} ${step.wanted.type.kind} ${step.wanted.name}`
    case 'remove':
      return `remove ${step.type.kind} ${step.name}`
    default:
      return step.do
  }
}

const AGENTS = [
  'keep ServiceAccount shop-tunnel',
  'keep PodDisruptionBudget shop-tunnel',
  'keep Deployment shop-tunnel',
]

describe('a Tunnel', () => {
  test('records its key before it makes it, and waits for its credential', () => {
    const { steps, unfinished, status } = compose(tunnel(), {})
    expect(steps).toEqual(['record', 'make', 'record', 'keep SSHCredential shop-tunnel-key-1'])
    expect(unfinished).toMatchObject({ code: 'ReferenceNotReady' })
    expect(status.key).toEqual({ ...KEY_1, issuedAt: '2026-01-01T12:00:00Z' })
  })

  test('runs its agents once the credential can be used', () => {
    const { steps, unfinished } = compose(tunnel({ key: KEY_1 }), { credentials: [credential(1)] })
    expect(steps).toEqual(['record', 'keep SSHCredential shop-tunnel-key-1', ...AGENTS])
    expect(unfinished).toBeUndefined()
  })

  test('replaces no agent before an edit of its credential is carried out', () => {
    // It still has the conditions of its former spec.
    const { steps, unfinished } = compose(tunnel({ key: KEY_1 }), { credentials: [credential(1, 'other')] })
    expect(steps).toEqual(['record', 'keep SSHCredential shop-tunnel-key-1'])
    expect(unfinished).toMatchObject({ code: 'ReferenceNotReady' })
  })

  test('replaces a key that is gone by the next one', () => {
    const { steps, status } = compose(tunnel({ key: KEY_1 }), { credentials: [credential(1)], hasKey: false })
    expect(steps).toEqual(['record', 'make', 'record', 'keep SSHCredential shop-tunnel-key-2'])
    expect(status).toMatchObject({ key: { revision: 2 }, formerKey: { revision: 1 } })
  })

  test.each<[string, Deployment, string | undefined, readonly string[], object | undefined]>([
    ['while agents still mount it', deployment(KEY_1.name), undefined, [], { revision: 1 }],
    [
      'while agents are replaced',
      deployment(KEY_2.name, { ...AT_REST, updatedReplicas: 1 }),
      undefined,
      [],
      { revision: 1 },
    ],
    [
      'for a while after that',
      deployment(KEY_2.name),
      undefined,
      [],
      { revision: 1, retireAt: '2026-01-01T12:01:00Z' },
    ],
    [
      'until it is due',
      deployment(KEY_2.name),
      '2026-01-01T12:00:00Z',
      ['remove SSHCredential shop-tunnel-key-1', 'remove Secret shop-tunnel-key-1'],
      undefined,
    ],
  ])('has its former key %s', (_, stored, retireAt, removals, formerKey) => {
    const former = { revision: 1, ...(retireAt === undefined ? {} : { retireAt }) }
    const { steps, status } = compose(tunnel({ key: KEY_2, formerKey: former }), {
      credentials: [credential(2)],
      deployment: stored,
    })
    expect(steps.slice(2)).toEqual([...AGENTS, ...removals])
    expect(status.formerKey).toEqual(formerKey)
  })
})
