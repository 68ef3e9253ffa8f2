import type { KubeObject } from '../../../../src/kube/types.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import { openRequest } from '../../../../src/managed/run/requests.ts'
import type { Pod } from '../../../../src/managed/tunnels/pod.ts'
import { deploymentType, type TunnelResource, tunnelStatus } from '../../../../src/managed/tunnels/tunnel-resource.ts'
import { equalJSON } from '../../../../src/util/json.ts'
import { leastOf, partOf, some } from '../../support/size.ts'
import { conditionNamed } from '../oracle.ts'
import { NAMESPACE, type SimulatedWorld } from '../world.ts'
import { AGAIN_MS, playStories, type Story, type Subject } from './playing.ts'
import type { Workloads } from './workloads.ts'

const SPEC = { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } }
/** With an agent of the service, which has a token. */
const FOREIGN = { ...SPEC, agent: { image: 'agent:1' } }
const PLACED = { ...SPEC, template: { nodeSelector: { pool: 'edge' }, priorityClassName: 'high' } }
const DEPLOYMENT = { namespace: NAMESPACE, name: 'shop-tunnel' }
const group = (label: string) => ({ type: 'TunnelGroup', tunnelGroup: { labels: { app: label } } })

interface TunnelStory extends Story {
  /** The spec of the Tunnel before; none if absent. */
  readonly before?: Readonly<Record<string, unknown>>
}

const STORIES: readonly TunnelStory[] = [
  { title: 'create', act: (world) => world.apply('Tunnel', 'shop', SPEC) },
  { title: 'more agents', before: SPEC, act: (world) => world.apply('Tunnel', 'shop', { ...SPEC, replicas: 5 }) },
  { title: 'other labels', before: SPEC, act: (world) => world.apply('Backend', 'shop', group('other')) },
  {
    title: 'rotate',
    before: SPEC,
    act: (world) => world.annotate('Tunnel', 'shop', { 'culvert.dev/rotate-requested-at': 'now' }),
  },
  {
    title: 'rotate twice',
    before: SPEC,
    act: (world) => {
      world.annotate('Tunnel', 'shop', { 'culvert.dev/rotate-requested-at': 'now' })
      world.time.setTimer(AGAIN_MS, () => {
        world.annotate('Tunnel', 'shop', { 'culvert.dev/rotate-requested-at': 'again' })
      })
    },
  },
  {
    title: 'the key is deleted',
    before: SPEC,
    act: (world, { taken }) => {
      taken.add('shop-tunnel-key-1')
      world.deleteSecret('shop-tunnel-key-1')
    },
  },
  {
    title: 'another template',
    before: PLACED,
    act: (world) => world.apply('Tunnel', 'shop', { ...SPEC, template: { nodeSelector: { zone: 'a' } } }),
  },
  {
    title: 'somebody adds to the Pods',
    before: PLACED,
    act: (world) => {
      const template = { metadata: { labels: { injected: 'yes' } }, spec: { hostNetwork: true } }
      world.server.patch(deploymentType, DEPLOYMENT, { spec: { template } })
    },
  },
  { title: 'create with another agent', act: (world) => world.apply('Tunnel', 'shop', FOREIGN) },
  { title: 'another agent', before: SPEC, act: (world) => world.apply('Tunnel', 'shop', FOREIGN) },
  { title: 'the agent of Culvert again', before: FOREIGN, act: (world) => world.apply('Tunnel', 'shop', SPEC) },
  {
    title: 'another agent, and back',
    before: SPEC,
    act: (world) => {
      world.apply('Tunnel', 'shop', FOREIGN)
      world.time.setTimer(AGAIN_MS / 2, () => world.apply('Tunnel', 'shop', SPEC))
    },
  },
  {
    title: 'rotate a token',
    before: FOREIGN,
    act: (world) => world.annotate('Tunnel', 'shop', { 'culvert.dev/rotate-requested-at': 'now' }),
  },
  {
    title: 'the token is deleted',
    before: FOREIGN,
    act: (world, { taken }) => {
      taken.add('shop-tunnel-token-1')
      world.deleteSecret('shop-tunnel-token-1')
    },
  },
  { title: 'delete', before: SPEC, act: (world) => world.delete('Tunnel', 'shop') },
]

const tunnels: Subject<TunnelStory> = {
  kind: 'Tunnel',
  options: { kinds: new Set(['Tunnel', 'Backend', 'SSHCredential', 'TunnelCredential']) },
  stories: STORIES,
  edits: [
    { name: 'the Tunnel is deleted', act: (world) => world.delete('Tunnel', 'shop') },
    { name: 'the Backend gets other labels', act: (world) => world.apply('Backend', 'shop', group('third')) },
    {
      name: 'a new key is asked for',
      act: (world) => world.annotate('Tunnel', 'shop', { 'culvert.dev/rotate-requested-at': 'soon' }),
    },
  ],
  prepare: (world, { before }) => {
    world.apply('Backend', 'shop', group('shop'))
    if (before !== undefined) world.apply('Tunnel', 'shop', before)
  },
  lacks,
  surplus: formerKeys,
  remove: (world) => {
    if (world.get('Tunnel', 'shop') !== undefined) world.delete('Tunnel', 'shop')
  },
}

/** Plays every story of a Tunnel with every fault at every write, half of them in each run. */
export async function playTunnels(suite: string): Promise<void> {
  await playStories(suite, tunnels, { least: leastOf(1000), some: (cases) => some(partOf(cases, 2), 60) })
}

function tunnelIn(world: SimulatedWorld): (TunnelResource & CustomResource) | undefined {
  return world.get('Tunnel', 'shop') as (TunnelResource & CustomResource) | undefined
}

/** An existing Tunnel has its agents as its spec says, and one key or token. */
function lacks(world: SimulatedWorld): readonly string[] {
  const cr = tunnelIn(world)
  if (cr === undefined) return []
  const problems = unlikeSpec(world, cr)
  const holds = (type: string) => conditionNamed(cr, type)?.status === 'True'
  const { key, formerKey, token, formerToken, observedGeneration } = tunnelStatus(cr)
  const [current, other] = cr.spec.agent === undefined ? [key, token] : [token, key]
  const isOne = current !== undefined && other === undefined && formerKey === undefined && formerToken === undefined
  const isRotated = openRequest(cr, 'rotate') === undefined && isOne
  const hasSecret = world.secrets().some(({ metadata }) => metadata.name === current?.name)
  const isCurrent = observedGeneration === cr.metadata.generation
  if (!(holds('Connected') && holds('Synced') && isCurrent && isRotated && hasSecret)) {
    problems.push(`Tunnel/shop is not whole: ${JSON.stringify(cr.status)}`)
  }
  return problems
}

/** What the Pods of the Deployment are, and the spec does not say. */
function unlikeSpec(world: SimulatedWorld, { spec: { template, agent } }: TunnelResource): string[] {
  const { metadata, spec: pod } =
    world.kube.get<KubeObject & { spec: { template: Pod } }>(deploymentType, DEPLOYMENT)?.spec.template ?? {}
  const found = {
    injected: metadata?.labels.injected,
    hostNetwork: pod?.hostNetwork,
    nodeSelector: pod?.nodeSelector,
    priorityClassName: pod?.priorityClassName,
    image: pod?.containers[0]?.image,
  }
  const wanted = {
    nodeSelector: template?.nodeSelector,
    priorityClassName: template?.priorityClassName,
    image: agent?.image ?? 'culvert:test',
  }
  return equalJSON(found, wanted) ? [] : [`Tunnel/shop has Pods ${JSON.stringify(found)}`]
}

/** Keys and tokens that are left next to the present one. */
function formerKeys(world: SimulatedWorld, workloads: Workloads): readonly string[] {
  const cr = tunnelIn(world)
  if (cr === undefined) return []
  const { key, token } = tunnelStatus(cr)
  const { name } = key ?? token ?? {}
  const kept = ['Secret', 'SSHCredential', 'TunnelCredential']
  return workloads
    .owned()
    .filter(({ kind, metadata }) => kept.includes(kind) && metadata.name !== name)
    .map(({ kind, metadata }) => `${kind}/${metadata.name} is left`)
}
