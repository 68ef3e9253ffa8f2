import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../src/kube/types.ts'
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
        readonly volumes: readonly object[]
        readonly serviceAccountName: string
      }
    }
  }
}

let world: World
beforeAll(async () => {
  const images = ['--tunnel-templates', '--allow-agent-image', 'registry.example.com/agents/*']
  world = await World.open({
    flags: ['--tunnels', '--agent-image', 'culvert:test', '--allow-ssh-gateway', 'ssh.example.com:22', ...images],
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
async function podsOf(tunnel: string, holds: (pods: Deployment['spec']['template']) => unknown = () => true) {
  const deployment = await until(`the Deployment of ${tunnel} is as it should be`, async () => {
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
  metadata: { labels: { team: 'shop' }, annotations: { 'example.com/scrape': 'true' } },
  spec: {
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
    imagePullSecrets: [{ name: 'registry' }],
    terminationGracePeriodSeconds: 90,
    securityContext: { runAsUser: 1000 },
    containers: [
      {
        name: 'agent',
        // Written in another way than the server does.
        resources: { requests: { cpu: '0.05' }, limits: { memory: '1024Mi' } },
        env: [{ name: 'EMPTY', value: '' }],
        volumeMounts: [{ name: 'settings', mountPath: '/settings', readOnly: false }],
      },
      { name: 'side', image: 'registry.example.com/agents/side:1', command: [], args: ['run'] },
    ],
    volumes: [
      { name: 'settings', configMap: { name: 'settings', optional: false, items: [] } },
      { name: 'scratch', emptyDir: { sizeLimit: '0.5Gi' } },
    ],
  },
}

describe('the template of a Tunnel', () => {
  test('is merged into the Pods of its agents, and gone with the field', async () => {
    await setGateway(world)
    await world.apply('Tunnel', 'placed', { ...SPEC, template: FULL })
    const { metadata, spec } = await podsOf('placed')
    expect(metadata).toMatchObject({ labels: { 'culvert.dev/tunnel': 'placed', team: 'shop' } })
    expect(spec).toMatchObject({
      serviceAccountName: 'placed-tunnel',
      nodeSelector: { pool: 'edge' },
      tolerations: [{ key: 'edge' }],
      terminationGracePeriodSeconds: 90,
      securityContext: { runAsUser: 1000, runAsNonRoot: true },
      containers: [
        {
          name: 'agent',
          image: 'culvert:test',
          env: [{ name: 'EMPTY' }],
          resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '1Gi' } },
        },
        { name: 'side', image: 'registry.example.com/agents/side:1', args: ['run'] },
      ],
    })
    await connect('placed')
    expect(conditionOf(await world.get('Tunnel', 'placed'), 'Synced')?.status).toBe('True')

    await world.apply('Tunnel', 'placed', { ...SPEC, template: { spec: { nodeSelector: { zone: 'a' } } } })
    const changed = await podsOf('placed', ({ spec: { containers } }) => containers.length === 1)
    expect(changed.metadata.labels).not.toHaveProperty('team')
    expect(changed.spec.nodeSelector).toEqual({ zone: 'a' })
    expect(changed.spec).not.toHaveProperty('affinity')
    expect(changed.spec).not.toHaveProperty('tolerations')
    expect(changed.spec.volumes).toMatchObject([{ name: 'key' }])
    expect(changed.spec.containers[0]).not.toHaveProperty('env')
    expect(changed.spec.containers[0].resources).toEqual({
      requests: { cpu: '10m', memory: '64Mi' },
      limits: { memory: '512Mi' },
    })

    await world.apply('Tunnel', 'placed', SPEC)
    const plain = await podsOf('placed', ({ spec }) => spec.nodeSelector === undefined)
    expect(plain.spec).toMatchObject({ terminationGracePeriodSeconds: 45, securityContext: { runAsUser: 65_532 } })
  })

  test('costs no write at rest, however its values are written', async () => {
    await setGateway(world)
    await world.apply('Tunnel', 'quiet', { ...SPEC, template: FULL })
    await podsOf('quiet')
    await connect('quiet')
    const audit = AuditLog.ofSuite()
    const mark = await audit.mark()
    const key = { namespace: world.namespace, name: 'quiet-tunnel' }
    await world.kube.mergePatch(deployments, key, { metadata: { annotations: { note: 'seen' } } })
    await world.apply('Tunnel', 'after', SPEC)
    await podsOf('after')
    const entries = (await audit.entries(mark)).filter(({ namespace, userAgent }) => {
      return namespace === world.namespace && userAgent === 'culvert'
    })
    expect(entries.filter(({ name, verb }) => name?.startsWith('quiet') && verb !== 'get')).toEqual([])
  })

  test('may not name an image that the administrator has not listed', async () => {
    await setGateway(world)
    const containers = [{ name: 'side', image: 'elsewhere.example.com/side:1' }]
    await world.apply('Tunnel', 'unlisted', { ...SPEC, template: { spec: { containers } } })
    const said = await world.reason('Tunnel', 'unlisted', 'Synced', 'ImageNotAllowed')
    expect(said.message).toContain(
      'spec.template.spec.containers[side].image: "elsewhere.example.com/side:1" is not allowed',
    )
    expect(await find('unlisted')).toBeUndefined()
  })
})

describe('an agent of the service', () => {
  const agent = { image: IMAGE, args: ['--token-file=$(CULVERT_TOKEN_FILE)', '--to=$(CULVERT_UPSTREAM)'] }
  const secretOf = ({ spec: { containers } }: Deployment['spec']['template']): string | undefined => {
    const { valueFrom } = containers[0].env?.find(({ name }) => name === 'CULVERT_TOKEN') ?? {}
    return (valueFrom as { readonly secretKeyRef: { readonly name: string } } | undefined)?.secretKeyRef.name
  }
  const credentials = async () => (await world.remote('credentials')).map(({ id, acl }) => ({ id, acl }))

  test('has a token that permits exactly its labels, and starts anew when another takes its place', {
    timeout: 240_000,
  }, async () => {
    // It needs no SSH gateway.
    // A former token is kept as long as its agents may take to end.
    await world.apply('Tunnel', 'own', { ...SPEC, agent, template: { spec: { terminationGracePeriodSeconds: 20 } } })
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

    // A token that somebody deletes is issued anew in the same Secret.
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
  await plain.apply('Tunnel', 'shop', { ...SPEC, template: { spec: { nodeSelector: { pool: 'edge' } } } })
  const said = await plain.reason('Tunnel', 'shop', 'Synced', 'TemplatesDisabled')
  expect(said.message).toBe(
    'spec.template: the operator takes none: remove it, or have its administrator set tunnels.templates.enabled of the chart',
  )
})
