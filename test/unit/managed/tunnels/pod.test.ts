import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TunnelTemplate } from '../../../../src/managed/descriptor/pod/template.ts'
import type { TunnelSpec } from '../../../../src/managed/descriptor/tunnel.ts'
import { tunnelObjects } from '../../../../src/managed/tunnels/objects.ts'
import { agentPod, type TunnelFacts } from '../../../../src/managed/tunnels/pod.ts'

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
const podOf = (facts: TunnelFacts, template?: TunnelTemplate) => {
  const spec = template === undefined ? SPEC : { ...SPEC, template }
  return agentPod(spec, facts, { selector: { matchLabels: labels }, labels })
}

const PLACING = ['nodeSelector', 'affinity', 'tolerations', 'priorityClassName']
const word = fc.constantFrom('a', 'b', 'culvert.dev/tunnel', 'internal.culvert.dev/token-of')
const free = fc.jsonValue({ maxDepth: 2 })
const texts = fc.dictionary(word, fc.string())
const known = fc.record(
  {
    labels: texts,
    annotations: texts,
    nodeSelector: texts,
    affinity: free,
    tolerations: fc.array(fc.record({ key: word })),
    topologySpreadConstraints: fc.array(fc.dictionary(word, free)),
    resources: fc.record({ requests: free, limits: free, claims: free }, { requiredKeys: [] }),
    priorityClassName: word,
  },
  { requiredKeys: [] },
)
const others = fc.dictionary(
  fc.constantFrom('spec', 'metadata', 'containers', 'hostNetwork', 'volumes', 'serviceAccountName', 'securityContext'),
  free,
)
/** Whatever a CRD that somebody changed would let through. */
const anyTemplate = fc.tuple(known, others).map(([first, rest]) => ({ ...rest, ...first }) as unknown as TunnelTemplate)

describe('the template of a Tunnel', () => {
  test.each([OWN, FOREIGN])('changes nothing but what it may, whatever it says', (facts) => {
    const before = podOf(facts)
    const fields = new Set([...Object.keys(before.spec), ...PLACING])
    fc.assert(
      fc.property(anyTemplate, (template) => {
        const { metadata, spec } = podOf(facts, template)
        expect(metadata.labels).toMatchObject(before.metadata.labels)
        expect(metadata.annotations ?? {}).toMatchObject(before.metadata.annotations ?? {})
        expect(Object.keys(spec).filter((field) => !fields.has(field))).toEqual([])
        const rest = Object.fromEntries(Object.entries(spec).filter(([field]) => !PLACING.includes(field)))
        const [{ resources, ...agent } = { resources: {} }] = spec.containers
        expect(Object.keys(resources ?? {}).filter((field) => !['requests', 'limits'].includes(field))).toEqual([])
        const { resources: _, ...agentBefore } = before.spec.containers[0] ?? {}
        expect({ ...rest, topologySpreadConstraints: [], containers: [agent] }).toEqual({
          ...before.spec,
          topologySpreadConstraints: [],
          containers: [agentBefore],
        })
      }),
    )
  })

  test.each([OWN, FOREIGN])('without anything in it changes nothing', (facts) => {
    for (const template of [{}, { labels: {}, annotations: {} }]) expect(podOf(facts, template)).toEqual(podOf(facts))
  })

  test('says where agents run, and with what', () => {
    const toleration = { key: 'edge', operator: 'Exists' }
    const constraint = { topologyKey: 'rack', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }
    const labelSelector = { matchLabels: { app: 'other' } }
    const { metadata, spec } = podOf(OWN, {
      labels: { team: 'shop' },
      annotations: { 'example.com/scrape': 'yes' },
      nodeSelector: { pool: 'edge' },
      affinity: { nodeAffinity: {} },
      tolerations: [toleration],
      topologySpreadConstraints: [constraint, { ...constraint, labelSelector }],
      resources: { limits: { cpu: 1 } },
      priorityClassName: 'high',
    })
    expect(metadata).toEqual({ labels: { ...labels, team: 'shop' }, annotations: { 'example.com/scrape': 'yes' } })
    expect(spec).toMatchObject({
      nodeSelector: { pool: 'edge' },
      affinity: { nodeAffinity: {} },
      tolerations: [toleration],
      priorityClassName: 'high',
      terminationGracePeriodSeconds: 45,
    })
    expect(spec.topologySpreadConstraints).toEqual([
      { ...constraint, labelSelector: { matchLabels: labels } },
      { ...constraint, labelSelector },
    ])
    expect(spec.containers[0]?.resources).toEqual({ limits: { cpu: 1 } })
  })

  test('that changes is recorded on the Deployment', () => {
    const digest = (spec: TunnelSpec) => {
      const deployment = tunnelObjects(spec, OWN).find(({ type }) => type.kind === 'Deployment')
      return deployment?.annotations['internal.culvert.dev/template-digest']
    }
    expect(digest({ ...SPEC, replicas: 5 })).toBe(digest(SPEC))
    expect(digest({ ...SPEC, template: { priorityClassName: 'high' } })).not.toBe(digest(SPEC))
  })
})

test('the service’s own agent is configured by its environment, and starts again with another token', () => {
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
