import { type CustomResource, isDeleting } from '../../../../src/managed/cr.ts'
import { partKinds } from '../../../../src/managed/services/objects.ts'
import { type ServiceResource, serviceType } from '../../../../src/managed/services/service.ts'
import { leastOf, partOf, some } from '../../support/size.ts'
import { conditionNamed } from '../oracle.ts'
import { NAMESPACE, type SimulatedWorld, type WorldOptions } from '../world.ts'
import { AGAIN_MS, playStories, type Story, type Subject } from './playing.ts'
import { edgesIn, OFFICE, remove, serve, serviceIn, type Wish } from './serving.ts'

interface ServiceStory extends Story {
  /** The Service before; none if absent. */
  readonly before?: Wish
  /** Whether it is restricted from the beginning to the end. */
  readonly isRestricted?: boolean
  /** Whether it is closed for a policy that is missing. */
  readonly isClosed?: boolean
}

/** When a missing policy comes. Before, its Edge must be closed, whatever fails. */
const LATE_MS = 180_000
const LASTS_MS = 2 * LATE_MS + AGAIN_MS
/** By when the operator knows of an edit, and what was sent before it has arrived. */
const KNOWN_MS = 2_000

/** The Service serves everyone. It is for the office, whose policy comes late, and goes again so much later. */
function comesAndGoes(title: string, goesMs: number): ServiceStory {
  return {
    title,
    before: {},
    isClosed: true,
    lastsMs: LASTS_MS,
    act: (world) => {
      serve(world, { policies: 'late' })
      const then = (ms: number, act: () => void): void => void world.time.setTimer(LATE_MS + ms, act)
      then(0, () => world.apply('IPPolicy', 'late', OFFICE))
      then(goesMs, () => world.delete('IPPolicy', 'late'))
      // If it is in use by then, it stays until it is not.
      then(LATE_MS, () => {
        if (serviceIn(world) !== undefined) serve(world, { policies: 'office' })
      })
    },
  }
}

const STORIES: readonly ServiceStory[] = [
  { title: 'create', act: (world) => serve(world, {}) },
  {
    title: 'create for the office, whose policy comes later',
    isRestricted: true,
    act: (world) => {
      serve(world, { policies: 'late' })
      world.time.setTimer(AGAIN_MS / 2, () => world.apply('IPPolicy', 'late', OFFICE))
    },
  },
  {
    title: 'another port',
    before: { policies: 'office' },
    isRestricted: true,
    act: (world) => serve(world, { policies: 'office', ports: [80, 8080] }),
  },
  { title: 'a port goes', before: { ports: [80, 8080] }, act: (world) => serve(world, {}) },
  { title: 'only for the office', before: {}, act: (world) => serve(world, { policies: 'office' }) },
  {
    title: 'only for an office whose policy comes later',
    before: {},
    isClosed: true,
    lastsMs: LASTS_MS,
    act: (world) => {
      serve(world, { policies: 'late' })
      world.time.setTimer(LATE_MS, () => world.apply('IPPolicy', 'late', OFFICE))
    },
  },
  comesAndGoes('only for an office whose policy comes, and goes at once', 20),
  comesAndGoes('only for an office whose policy comes, and goes when it is in use', AGAIN_MS),
  {
    title: 'another policy, which comes later',
    before: { policies: 'office' },
    isRestricted: true,
    isClosed: true,
    lastsMs: LASTS_MS,
    act: (world) => {
      serve(world, { policies: 'late' })
      world.time.setTimer(LATE_MS, () => world.apply('IPPolicy', 'late', OFFICE))
    },
  },
  {
    title: 'another policy, which does not exist, and back',
    before: { policies: 'office' },
    isRestricted: true,
    isClosed: true,
    lastsMs: LASTS_MS,
    act: (world) => {
      serve(world, { policies: 'none' })
      world.time.setTimer(LATE_MS, () => {
        if (serviceIn(world) !== undefined) serve(world, { policies: 'office' })
      })
    },
  },
  {
    title: 'a domain',
    before: { policies: 'office' },
    isRestricted: true,
    act: (world) => serve(world, { policies: 'office', domain: 'web.tunnel.example' }),
  },
  {
    title: 'another domain',
    before: { domain: 'web.tunnel.example' },
    act: (world) => serve(world, { domain: 'next.tunnel.example' }),
  },
  {
    title: 'another account',
    before: {},
    act: (world) => {
      const spec = world.account?.spec
      // Of the same operator, where several divide accounts.
      const { labels } = world.account?.metadata ?? {}
      world.server.create(world.accountType, { namespace: NAMESPACE, name: 'second' }, { metadata: { labels }, spec })
      serve(world, { account: 'second' })
    },
  },
  {
    title: 'nonsense, which is fixed',
    before: { policies: 'office' },
    isRestricted: true,
    act: (world) => {
      serve(world, { policies: '', ports: [80, 8080] })
      world.time.setTimer(AGAIN_MS / 2, () => serve(world, { policies: 'office', ports: [8080] }))
    },
  },
  {
    title: 'more ports than it may have, and fewer later',
    before: { policies: 'office' },
    isRestricted: true,
    act: (world) => {
      serve(world, { policies: 'office', ports: Array.from({ length: 17 }, (_, index) => 80 + index) })
      world.time.setTimer(AGAIN_MS / 2, () => serve(world, { policies: 'office', ports: [80, 443] }))
    },
  },
  { title: 'its Edge is deleted', before: {}, act: (world) => world.delete('Edge', 'web-80') },
  { title: 'its Backend is deleted', before: {}, act: (world) => world.delete('Backend', 'web-80') },
  { title: 'another type', before: {}, act: (world) => serve(world, { type: 'ClusterIP' }) },
  {
    title: 'another type, and back',
    before: {},
    act: (world) => {
      serve(world, { type: 'ClusterIP' })
      world.time.setTimer(AGAIN_MS / 100, () => serve(world, {}))
    },
  },
  { title: 'delete', before: {}, act: remove },
  {
    title: 'delete and create',
    before: {},
    act: (world) => {
      remove(world)
      serve(world, {})
    },
  },
]

const services: Subject<ServiceStory> = {
  kind: 'Service',
  options: { kinds: new Set([...partKinds, 'IPPolicy', 'SSHCredential']), services: true },
  stories: STORIES,
  edits: [
    { name: 'the Service is deleted', act: remove },
    {
      name: 'the Service gets other ports, for the office',
      act: (world) => {
        if (serviceIn(world) !== undefined) serve(world, { ports: [80, 443], policies: 'office' })
      },
    },
  ],
  prepare: (world, { before }) => {
    world.apply('IPPolicy', 'office', OFFICE)
    if (before !== undefined) serve(world, before)
  },
  lacks,
  surplus: () => [],
  risks: (world, { isRestricted = false, isClosed = false }) => {
    const wronglyOpen = isClosed ? openAfterClosing(world) : () => []
    return () => [...(isRestricted ? openEdges(world) : []), ...wronglyOpen()]
  },
  remove,
}

/** Plays every story of a Service of type LoadBalancer with every fault at every write, a part of them in each run. */
export async function playServices(suite: string): Promise<void> {
  await playStories(suite, services, { least: leastOf(300), some: (cases) => some(partOf(cases, 8), 60) })
}

/** Plays every story while the account of the Service moves to another operator at any write. */
export async function playMovedServices(
  suite: string,
  options: WorldOptions,
  move: (world: SimulatedWorld) => void,
): Promise<void> {
  const only = 'the account moves'
  const edits = [{ name: only, act: move }]
  const moved = { ...services, options: { ...services.options, ...options }, edits }
  await playStories(suite, moved, { least: leastOf(100), only, some: (cases) => some(partOf(cases, 4), 24) })
}

/** What a Service owns, and no more: said by its annotations and ports alone. */
function lacks(world: SimulatedWorld): readonly string[] {
  const service = serviceIn(world)
  if (service === undefined) return []
  const parts = partKinds
    .flatMap((kind) => world.kube.list<CustomResource>(world.typeOf(kind)).items)
    .filter(({ metadata }) => metadata.ownerReferences?.some(({ kind }) => kind === serviceType.kind))
  const found = parts.map((part) => `${partName(part)}${isDeleting(part) ? ', which goes' : ''}`)
  const problems = unlike('it owns', wantedParts(service), found)
  const { loadBalancer, conditions = [] } = service.status ?? {}
  const condition = conditions.find(({ type }) => type === 'culvert.dev/ready')
  const isServed = service.spec.type === 'LoadBalancer'
  if (condition?.status !== (isServed ? 'True' : undefined)) problems.push(`it says ${JSON.stringify(condition)}`)
  const edges = parts.filter(({ kind }) => kind === 'Edge')
  const hostports = edges.flatMap(({ status }) => (status as { hostports?: readonly string[] }).hostports ?? [])
  const reached = (loadBalancer?.ingress ?? []).flatMap(({ hostname, ports = [] }) => {
    return ports.map(({ port }) => `${hostname}:${port}`)
  })
  problems.push(...unlike('it is reached at', hostports, reached))
  problems.push(...edges.flatMap((edge) => unlike('policies', policiesOf(service), restriction(edge))))
  return problems.map((problem) => `Service/web: ${problem}`)
}

function unlike(what: string, wanted: readonly string[], found: readonly string[]): string[] {
  const [left, right] = [wanted, found].map((each) => each.toSorted().join(', '))
  return left === right ? [] : [`${what} ${right} instead of ${left}`]
}

function wantedParts({ spec, metadata }: ServiceResource): readonly string[] {
  if (spec.type !== 'LoadBalancer') return []
  const annotations: Partial<Record<string, string>> = metadata.annotations ?? {}
  const domain = annotations['culvert.dev/domain']
  const account = annotations['culvert.dev/account'] ?? 'any'
  const ports = (spec.ports ?? []).flatMap(({ port }) => [
    ...(domain === undefined ? [`ReservedAddress/web-${port} in ${account}`] : []),
    `Backend/web-${port} in ${account}`,
    `Edge/web-${port} in ${account}`,
    `Tunnel/web-${port} in any`,
  ])
  return domain === undefined ? ports : [...ports, `ReservedDomain of ${domain} in ${account}`]
}

function partName({ kind, metadata, spec }: CustomResource): string {
  const { domain, accountRef } = spec as { readonly domain?: string; readonly accountRef?: { readonly name: string } }
  return `${kind}${domain === undefined ? `/${metadata.name}` : ` of ${domain}`} in ${accountRef?.name ?? 'any'}`
}

function policiesOf({ metadata }: ServiceResource): readonly string[] {
  const annotations: Partial<Record<string, string>> = metadata.annotations ?? {}
  return annotations['culvert.dev/ip-policies']?.split(',') ?? []
}

/** The policies by which an Edge lets clients in, once it does so. */
function restriction(edge: CustomResource): readonly string[] {
  const { ipRestriction } = edge.spec as {
    readonly ipRestriction?: { readonly ipPolicyRefs: readonly { readonly name: string }[] }
  }
  if (conditionNamed(edge, 'Synced')?.status !== 'True') return ['not yet']
  return ipRestriction?.ipPolicyRefs.map(({ name }) => name) ?? []
}

/** Edges at the API that let everyone in. */
function openEdges(world: SimulatedWorld): readonly string[] {
  const open = edgesIn(world).filter(({ policies }) => policies?.length === 0)
  return open.map(({ id }) => `the edge ${id} is open`)
}

/**
 * Judges that an edge lets nobody in but by the policies that the Service names, once it has done so, and soon after
 * the Service names them.
 */
function openAfterClosing(world: SimulatedWorld): () => readonly string[] {
  const followed = new Set<string>()
  let [named, since] = ['', world.time.now]
  return () => {
    const service = serviceIn(world)
    if (service === undefined) return []
    const names = policiesOf(service)
    if (names.join() !== named) {
      named = names.join()
      since = world.time.now
      followed.clear()
    }
    const ids = new Set(names.map((name) => world.get('IPPolicy', name)?.status?.id))
    return edgesIn(world).flatMap(({ id, policies }) => {
      const follows = policies === undefined || (policies.length > 0 && policies.every((policy) => ids.has(policy)))
      const sinceMs = world.time.now - since
      if (follows && sinceMs >= KNOWN_MS) followed.add(id)
      const isLate = followed.has(id) || sinceMs >= LATE_MS
      return follows || !isLate ? [] : [`the edge ${id} lets in others than ${named} does`]
    })
  }
}
