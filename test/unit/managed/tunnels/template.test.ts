import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TunnelTemplate } from '../../../../src/managed/descriptor/pod/template.ts'
import type { TunnelSpec } from '../../../../src/managed/descriptor/tunnel.ts'
import { tunnelObjects } from '../../../../src/managed/tunnels/objects.ts'
import { agentPod, type Pod, type TunnelFacts } from '../../../../src/managed/tunnels/pod.ts'
import { templateProblems, withTemplate } from '../../../../src/managed/tunnels/template.ts'

const SPEC: TunnelSpec = { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } }
const common = { name: 'shop', namespace: 'store', labels: { app: 'shop' } }
const OWN: TunnelFacts = {
  ...common,
  key: { secret: 'shop-tunnel-key-1', key: 'id_ed25519' },
  agent: {
    type: 'own',
    image: 'culvert:1',
    gateway: { address: 'ssh.example.com:22', hostKeys: ['ssh-ed25519 AAAA'] },
  },
}
const AGENT = { image: 'agent:1', args: ['--token=$(CULVERT_TOKEN)'], env: [{ name: 'LEVEL', value: 'debug' }] }
const FOREIGN: TunnelFacts = {
  ...common,
  key: { secret: 'shop-tunnel-token-1', key: 'token' },
  agent: { type: 'foreign', spec: AGENT, version: 'cr_1' },
}
const labels = { 'culvert.dev/tunnel': 'shop' }
const podOf = (facts: TunnelFacts, spec = SPEC) => agentPod(spec, facts, { selector: { matchLabels: labels }, labels })

/** What no template may change. */
function fixed({ metadata, spec }: Pod): object {
  const { serviceAccountName, automountServiceAccountToken, securityContext, containers, volumes } = spec
  const [agent] = containers
  const { env = [], volumeMounts = [] } = agent ?? {}
  return {
    tunnel: metadata.labels['culvert.dev/tunnel'],
    version: metadata.annotations?.['internal.culvert.dev/token-of'],
    serviceAccountName,
    automountServiceAccountToken,
    confined: [securityContext.runAsNonRoot, securityContext.seccompProfile, new Set(Object.keys(securityContext))],
    agent: {
      ...agent,
      resources: undefined,
      env: env.filter(({ name }) => name.startsWith('CULVERT_')),
      volumeMounts: volumeMounts.filter(({ name }) => name === 'key'),
    },
    key: volumes.filter(({ name }) => name === 'key'),
  }
}

const POD_FIELDS = [
  'serviceAccountName',
  'automountServiceAccountToken',
  'hostNetwork',
  'hostPID',
  'hostIPC',
  'shareProcessNamespace',
  'initContainers',
  'ephemeralContainers',
  'nodeName',
]
const word = fc.constantFrom('agent', 'key', 'side', 'a', 'b', 'CULVERT_TOKEN', 'culvert.dev/tunnel')
const free = fc.jsonValue({ maxDepth: 2 })
const source = fc.record(
  { secret: free, hostPath: free, projected: free, configMap: fc.constant({ name: 'a' }), emptyDir: fc.constant({}) },
  { requiredKeys: [] },
)
const variable = fc.record(
  {
    name: word,
    value: fc.string(),
    valueFrom: fc.record({ secretKeyRef: free, fieldRef: fc.constant({ fieldPath: 'status.podIP' }) }),
  },
  { requiredKeys: ['name'] },
)
const container = fc.record(
  {
    name: word,
    image: word,
    command: fc.array(word),
    args: fc.array(word),
    env: fc.array(variable),
    envFrom: free,
    ports: free,
    lifecycle: free,
    securityContext: free,
    readinessProbe: free,
    resources: fc.record({ limits: fc.dictionary(word, fc.constant('1')) }, { requiredKeys: [] }),
    volumeMounts: fc.array(
      fc.record({ name: word, mountPath: fc.constantFrom('/a', '/etc/culvert/key', '/etc/culvert', '/b') }),
    ),
  },
  { requiredKeys: ['name'] },
)
/** Whatever a CRD that somebody changed would let through. */
const anyTemplate = fc
  .record({
    metadata: fc.record(
      { labels: fc.dictionary(word, fc.string()), annotations: fc.dictionary(word, fc.string()) },
      { requiredKeys: [] },
    ),
    known: fc.record(
      {
        containers: fc.array(container),
        volumes: fc.array(fc.tuple(word, source).map(([name, rest]) => ({ name, ...rest }))),
        securityContext: fc.record(
          { runAsUser: fc.nat(), runAsNonRoot: fc.boolean(), seccompProfile: free, sysctls: free },
          { requiredKeys: [] },
        ),
        nodeSelector: fc.dictionary(word, word),
        topologySpreadConstraints: fc.array(
          fc.record({
            topologyKey: fc.constantFrom('kubernetes.io/hostname', 'rack'),
            maxSkew: fc.nat(),
            whenUnsatisfiable: fc.constant('DoNotSchedule'),
            labelSelector: free,
          }),
        ),
      },
      { requiredKeys: [] },
    ),
    unknown: fc.dictionary(fc.constantFrom(...POD_FIELDS), free),
  })
  .map(({ metadata, known, unknown }) => ({ metadata, spec: { ...unknown, ...known } }) as unknown as TunnelTemplate)

describe('a template', () => {
  test.each([OWN, FOREIGN])('never changes what is fixed, whatever it says', (facts) => {
    const before = podOf(facts)
    fc.assert(
      fc.property(anyTemplate, (template) => {
        const after = withTemplate(before, template)
        expect(fixed(after)).toEqual(fixed(before))
        expect(Object.keys(after.spec).filter((field) => POD_FIELDS.includes(field))).toEqual([
          'serviceAccountName',
          'automountServiceAccountToken',
        ])
        for (const { securityContext, env = [], volumeMounts = [], envFrom, ports, lifecycle, name } of after.spec
          .containers) {
          expect(securityContext).toEqual(before.spec.containers[0]?.securityContext)
          expect(envFrom ?? lifecycle).toBeUndefined()
          expect(ports).toEqual(name === 'agent' ? before.spec.containers[0]?.ports : undefined)
          const secrets = env.filter(
            ({ valueFrom }) => (valueFrom as { secretKeyRef?: object } | undefined)?.secretKeyRef,
          )
          expect(secrets.map((each) => each.name)).toEqual(
            name === 'agent' && facts === FOREIGN ? ['CULVERT_TOKEN'] : [],
          )
          expect(volumeMounts.filter((mount) => mount.mountPath.startsWith('/etc/culvert'))).toHaveLength(
            name === 'agent' ? 1 : 0,
          )
        }
        for (const volume of after.spec.volumes.filter(({ name }) => name !== 'key')) {
          expect(Object.keys(volume).filter((field) => !['name', 'configMap', 'emptyDir'].includes(field))).toEqual([])
        }
      }),
    )
  })

  test.each([OWN, FOREIGN])('without anything in it changes nothing', (facts) => {
    const before = podOf(facts)
    const empty = [{}, { metadata: {} }, { spec: {} }, { metadata: { labels: {}, annotations: {} }, spec: {} }]
    for (const template of [undefined, ...empty]) expect(withTemplate(before, template)).toEqual(before)
    const lists = { tolerations: [], containers: [], volumes: [], topologySpreadConstraints: [] }
    expect(withTemplate(before, { spec: { containers: lists.containers, volumes: lists.volumes } })).toEqual(before)
  })

  test('is merged over the Pods: maps by key, and lists by name', () => {
    const { metadata, spec } = withTemplate(podOf(OWN), {
      metadata: { labels: { team: 'shop' }, annotations: { 'example.com/scrape': 'yes' } },
      spec: {
        nodeSelector: { pool: 'edge' },
        tolerations: [{ key: 'edge', operator: 'Exists' }],
        priorityClassName: 'high',
        imagePullSecrets: [{ name: 'registry' }],
        securityContext: { runAsUser: 1000 },
        topologySpreadConstraints: [
          { topologyKey: 'kubernetes.io/hostname', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
        ],
        containers: [
          {
            name: 'agent',
            env: [{ name: 'TZ', value: 'UTC' }],
            resources: { limits: { memory: '256Mi', cpu: '1' } },
            volumeMounts: [{ name: 'settings', mountPath: '/settings', readOnly: false }],
          },
          { name: 'side', image: 'side:1', args: ['run'] },
        ],
        volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
      },
    })
    expect(metadata).toEqual({
      labels: { ...labels, team: 'shop' },
      annotations: { 'example.com/scrape': 'yes' },
    })
    expect(spec).toMatchObject({
      nodeSelector: { pool: 'edge' },
      tolerations: [{ key: 'edge', operator: 'Exists' }],
      priorityClassName: 'high',
      imagePullSecrets: [{ name: 'registry' }],
      securityContext: { runAsUser: 1000, runAsGroup: 65_532, runAsNonRoot: true },
      topologySpreadConstraints: [
        { topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
        {
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: labels },
        },
      ],
      containers: [
        {
          name: 'agent',
          image: 'culvert:1',
          env: [{ name: 'TZ', value: 'UTC' }],
          resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi', cpu: '1' } },
          volumeMounts: [
            { name: 'key', mountPath: '/etc/culvert/key' },
            { name: 'settings', mountPath: '/settings' },
          ],
        },
        { name: 'side', image: 'side:1', args: ['run'], securityContext: { capabilities: { drop: ['ALL'] } } },
      ],
      volumes: [{ name: 'key' }, { name: 'settings', configMap: { name: 'settings' } }],
    })
  })

  test('gives agents more time to drain', () => {
    const spec = { ...SPEC, template: { spec: { terminationGracePeriodSeconds: 600 } } }
    const { terminationGracePeriodSeconds, containers } = podOf(OWN, spec).spec
    expect(terminationGracePeriodSeconds).toBe(600)
    expect(containers[0]?.args).toContain('--drain=585s')
  })

  test('that changes is noted on the Deployment', () => {
    const digest = (spec: TunnelSpec) => {
      const deployment = tunnelObjects(spec, OWN).find(({ type }) => type.kind === 'Deployment')
      return deployment?.annotations['internal.culvert.dev/template-digest']
    }
    expect(digest({ ...SPEC, replicas: 5 })).toBe(digest(SPEC))
    expect(digest({ ...SPEC, template: { spec: { priorityClassName: 'high' } } })).not.toBe(digest(SPEC))
  })
})

test('an agent of the service is told by its environment what to do, and starts anew with another token', () => {
  const { metadata, spec } = podOf(FOREIGN)
  expect(metadata.annotations).toEqual({ 'internal.culvert.dev/token-of': 'cr_1' })
  expect(spec.containers).toMatchObject([
    {
      name: 'agent',
      image: 'agent:1',
      args: ['--token=$(CULVERT_TOKEN)'],
      env: [
        { name: 'CULVERT_TOKEN', valueFrom: { secretKeyRef: { name: 'shop-tunnel-token-1', key: 'token' } } },
        { name: 'CULVERT_TOKEN_FILE', value: '/etc/culvert/key/token' },
        { name: 'CULVERT_LABELS', value: 'app=shop' },
        { name: 'CULVERT_UPSTREAM', value: 'shop.store.svc:80' },
        { name: 'CULVERT_UPSTREAM_HOST', value: 'shop.store.svc' },
        { name: 'CULVERT_UPSTREAM_PORT', value: '80' },
        { name: 'LEVEL', value: 'debug' },
      ],
      securityContext: { allowPrivilegeEscalation: false },
    },
  ])
  expect(spec.volumes).toMatchObject([{ name: 'key', secret: { secretName: 'shop-tunnel-token-1' } }])
})

describe('keys of a template', () => {
  test.each<[string, TunnelTemplate, string]>([
    ['a label', { metadata: { labels: { 'a b': 'c' } } }, 'spec.template.metadata.labels: "a b" is not a valid key'],
    ['an annotation', { metadata: { annotations: { '/a': '' } } }, 'spec.template.metadata.annotations: "/a" is not'],
    ['a node label', { spec: { nodeSelector: { 'A/b': 'c' } } }, 'spec.template.spec.nodeSelector: "A/b" is not'],
    ['one of Culvert', { metadata: { labels: { 'x.culvert.dev/a': 'b' } } }, 'is under culvert.dev, which is Culvert'],
  ])('that no object can have are named: %s', (_what, template, problem) => {
    expect(templateProblems(template)).toEqual([expect.stringContaining(problem)])
  })

  test('that can be are taken', () => {
    const labels = { team: 'edge', 'example.com/tier': 'web' }
    expect(templateProblems({ metadata: { labels, annotations: labels }, spec: { nodeSelector: labels } })).toEqual([])
  })
})
