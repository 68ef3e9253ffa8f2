import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject, ResourceType } from '../../../src/kube/types.ts'
import { equalJSON } from '../../../src/util/json.ts'
import { AuditLog } from '../support/audit-log.ts'
import { deployments, reportAgents } from '../support/tunnel-agent.ts'
import { until } from '../support/wait.ts'
import { conditionOf, core, World } from '../support/world.ts'

const secrets = core('secrets', 'Secret')
const IMAGE = 'registry.example.com/agents/own:1'
const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGWj5WsELK+Ia2pYS7rEcYT1J3hZz5UlEu40Jb6MKuWp'
const SPEC = { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } }

interface Container {
  readonly name: string
  readonly image: string
  readonly args?: readonly string[]
  readonly env?: readonly { readonly name: string; readonly valueFrom?: object }[]
  readonly resources?: object
}

interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas: number
    readonly template: {
      readonly metadata: Pick<KubeObject['metadata'], 'labels' | 'annotations'>
      readonly spec: {
        readonly containers: readonly [Container, ...Container[]]
        readonly nodeSelector?: object
        readonly hostNetwork?: boolean
        readonly tolerations?: readonly object[]
        readonly volumes: readonly object[]
        readonly serviceAccountName: string
      }
    }
  }
}

type Pods = Deployment['spec']['template']

let world: World
beforeAll(async () => {
  const allowed = ['--allow-agent-image', 'registry.example.com/agents/*', '--allow-agent-metadata', 'example.com/*']
  world = await World.open({
    flags: [
      '--tunnels',
      '--agent-image',
      'culvert:test',
      '--allow-ssh-gateway',
      'ssh.example.com:22',
      '--tunnel-templates',
      ...allowed,
    ],
  })
  await world.apply('Backend', 'shop', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop', version: '1' } } })
  await world.ready('Backend', 'shop')
})
afterAll(() => world[Symbol.asyncDispose]())

async function setGateway(at: World): Promise<void> {
  const { baseURL, apiKeySecretRef } = (await at.get('Account', 'default'))?.spec ?? {}
  const sshGateway = { address: 'ssh.example.com:22', hostKeys: [HOST_KEY] }
  await at.apply('Account', 'default', { baseURL, apiKeySecretRef, resyncInterval: '10m', sshGateway })
}

const find = (name: string): Promise<Deployment | undefined> => {
  return world.kube.get<Deployment>(deployments, { namespace: world.namespace, name: `${name}-tunnel` })
}

/** The Deployment of a Tunnel, once something holds of its Pods. */
async function podsOf(tunnel: string, holds: (pods: Pods) => unknown = () => true) {
  const deployment = await until(`the Deployment of ${tunnel} is up to date`, async () => {
    const found = await find(tunnel)
    return found !== undefined && holds(found.spec.template) ? found : undefined
  })
  return deployment.spec.template
}

async function connect(tunnel: string): Promise<void> {
  await reportAgents(world, tunnel)
  await until(`${tunnel} is connected`, async () => {
    return conditionOf(await world.get('Tunnel', tunnel), 'Connected')?.status === 'True'
  })
}

const FULL = {
  labels: { 'example.com/team': 'shop' },
  annotations: { 'example.com/scrape': 'true' },
  nodeSelector: { pool: 'edge' },
  tolerations: [{ key: 'edge', operator: 'Exists', effect: 'NoSchedule' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'pool', operator: 'In', values: ['edge'] }] }],
      },
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 5, podAffinityTerm: { topologyKey: 'rack', labelSelector: { matchLabels: { app: 'shop' } } } },
      ],
    },
  },
  topologySpreadConstraints: [
    { topologyKey: 'kubernetes.io/hostname', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
  ],
  // Written in another way than the server does.
  resources: { requests: { cpu: 0.05 }, limits: { memory: '1024Mi', cpu: '0.1e1' } },
  priorityClassName: 'high',
}

/** What the operator sent that changes something of a Tunnel's Deployment, once another Tunnel has its own. */
async function writesTo(tunnel: string, mark: number): Promise<readonly string[]> {
  await world.apply('Tunnel', `after-${tunnel}`, SPEC)
  await podsOf(`after-${tunnel}`)
  const entries = await AuditLog.ofSuite().entries(mark)
  return entries
    .filter(
      ({ namespace, name, userAgent }) =>
        namespace === world.namespace && userAgent === 'culvert' && name === `${tunnel}-tunnel`,
    )
    .filter(({ verb }) => verb !== 'get')
    .map(({ verb, resource }) => `${verb} ${resource}`)
}

const admission = { group: 'admissionregistration.k8s.io', namespaced: false }

/** Adds a label and a toleration to the Pods of a Deployment, at each write, until it is disposed of. */
async function addingPolicy(deployment: string): Promise<AsyncDisposable> {
  const name = `adds-to-${world.namespace}`
  const [policies, bindings] = ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'].map((kind) => {
    const plural = kind.toLowerCase().replace(/y$/, 'ies').replace(/g$/, 'gs')
    return { ...core(plural, kind), ...admission }
  }) as [ResourceType, ResourceType]
  const toleration = 'Object.spec.template.spec.tolerations{key: "injected", operator: "Exists"}'
  const add = (path: string, value: string) => `JSONPatch{op: "add", path: "/spec/template/${path}", value: ${value}}`
  const present = 'object.spec.template.spec.?tolerations.orValue([])'
  // The API server of Kubernetes 1.36 panics at a list of objects as a value.
  const expression = `[${add('metadata/labels/example.com~1injected', '"yes"')}]
    + (${present}.size() > 0 ? [] : [${add('spec/tolerations', '[]')}])
    + (${present}.exists(each, each.key == "injected") ? [] : [${add('spec/tolerations/-', toleration)}])`
  await world.kube.create(
    policies,
    { name },
    {
      spec: {
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
        matchConstraints: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': world.namespace } },
          resourceRules: [
            { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['deployments'] },
          ],
        },
        matchConditions: [{ name: 'name', expression: `object.metadata.name == "${deployment}"` }],
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
      },
    },
  )
  await world.kube.create(bindings, { name }, { spec: { policyName: name } })
  const labels = { app: 'probe' }
  const probe = {
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a:1' }] } },
    },
  }
  await until('the policy is in force', async () => {
    const key = { namespace: world.namespace, name: deployment }
    const { spec } = await world.kube.create<Deployment>(deployments, key, probe, { dryRun: true })
    return spec.template.metadata.labels?.['example.com/injected'] === 'yes'
  })
  return {
    [Symbol.asyncDispose]: async () => {
      await world.kube.delete(bindings, { name })
      await world.kube.delete(policies, { name })
    },
  }
}

describe('the template of a Tunnel', () => {
  test('says where its agents run, and is gone with the field', async () => {
    await setGateway(world)
    await world.apply('Tunnel', 'placed', { ...SPEC, template: FULL })
    const { metadata, spec } = await podsOf('placed')
    expect(metadata).toMatchObject({ labels: { 'culvert.dev/tunnel': 'placed', 'example.com/team': 'shop' } })
    expect(spec).toMatchObject({
      serviceAccountName: 'placed-tunnel',
      nodeSelector: { pool: 'edge' },
      tolerations: [{ key: 'edge' }],
      affinity: FULL.affinity,
      terminationGracePeriodSeconds: 45,
      topologySpreadConstraints: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { 'culvert.dev/tunnel': 'placed' } } },
      ],
      containers: [
        {
          name: 'agent',
          image: 'culvert:test',
          resources: { requests: { cpu: '50m' }, limits: { memory: '1Gi', cpu: '1' } },
        },
      ],
    })
    await connect('placed')
    expect(conditionOf(await world.get('Tunnel', 'placed'), 'Synced')?.status).toBe('True')

    await world.apply('Tunnel', 'placed', { ...SPEC, template: { nodeSelector: { zone: 'a' } } })
    const changed = await podsOf('placed', ({ metadata: { labels } }) => labels?.['example.com/team'] === undefined)
    expect(changed.spec.nodeSelector).toEqual({ zone: 'a' })
    expect(changed.spec).not.toHaveProperty('affinity')
    expect(changed.spec).not.toHaveProperty('tolerations')
    expect(changed.spec.containers[0].resources).toEqual({
      requests: { cpu: '10m', memory: '64Mi' },
      limits: { memory: '512Mi' },
    })

    await world.apply('Tunnel', 'placed', SPEC)
    await podsOf('placed', ({ spec }) => spec.nodeSelector === undefined)
  })

  test('costs no request at rest, however its values are written', async () => {
    await setGateway(world)
    await world.apply('Tunnel', 'quiet', { ...SPEC, template: FULL })
    await podsOf('quiet')
    await connect('quiet')
    const mark = await AuditLog.ofSuite().mark()
    const key = { namespace: world.namespace, name: 'quiet-tunnel' }
    await world.kube.mergePatch(deployments, key, { metadata: { annotations: { note: 'seen' } } })
    expect(await writesTo('quiet', mark)).toEqual([])
  })

  test.each<[string, object]>([
    ['network', { spec: { hostNetwork: true } }],
    ['label', { metadata: { labels: { injected: 'yes' } } }],
    ['container', { spec: { initContainers: [{ name: 'side', image: 'side:1' }] } }],
  ])('is all that there is of the Pods: what an editor adds is gone after one write (%s)', async (name, template) => {
    await setGateway(world)
    await world.apply('Tunnel', name, SPEC)
    const before = await podsOf(name)
    await connect(name)
    const mark = await AuditLog.ofSuite().mark()
    const key = { namespace: world.namespace, name: `${name}-tunnel` }
    const edited = await world.kube.mergePatch<Deployment>(deployments, key, { spec: { template } })
    expect(edited.spec.template).not.toEqual(before)
    expect(await podsOf(name, (pods) => equalJSON(pods, before))).toEqual(before)
    expect(await writesTo(name, mark)).toEqual(['patch deployments'])
  })

  test('leaves kubectl rollout restart alone', async () => {
    await setGateway(world)
    await world.apply('Tunnel', 'restarted', SPEC)
    await podsOf('restarted')
    await connect('restarted')
    const mark = await AuditLog.ofSuite().mark()
    const key = { namespace: world.namespace, name: 'restarted-tunnel' }
    const annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-01-02T03:04:05+01:00' }
    await world.kube.mergePatch(deployments, key, { spec: { template: { metadata: { annotations } } } })
    expect(await writesTo('restarted', mark)).toEqual([])
    await world.apply('Tunnel', 'restarted', { ...SPEC, template: { nodeSelector: { zone: 'a' } } })
    const changed = await podsOf('restarted', ({ spec }) => spec.nodeSelector)
    expect(changed.metadata.annotations).toEqual(annotations)
  })

  test('keeps what an admission policy adds to each write, without a fight over it', async () => {
    await setGateway(world)
    await using _policy = await addingPolicy('mutated-tunnel')
    await world.apply('Tunnel', 'mutated', {
      ...SPEC,
      template: { tolerations: [{ key: 'edge', operator: 'Exists' }] },
    })
    const added = { labels: { 'example.com/injected': 'yes' } }
    const mutated = ({ metadata, spec }: Pods) => [metadata.labels?.['example.com/injected'], spec.tolerations?.length]
    const before = await podsOf('mutated')
    expect(before.metadata).toMatchObject(added)
    expect(mutated(before)).toEqual(['yes', 2])
    await connect('mutated')
    const mark = await AuditLog.ofSuite().mark()
    const key = { namespace: world.namespace, name: 'mutated-tunnel' }
    await world.kube.mergePatch(deployments, key, { metadata: { annotations: { note: 'seen' } } })
    expect(await writesTo('mutated', mark)).toEqual([])
    await world.kube.mergePatch(deployments, key, { spec: { template: { spec: { hostNetwork: true } } } })
    expect(await podsOf('mutated', ({ spec }) => spec.hostNetwork === undefined)).toEqual(before)
    await world.apply('Tunnel', 'mutated', SPEC)
    expect(mutated(await podsOf('mutated', ({ spec }) => spec.tolerations?.length === 1))).toEqual(['yes', 1])
    await connect('mutated')
  })

  test.each<[string, object, string]>([
    ['misspelt', { affinity: { nodeAfinity: {} } }, 'unknown field "spec.template.affinity.nodeAfinity"'],
    ['mistyped', { tolerations: [{ key: 'a', value: 1 }] }, 'spec.template.tolerations.value of type string'],
    ['invalid', { tolerations: [{ key: 'a', operator: 'In' }] }, 'spec.template.tolerations[0].operator: '],
    ['unlabelled', { labels: { 'example.com/-': 'b' } }, 'spec.template.labels: Invalid value: "example.com/-"'],
    ['unmeasured', { resources: { limits: { cpu: 'much' } } }, 'quantities must match the regular expression'],
    ['reversed', { resources: { requests: { cpu: 2 }, limits: { cpu: 1 } } }, 'spec.template.resources.requests: '],
  ])('is checked by the API server before anything is made or changed: %s', async (name, template, why) => {
    await setGateway(world)
    await world.apply('Tunnel', name, { ...SPEC, template })
    const said = await world.reason('Tunnel', name, 'Stalled', 'InvalidSpec')
    expect(said.message).toContain('spec.template: refused by the API server')
    expect(said.message).toContain(why)
    expect(said.message).not.toContain('spec.template.spec')
    expect(await find(name)).toBeUndefined()
    expect(await world.kube.get(secrets, { namespace: world.namespace, name: `${name}-tunnel-key-1` })).toBeUndefined()

    await world.apply('Tunnel', name, SPEC)
    const before = await podsOf(name)
    await connect(name)
    await world.apply('Tunnel', name, { ...SPEC, template })
    // The same words, whether the Deployment is new or not.
    expect((await world.reason('Tunnel', name, 'Stalled', 'InvalidSpec')).message).toBe(said.message)
    expect((await find(name))?.spec.template).toEqual(before)
  })

  test.each<[string, object, string]>([
    ['labelled', { labels: { team: 'shop' } }, 'spec.template.labels: "team" is not allowed'],
    [
      'critical',
      { priorityClassName: 'system-node-critical' },
      'spec.template.priorityClassName: "system-node-critical"',
    ],
  ])('may only have what the administrator has listed: %s', async (name, template, why) => {
    await setGateway(world)
    await world.apply('Tunnel', name, { ...SPEC, template })
    expect((await world.reason('Tunnel', name, 'Synced', 'TemplateNotAllowed')).message).toContain(why)
    expect(await find(name)).toBeUndefined()
  })
})

describe('an agent of the service', () => {
  const agent = {
    image: IMAGE,
    command: ['/agent'],
    args: ['--token-file=$(CULVERT_TOKEN_FILE)', '--to=$(CULVERT_UPSTREAM)'],
    readinessProbe: { tcpSocket: { port: 8081 } },
    livenessProbe: { tcpSocket: { port: 8081 } },
  }
  const secretOf = ({ spec: { containers } }: Pods): string | undefined => {
    const { valueFrom } = containers[0].env?.find(({ name }) => name === 'CULVERT_TOKEN') ?? {}
    return (valueFrom as { readonly secretKeyRef: { readonly name: string } } | undefined)?.secretKeyRef.name
  }
  const credentials = async () => (await world.remote('credentials')).map(({ id, acl }) => ({ id, acl }))

  test('has a token that permits exactly its labels, and starts again when another takes its place', {
    timeout: 240_000,
  }, async () => {
    // It needs no SSH gateway.
    await world.apply('Tunnel', 'own', { ...SPEC, agent })
    const { metadata, spec } = await podsOf('own')
    const first = await world.ready('TunnelCredential', 'own-tunnel-token-1')
    expect(await credentials()).toEqual([{ id: first.status?.id, acl: ['bind:app=shop', 'bind:version=1'] }])
    expect(spec).toMatchObject({
      serviceAccountName: 'own-tunnel',
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'agent',
          image: IMAGE,
          command: agent.command,
          args: agent.args,
          env: [
            { name: 'CULVERT_TOKEN', valueFrom: { secretKeyRef: { name: 'own-tunnel-token-1', key: 'token' } } },
            { name: 'CULVERT_TOKEN_FILE', value: '/etc/culvert/key/token' },
            { name: 'CULVERT_LABELS', value: 'app=shop,version=1' },
            { name: 'CULVERT_UPSTREAM', value: `shop.${world.namespace}.svc:80` },
            { name: 'CULVERT_UPSTREAM_HOST', value: `shop.${world.namespace}.svc` },
            { name: 'CULVERT_UPSTREAM_PORT', value: '80' },
          ],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
      volumes: [
        { name: 'key', secret: { secretName: 'own-tunnel-token-1', items: [{ key: 'token', path: 'token' }] } },
      ],
    })
    expect(metadata.annotations).toMatchObject({ 'internal.culvert.dev/token-of': first.status?.id })
    await connect('own')

    await world.annotate('Tunnel', 'own', { 'culvert.dev/rotate-requested-at': 'now' })
    await podsOf('own', (pods) => secretOf(pods) === 'own-tunnel-token-2')
    const second = await world.ready('TunnelCredential', 'own-tunnel-token-2')
    const ids = [first, second].map(({ status }) => status?.id)
    expect((await credentials()).map(({ id }) => id)).toEqual(expect.arrayContaining(ids))
    await connect('own')
    await world.gone('TunnelCredential', 'own-tunnel-token-1', 110_000)
    expect((await credentials()).map(({ id }) => id)).toEqual([second.status?.id])
    await until('the former Secret is gone', async () => {
      return (await world.kube.get(secrets, { namespace: world.namespace, name: 'own-tunnel-token-1' })) === undefined
    })

    // A token that somebody deletes is reissued in the same Secret.
    await world.kube.delete(secrets, { namespace: world.namespace, name: 'own-tunnel-token-2' })
    const renewed = await podsOf('own', (pods) => {
      return pods.metadata.annotations?.['internal.culvert.dev/token-of'] !== second.status?.id
    })
    expect(secretOf(renewed)).toBe('own-tunnel-token-2')
    const third = await world.ready('TunnelCredential', 'own-tunnel-token-2')
    expect(renewed.metadata.annotations).toMatchObject({ 'internal.culvert.dev/token-of': third.status?.id })

    await world.delete('Tunnel', 'own')
    await world.gone('TunnelCredential', 'own-tunnel-token-2')
    expect(await credentials()).toEqual([])
  })

  test('is checked by the API server before anything is made', async () => {
    const env = [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.nope' } } }]
    await world.apply('Tunnel', 'wrong', { ...SPEC, agent: { ...agent, env } })
    const said = await world.reason('Tunnel', 'wrong', 'Stalled', 'InvalidSpec')
    expect(said.message).toContain('spec.agent: refused by the API server')
    expect(said.message).toContain('spec.agent.env.valueFrom.fieldRef.fieldPath: Invalid value')
    expect(await find('wrong')).toBeUndefined()
    expect(await world.get('TunnelCredential', 'wrong-tunnel-token-1')).toBeUndefined()
  })

  test('may not have an image that the administrator has not listed', async () => {
    await world.apply('Tunnel', 'other', { ...SPEC, agent: { image: 'elsewhere.example.com/own:1' } })
    const said = await world.reason('Tunnel', 'other', 'Synced', 'ImageNotAllowed')
    expect(said.message).toContain('spec.agent.image: "elsewhere.example.com/own:1" is not allowed')
  })
})

test('without --tunnel-templates, a Tunnel says who can permit its template', async () => {
  await using plain = await World.open({
    flags: ['--tunnels', '--agent-image', 'culvert:test', '--allow-ssh-gateway', 'ssh.example.com:22'],
  })
  await plain.apply('Tunnel', 'shop', { ...SPEC, template: { nodeSelector: { pool: 'edge' } } })
  const said = await plain.reason('Tunnel', 'shop', 'Synced', 'TemplatesDisabled')
  expect(said.message).toBe(
    'spec.template: not enabled in the operator: remove it, or have its administrator set tunnels.templates.enabled in the chart',
  )
})
