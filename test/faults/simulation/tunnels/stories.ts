import type { CustomResource } from '../../../../src/managed/cr.ts'
import { openRequest } from '../../../../src/managed/reconcile/requests.ts'
import { type TunnelResource, tunnelStatus } from '../../../../src/managed/tunnels/tunnel.ts'
import { CaseList } from '../../support/case-list.ts'
import { leastOf, some } from '../../support/size.ts'
import type { Fault, Sighting } from '../faults.ts'
import { conditionNamed, Oracle, textOf } from '../oracle.ts'
import { isWrite, Laboratory, type SimulatedWorld } from '../world.ts'
import { befalls, numbered } from '../writes.ts'
import { Workloads } from './workloads.ts'

const GATEWAY = 'ssh.example.com:22'
const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGWj5WsELK+Ia2pYS7rEcYT1J3hZz5UlEu40Jb6MKuWp'
const SPEC = { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } }
const group = (label: string) => ({ type: 'TunnelGroup', tunnelGroup: { labels: { app: label } } })
/** Sooner than the former key goes. */
const AGAIN_MS = 10_000
/** Longer than a rollout, a drain and the pause before a former key goes. */
const BOUND_MS = 20 * 60_000

/** An event in the life of a Tunnel. */
interface Story {
  readonly title: string
  /** Whether there is a Tunnel before. */
  readonly isThere: boolean
  readonly act: (world: SimulatedWorld, workloads: Workloads) => void
}

const STORIES: readonly Story[] = [
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

/** What befalls a write: a fault, or what somebody does right before it. */
type Hit = { readonly fault: Fault } | { readonly act: (world: SimulatedWorld) => void }

const FAULTS: readonly ({ readonly point: string; readonly name: string } & Hit)[] = [
  ...(['before', 'after', 'answered'] as const).map((when) => {
    return { point: when, name: 'SIGKILL', fault: { type: 'kill', when } as const }
  }),
  ...(['before', 'after'] as const).flatMap((when) => [
    { point: when, name: 'reset', fault: { type: 'reset', when } as const },
    { point: when, name: 'silence', fault: { type: 'silence', when } as const },
  ]),
  { point: 'before', name: '500', fault: { type: 'answer', when: 'before', answer: { status: 500, body: 'no' } } },
  { point: 'answered', name: 'twice', fault: { type: 'twice' } },
  { point: 'before', name: 'the Tunnel is deleted', act: (world) => world.delete('Tunnel', 'shop') },
  {
    point: 'before',
    name: 'the Backend gets other labels',
    act: (world) => world.apply('Backend', 'shop', group('third')),
  },
  {
    point: 'before',
    name: 'a new key is asked for',
    act: (world) => world.annotate('Tunnel', 'shop', { 'culvert.dev/rotate-requested-at': 'soon' }),
  },
]

/** Plays every story with every fault at every write. */
export async function playTunnels(suite: string): Promise<void> {
  // Loaded before time is virtual: reading the file takes time that the simulation does not know of.
  await import('../../../../src/ssh/new-key.ts')
  const laboratory = await Laboratory.open()
  const cases = []
  for (const story of STORIES) {
    const { problems, writes } = await play(laboratory, story)
    if (problems.length > 0) throw new Error(`${story.title} fails without a fault:\n${problems.join('\n')}`)
    for (const [at, write] of numbered(writes).entries()) {
      cases.push(...FAULTS.map((each) => ({ story, at, write: `Tunnel / ${story.title}: ${write}`, ...each })))
    }
  }
  const list = new CaseList(suite, 'simulation', { least: leastOf(900) })
  for (const { story, at, write, point, name, ...hit } of some(cases, 60)) {
    const { problems } = await play(laboratory, story, { at, ...hit })
    list.add({ write, point, fault: name }, problems)
  }
  await list.end()
}

interface Played {
  readonly problems: readonly string[]
  readonly writes: readonly string[]
}

async function play(
  laboratory: Laboratory,
  { isThere, act }: Story,
  hit?: { readonly at: number } & Hit,
): Promise<Played> {
  const world = laboratory.world({
    kinds: new Set(['Tunnel', 'Backend', 'SSHCredential']),
    accountSpec: { sshGateway: { address: GATEWAY, hostKeys: [HOST_KEY] } },
    tunnels: { image: 'culvert:test', gateways: [GATEWAY] },
  })
  try {
    const workloads = new Workloads(world)
    const oracle = await Oracle.watch(world)
    world.apply('Backend', 'shop', group('shop'))
    if (isThere) world.apply('Tunnel', 'shop', SPEC)
    const before = [...(await oracle.untilRest()), ...(await untilWhole(world))]
    if (before.length > 0) return { problems: before, writes: [] }
    await world.advance(1_000)
    const writes: Sighting[] = []
    const trouble = hit !== undefined && 'fault' in hit ? befalls([hit]) : undefined
    world.trouble = {
      request: (sighting) => {
        if (hit !== undefined && 'act' in hit && isWrite(sighting) && writes.length === hit.at) hit.act(world)
        if (isWrite(sighting)) writes.push(sighting)
        return trouble?.request(sighting)
      },
    }
    act(world, workloads)
    await world.advance(AGAIN_MS)
    const problems = [...(await untilWhole(world)), ...(await oracle.judge()), ...(trouble?.unspent() ?? [])]
    problems.push(...formerKeys(world, workloads))
    const wanted = writes.map(textOf)
    if (world.get('Tunnel', 'shop') !== undefined) world.delete('Tunnel', 'shop')
    world.calm()
    problems.push(...(await oracle.judge()), ...workloads.violations)
    problems.push(...workloads.owned().map(({ kind, metadata }) => `${kind}/${metadata.name} is left`))
    return { problems, writes: wanted }
  } finally {
    world.down()
  }
}

/** Waits until a Tunnel that is there has its agents, and one key. */
async function untilWhole(world: SimulatedWorld): Promise<readonly string[]> {
  const tunnel = (): (TunnelResource & CustomResource) | undefined => {
    return world.get('Tunnel', 'shop') as (TunnelResource & CustomResource) | undefined
  }
  const isWhole = (): boolean => {
    const cr = tunnel()
    if (cr === undefined) return true
    const isConnected = conditionNamed(cr, 'Connected')?.status === 'True'
    const isSynced = conditionNamed(cr, 'Synced')?.status === 'True'
    const isCurrent = tunnelStatus(cr).observedGeneration === cr.metadata.generation
    const isRotated = openRequest(cr, 'rotate') === undefined && tunnelStatus(cr).formerKey === undefined
    return isConnected && isSynced && isCurrent && isRotated && hasKey(world, cr)
  }
  if (await world.until(isWhole, BOUND_MS)) return []
  return [`Tunnel/shop is not whole: ${JSON.stringify(tunnel()?.status)}`]
}

/** Keys that are left beside the present one. */
function formerKeys(world: SimulatedWorld, workloads: Workloads): readonly string[] {
  const cr = world.get('Tunnel', 'shop') as TunnelResource | undefined
  if (cr === undefined) return []
  const { name } = tunnelStatus(cr).key ?? {}
  const keys = workloads.owned().filter(({ kind }) => kind === 'Secret' || kind === 'SSHCredential')
  return keys
    .filter(({ metadata }) => metadata.name !== name)
    .map(({ kind, metadata }) => `${kind}/${metadata.name} is left`)
}

function hasKey(world: SimulatedWorld, cr: TunnelResource): boolean {
  const { key } = tunnelStatus(cr)
  return world.secrets().some(({ metadata }) => metadata.name === key?.name)
}
