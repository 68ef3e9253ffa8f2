import type { CustomResource } from '../../../../src/managed/cr.ts'
import { openRequest } from '../../../../src/managed/reconcile/requests.ts'
import { type TunnelResource, tunnelStatus } from '../../../../src/managed/tunnels/tunnel.ts'
import { leastOf, some } from '../../support/size.ts'
import { conditionNamed } from '../oracle.ts'
import type { SimulatedWorld } from '../world.ts'
import { AGAIN_MS, playStories, type Story, type Subject } from './playing.ts'
import type { Workloads } from './workloads.ts'

const SPEC = { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } }
const group = (label: string) => ({ type: 'TunnelGroup', tunnelGroup: { labels: { app: label } } })

interface TunnelStory extends Story {
  /** Whether there is a Tunnel before. */
  readonly isThere: boolean
}

const STORIES: readonly TunnelStory[] = [
  { title: 'create', isThere: false, act: (world) => world.apply('Tunnel', 'shop', SPEC) },
  { title: 'more agents', isThere: true, act: (world) => world.apply('Tunnel', 'shop', { ...SPEC, replicas: 5 }) },
  { title: 'other labels', isThere: true, act: (world) => world.apply('Backend', 'shop', group('other')) },
  {
    title: 'rotate',
    isThere: true,
    act: (world) => world.annotate('Tunnel', 'shop', { 'culvert.dev/rotate-requested-at': 'now' }),
  },
  {
    title: 'rotate twice',
    isThere: true,
    act: (world) => {
      world.annotate('Tunnel', 'shop', { 'culvert.dev/rotate-requested-at': 'now' })
      world.time.setTimer(AGAIN_MS, () => {
        world.annotate('Tunnel', 'shop', { 'culvert.dev/rotate-requested-at': 'again' })
      })
    },
  },
  {
    title: 'the key is deleted',
    isThere: true,
    act: (world, { taken }) => {
      taken.add('shop-tunnel-key-1')
      world.deleteSecret('shop-tunnel-key-1')
    },
  },
  { title: 'delete', isThere: true, act: (world) => world.delete('Tunnel', 'shop') },
]

const tunnels: Subject<TunnelStory> = {
  kind: 'Tunnel',
  options: { kinds: new Set(['Tunnel', 'Backend', 'SSHCredential']) },
  stories: STORIES,
  edits: [
    { name: 'the Tunnel is deleted', act: (world) => world.delete('Tunnel', 'shop') },
    { name: 'the Backend gets other labels', act: (world) => world.apply('Backend', 'shop', group('third')) },
    {
      name: 'a new key is asked for',
      act: (world) => world.annotate('Tunnel', 'shop', { 'culvert.dev/rotate-requested-at': 'soon' }),
    },
  ],
  prepare: (world, { isThere }) => {
    world.apply('Backend', 'shop', group('shop'))
    if (isThere) world.apply('Tunnel', 'shop', SPEC)
  },
  lacks,
  surplus: formerKeys,
  remove: (world) => {
    if (world.get('Tunnel', 'shop') !== undefined) world.delete('Tunnel', 'shop')
  },
}

/** Plays every story of a Tunnel with every fault at every write. */
export async function playTunnels(suite: string): Promise<void> {
  await playStories(suite, tunnels, { least: leastOf(900), some: (cases) => some(cases, 60) })
}

function tunnelIn(world: SimulatedWorld): (TunnelResource & CustomResource) | undefined {
  return world.get('Tunnel', 'shop') as (TunnelResource & CustomResource) | undefined
}

/** A Tunnel that is there has its agents, and one key. */
function lacks(world: SimulatedWorld): readonly string[] {
  const cr = tunnelIn(world)
  if (cr === undefined) return []
  const holds = (type: string) => conditionNamed(cr, type)?.status === 'True'
  const { key, formerKey, observedGeneration } = tunnelStatus(cr)
  const isRotated = openRequest(cr, 'rotate') === undefined && formerKey === undefined
  const hasKey = world.secrets().some(({ metadata }) => metadata.name === key?.name)
  const isCurrent = observedGeneration === cr.metadata.generation
  if (holds('Connected') && holds('Synced') && isCurrent && isRotated && hasKey) return []
  return [`Tunnel/shop is not whole: ${JSON.stringify(cr.status)}`]
}

/** Keys that are left beside the present one. */
function formerKeys(world: SimulatedWorld, workloads: Workloads): readonly string[] {
  const cr = tunnelIn(world)
  if (cr === undefined) return []
  const { name } = tunnelStatus(cr).key ?? {}
  const keys = workloads.owned().filter(({ kind }) => kind === 'Secret' || kind === 'SSHCredential')
  return keys
    .filter(({ metadata }) => metadata.name !== name)
    .map(({ kind, metadata }) => `${kind}/${metadata.name} is left`)
}
