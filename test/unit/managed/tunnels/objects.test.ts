import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { covers } from '../../../../src/managed/composed/covers.ts'
import type { TunnelSpec } from '../../../../src/managed/descriptor/tunnel.ts'
import { conditionsOf } from '../../../../src/managed/tunnels/conditions.ts'
import { type Deployment, isRolledOut, mountedSecret } from '../../../../src/managed/tunnels/deployment.ts'
import { tunnelObjects } from '../../../../src/managed/tunnels/objects.ts'
import { bindText, type TunnelFacts } from '../../../../src/managed/tunnels/pod.ts'
import { lastError } from '../../../../src/managed/tunnels/pod-problems.ts'

const SPEC: TunnelSpec = { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } }
const FACTS: TunnelFacts = {
  name: 'shop',
  namespace: 'store',
  labels: { version: '1', app: 'shop' },
  key: { secret: 'shop-tunnel-key-1', key: 'id_ed25519' },
  agent: {
    type: 'own',
    image: 'culvert:1',
    gateway: { address: 'ssh.example.com:22', hostKeys: ['ssh-ed25519 AAAA', 'ssh-ed25519 BBBB'] },
  },
}

const metadata = { name: 'x', uid: 'u', resourceVersion: '1' }

describe('the objects of a Tunnel', () => {
  const objects = tunnelObjects(SPEC, FACTS)
  const deployment = objects.find(({ type }) => type.kind === 'Deployment')?.content as unknown as Deployment & {
    readonly spec: {
      readonly template: { readonly spec: { readonly containers: readonly { args: readonly string[] }[] } }
    }
  }

  test('bind exactly the labels of the Backend and lead to the Service', () => {
    const { args } = deployment.spec.template.spec.containers[0] ?? { args: [] }
    expect(args).toEqual(
      expect.arrayContaining([
        '--gateway=ssh.example.com:22',
        '--host-key=ssh-ed25519 AAAA',
        '--host-key=ssh-ed25519 BBBB',
        '--forward=app=shop,version=1=shop.store.svc:80',
      ]),
    )
  })

  test('mount the key, and keep the Pod Security Standard restricted', () => {
    expect(mountedSecret(deployment)).toBe('shop-tunnel-key-1')
    expect(deployment.spec.template.spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [{ securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }],
    })
  })

  test('are the same for the same Tunnel', () => {
    const reordered = { ...FACTS, labels: { app: 'shop', version: '1' } }
    expect(tunnelObjects(SPEC, reordered)).toEqual(objects)
  })
})

test.each([
  [{}, 'has no labels'],
  [{ 'a,b': 'x' }, 'has the label "a,b"'],
  [{ 'a=b': 'x' }, 'has the label "a=b"'],
  [{ app: 'x,y' }, 'has the label "app"'],
  [{ app: 'x y' }, 'has the label "app"'],
])('labels %j cannot be bound through SSH', (labels, why) => {
  expect(bindText(labels as Record<string, string>)).toMatchObject({ problem: expect.stringContaining(why) })
})

describe('a stored object', () => {
  test('covers what it was made from, whatever else it has', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (wanted) => {
        const stored =
          typeof wanted === 'object' && wanted !== null && !Array.isArray(wanted)
            ? { ...wanted, 'added by the server': true }
            : wanted
        expect(covers(stored, wanted)).toBe(true)
      }),
    )
  })

  test.each([
    ['500m', '0.5'],
    ['1Gi', '1024Mi'],
    ['1', '1000m'],
    ['1', 1],
    ['2', '0.2e1'],
    ['1P', '1000T'],
    [undefined, ''],
    [undefined, []],
    [{}, { a: {} }],
  ])('%j covers %j, which the server writes so', (stored, wanted) => {
    expect(covers(stored, wanted)).toBe(true)
  })

  test.each([
    [{ a: 1 }, { a: 2 }],
    [{}, { a: 1 }],
    [{ a: [1, 2] }, { a: [1] }],
    [{ a: [1] }, { a: [1, 2] }],
    [{ a: [2, 1] }, { a: [1, 2] }],
    [undefined, { a: 1 }],
    ['1', 2],
    ['1', true],
    ['500m', '0.6'],
    ['1Gi', '1G'],
    [undefined, false],
  ])('%j does not cover %j', (stored, wanted) => {
    expect(covers(stored, wanted)).toBe(false)
  })
})

test.each<[string, Deployment['status'], boolean]>([
  [
    'every agent is new and available',
    { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 },
    true,
  ],
  ['a former one is left', { observedGeneration: 2, replicas: 3, updatedReplicas: 2, availableReplicas: 3 }, false],
  ['one is not available', { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 1 }, false],
  [
    'its controller has not seen it',
    { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2 },
    false,
  ],
])('a Deployment of which %s is rolled out or not', (_what, status, expected) => {
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...metadata, generation: 2 },
    spec: { replicas: 2 },
  }
  expect(isRolledOut({ ...deployment, ...(status === undefined ? {} : { status }) })).toBe(expected)
})

test('the last words of the agent that gave up last are reported, before what keeps others from starting', () => {
  const pod = (status: object) => ({ apiVersion: 'v1', kind: 'Pod', metadata, status: { containerStatuses: [status] } })
  const ended = (finishedAt: string, message: string) => ({ lastState: { terminated: { finishedAt, message } } })
  const waiting = pod({ state: { waiting: { message: 'the image cannot be pulled' } } })
  expect(lastError([])).toBeUndefined()
  expect(lastError([waiting])).toBe('the image cannot be pulled')
  const early = pod(ended('2026-01-01T00:00:00Z', 'early'))
  const late = pod(ended('2026-01-02T00:00:00Z', 'late'))
  expect(lastError([waiting, late, early])).toBe('late')
})

test('a Tunnel that cannot go on says so in Synced, and keeps saying what its agents do', () => {
  const stamp = { lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 }
  const kept = conditionsOf({ type: 'kept', online: 2, wanted: 2, error: undefined }, {})
  const conditions = kept.map((condition) => ({ ...condition, ...stamp }))
  const said = conditionsOf({ type: 'stalled', reason: 'InvalidSpec', message: 'no' }, { conditions })
  const statuses = Object.fromEntries(said.map(({ type, status }) => [type, status]))
  expect(statuses).toEqual({ Ready: 'True', Connected: 'True', Synced: 'False', Stalled: 'True' })
})
