import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import { holdName } from '../../../src/managed/accounts/namespace-hold.ts'
import { DNS_ENDPOINT_CRD } from '../../builders/dns-endpoints.ts'
import { installCRDs } from '../../builders/install-crds.ts'
import { merged } from '../../chart/support/helm.ts'
import { startOwnCluster } from '../../cluster/support/own-cluster.ts'
import { until } from '../../cluster/support/wait.ts'
import { core, typeOf, World } from '../../cluster/support/world.ts'
import { LABELS as AGENT_LABELS, permittedAgent, permittedParts } from './attempts/agents.ts'
import { allowed } from './attempts/allowed.ts'
import { leftEdge, permittedTakingBack } from './attempts/left-parts.ts'
import { otherCases, permittedEdge } from './attempts/others.ts'
import { dataCases } from './attempts/secrets.ts'
import {
  configMap,
  type Fields,
  mark,
  type Scene,
  SERVICE_ACCOUNT_TOKEN,
  secret,
  type Thing,
  type TokenOf,
} from './support/attempt.ts'
import { Release } from './support/release.ts'
import { TokenHolder } from './support/token-holder.ts'

/** What the releases of the chart set. */
const VALUES = {
  dnsEndpoints: { enabled: true, domains: ['*.example.com', 'listed.example.org'] },
  admissionPolicy: { operator: { protectedNamespaces: ['protected', 'controllers-*'] } },
}
/** What the policy lets Deployments be depends on these, and rights to them come with these. */
const AGENTS = {
  image: { repository: 'registry.example.com/culvert', tag: 'stolen' },
  tunnels: {
    enabled: true,
    gateways: ['ssh.example.com:22'],
    services: { enabled: true },
    templates: { enabled: true, images: ['registry.example.com/agents/*'] },
  },
}
const UNFENCED = { admissionPolicy: { operator: { enabled: false } } }

/** The beginning of a refusal by the policy of the release in that namespace. */
const deniedIn = (home: string): string => `ValidatingAdmissionPolicy '${home}-culvert-operator'`

/**
 * The token of a release's operator in the wrong hands, and beside it that of a release with the same rights and no
 * policy.
 */
interface Stage {
  readonly scene: Scene
  readonly thief: TokenHolder
  readonly unfenced: { readonly scene: Scene; readonly holder: TokenHolder }
}

const resources = new AsyncDisposableStack()
const stages: Partial<Record<TokenOf, Stage>> = {}
let cluster: ControlPlane
let admin: TokenHolder

beforeAll(async () => {
  cluster = resources.use(await startOwnCluster())
  await installCRDs(cluster, DNS_ENDPOINT_CRD)
  admin = resources.use(await TokenHolder.of(cluster.kubeconfigPath))
  for (const name of ['protected', 'controllers-argocd']) await succeeded('create', 'namespace', name)
  const tokens = ['cluster', 'namespace', 'cluster-admin'] as const
  for (const token of tokens) stages[token] = await openStage(token)
}, 300_000)
afterAll(() => resources.disposeAsync(), 120_000)

async function succeeded(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await cluster.kubectl(args)
  expect(code, stderr).toBe(0)
}

async function openStage(token: TokenOf): Promise<Stage> {
  const world = resources.use(await World.open({ kubeconfig: cluster.kubeconfigPath, operator: false }))
  const { namespace: tenant, kube } = world
  const [home, twinHome] = [`${tenant}-home`, `${tenant}-twin`]
  const [elsewhere, mistaken] = [`${tenant}-else`, `${tenant}-mistaken`]
  for (const name of [elsewhere, mistaken]) await world.createNamespace(name)
  const more = token === 'cluster-admin' ? AGENTS : {}
  const values = { ...VALUES, ...more, watchNamespaces: token === 'namespace' ? [tenant] : [] }
  const fenced = resources.use(await Release.install(world, home, values))
  const twin = resources.use(await Release.install(world, twinHome, merged(values, UNFENCED)))
  for (const namespace of [home, twinHome]) await bindByMistake(token, { namespace, mistaken })
  const [thief, holder] = [fenced.holder, twin.holder]
  const uids = await uidsOf(world)
  const sceneOf = (own: string): Scene => {
    return { tenant, elsewhere, mistaken, home: own, hold: holdName(own, 'culvert'), uids }
  }
  if (token === 'cluster') {
    const spec = { baseURL: world.emulator.url, apiKeySecretRef: { name: 'shared' } }
    await kube.apply(typeOf('ClusterAccount'), { name: 'shared' }, { spec })
  }
  await until('rights that were given by mistake are known', async () => {
    const asks = [thief, holder].map((each) => each.canI({ verb: 'delete', on: secret(mistaken, 'any') }))
    return (await Promise.all(asks)).every((may) => may)
  })
  await until('the policy is in force', async () => {
    const { body } = await thief.attempt({ verb: 'create', on: configMap(mistaken, 'probe') }, { dryRun: true })
    return String(body.message).includes(deniedIn(home))
  })
  return { scene: sceneOf(home), thief, unfenced: { scene: sceneOf(twinHome), holder } }
}

/** Binds all rights in the cluster, or in one namespace that the operator does not watch. */
async function bindByMistake(
  token: TokenOf,
  { namespace, mistaken }: { readonly namespace: string; readonly mistaken: string },
): Promise<void> {
  const account = `--serviceaccount=${namespace}:culvert`
  await succeeded(
    'create',
    'rolebinding',
    `mistake-${namespace}`,
    '--clusterrole=cluster-admin',
    account,
    '-n',
    mistaken,
  )
  if (token !== 'cluster-admin') return
  await succeeded('create', 'clusterrolebinding', `mistake-${namespace}`, '--clusterrole=cluster-admin', account)
}

/** The resources that marks name as owners. */
async function uidsOf(world: World): Promise<Readonly<Record<string, string>>> {
  const made = await Promise.all([
    world.apply('TunnelCredential', 'tunnelcredential', {}),
    world.apply('APIKey', 'apikey', {}),
    world.apply('IPPolicy', 'ippolicy', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] }),
    world.apply('SSHCertificateAuthority', 'sshcertificateauthority', {}),
    world.apply('ReservedDomain', 'reserveddomain', { domain: 'shop.example.com' }),
    world.apply('Tunnel', 'tunnel', { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } }),
  ])
  const key = await world.kube.get<KubeObject>(core('secrets', 'Secret'), {
    namespace: world.namespace,
    name: 'credentials',
  })
  return Object.fromEntries([...made.map(({ kind, metadata }) => [kind, metadata.uid]), ['Secret', key?.metadata.uid]])
}

function stageOf(token: TokenOf): Stage {
  const stage = stages[token]
  if (stage === undefined) throw new Error(`there is no stage for ${token}`)
  return stage
}

describe.each([
  ['Secrets and ConfigMaps', dataCases],
  ['everything else', otherCases],
] as const)('with the token of an operator, as to %s, a thief cannot', (_what, cases) => {
  const complete = cases.map((each) => ({ token: 'cluster' as const, by: 'policy' as const, ...each }))
  test.each(complete)('$title ($token)', async ({ token, by, says, given, attempt }) => {
    const { scene, thief, unfenced } = stageOf(token)
    for (const each of [...(given?.(scene) ?? []), ...(given?.(unfenced.scene) ?? [])]) await admin.make(each)
    const tried = attempt(scene)
    const before = await admin.versions(tried.on)

    const { status, body } = await thief.attempt(tried, { dryRun: false })

    expect({ status, message: body.message }).toEqual({
      status: 403,
      message: expect.stringContaining(by === 'policy' ? deniedIn(scene.home) : 'cannot'),
    })
    expect(body.message).toContain(says ?? '')
    expect(await admin.versions(tried.on)).toEqual(before)
    expect(await thief.canI(tried)).toBe(by === 'policy')
    // An account with the same rights and no policy succeeds.
    const twin = await unfenced.holder.attempt(attempt(unfenced.scene), { dryRun: true })
    expect(twin.status, String(twin.body.message)).toBeOneOf(by === 'policy' ? [200, 201] : [403])
  })
})

test("who has these rights and no policy over them has the whole cluster; the operator's thief has not", async () => {
  const { thief, unfenced } = stageOf('cluster')
  await succeeded('create', 'serviceaccount', 'powerful', '-n', 'kube-system')
  await succeeded(
    'create',
    'clusterrolebinding',
    'powerful',
    '--clusterrole=cluster-admin',
    '--serviceaccount=kube-system:powerful',
  )
  const wanted = (name: string): Thing => {
    const annotations = { 'kubernetes.io/service-account.name': 'powerful' }
    return secret('kube-system', name, { type: SERVICE_ACCOUNT_TOKEN, metadata: { annotations } })
  }
  expect((await thief.attempt({ verb: 'create', on: wanted('by-thief') }, { dryRun: false })).status).toBe(403)
  expect(await admin.versions(wanted('by-thief'))).toEqual([])

  expect((await unfenced.holder.attempt({ verb: 'create', on: wanted('by-twin') }, { dryRun: false })).status).toBe(201)
  const token = await until('the token is issued', () => unfenced.holder.issuedToken(wanted('by-twin')))
  const { stdout } = await cluster.kubectl(['--token', token, 'auth', 'can-i', '*', '*', '--all-namespaces'])
  expect(stdout.trim()).toBe('yes')
})

test('what a thief plants with a made-up owner is soon collected', async () => {
  const { scene, thief } = stageOf('cluster-admin')
  const made = (kind: string): Fields => {
    const metadata = mark(scene, kind)
    const [owner] = metadata.ownerReferences as readonly Fields[]
    return { ...metadata, ownerReferences: [{ ...owner, uid: crypto.randomUUID() }] }
  }
  const agent = permittedAgent(scene).on
  const planted = [
    secret(scene.tenant, 'planted', { metadata: made('SSHCertificateAuthority') }),
    configMap(scene.tenant, 'planted', { metadata: made('SSHCertificateAuthority') }),
    {
      ...agent,
      manifest: {
        ...agent.manifest,
        metadata: { ...(agent.manifest.metadata as Fields), ...made('Tunnel'), labels: AGENT_LABELS },
      },
    },
    permittedEdge(scene).on,
  ]
  for (const each of planted) {
    const { status, body } = await thief.attempt({ verb: 'create', on: each }, { dryRun: false })
    expect(status, String(body.message)).toBe(201)
    const began = performance.now()
    await until('it is collected', async () => ((await admin.versions(each)).length === 0 ? true : undefined))
    console.log(`${each.manifest.kind} of a made-up owner: collected after ${Math.round(performance.now() - began)} ms`)
  }
})

test.each(allowed)('the same token $title, as the operator does', async ({ given, attempt }) => {
  const { scene, thief } = stageOf('namespace')
  for (const each of given?.(scene) ?? []) await admin.make(each)
  const { status, body } = await thief.attempt(attempt(scene), { dryRun: true })
  expect(status, String(body.message)).toBeOneOf([200, 201])
})

test('the same token runs the agents of a Tunnel, as the operator does', async () => {
  const { scene, thief } = stageOf('cluster-admin')
  for (const attempt of [permittedAgent, ...permittedParts]) {
    const { status, body } = await thief.attempt(attempt(scene), { dryRun: true })
    expect(status, String(body.message)).toBe(201)
  }
})

test('the same token takes back what a former Service of the name has left, as the operator does', async () => {
  const { scene, thief } = stageOf('cluster-admin')
  await admin.make(leftEdge(scene))
  const { status, body } = await thief.attempt(permittedTakingBack(scene), { dryRun: true })
  expect(status, String(body.message)).toBe(200)
})
