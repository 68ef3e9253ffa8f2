import { CaseList } from '../../support/case-list.ts'
import type { Fault, Sighting } from '../faults.ts'
import { Oracle, textOf } from '../oracle.ts'
import { isWrite, Laboratory, type SimulatedWorld, type WorldOptions } from '../world.ts'
import { befalls, numbered } from '../writes.ts'
import { Workloads } from './workloads.ts'

/** The gateway of the account, which agents may use. */
const GATEWAY = 'ssh.example.com:22'
const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGWj5WsELK+Ia2pYS7rEcYT1J3hZz5UlEu40Jb6MKuWp'
/** How long most stories go on after their event; sooner than the former key of a Tunnel goes. */
export const AGAIN_MS = 10_000
/** Longer than a rollout, a drain and the pause before a former key goes. */
const BOUND_MS = 20 * 60_000

/** An event in the life of a Tunnel or a Service. */
export interface Story {
  readonly title: string
  readonly act: (world: SimulatedWorld, workloads: Workloads) => void
  /** How long it continues. Default: `AGAIN_MS`. */
  readonly lastsMs?: number
}

/** Something that owns Deployments, directly or by what it owns. */
export interface Subject<T extends Story> {
  readonly kind: string
  readonly options: WorldOptions
  readonly stories: readonly T[]
  /** What somebody may do right before any write. */
  readonly edits: readonly { readonly name: string; readonly act: (world: SimulatedWorld) => void }[]
  /** Makes what exists before the story. */
  readonly prepare: (world: SimulatedWorld, story: T) => void
  /** What keeps the subject from being as it should; empty also if there is none. */
  readonly lacks: (world: SimulatedWorld) => readonly string[]
  /** What exists and should not, while the subject exists. */
  readonly surplus: (world: SimulatedWorld, workloads: Workloads) => readonly string[]
  /** Begins with the story, and says at any moment of it what must not be. Default: nothing. */
  readonly risks?: (world: SimulatedWorld, story: T) => () => readonly string[]
  /** Deletes the subject, if it exists. */
  readonly remove: (world: SimulatedWorld) => void
}

/** What befalls a write: a fault, or what somebody does right before it. */
type Hit = { readonly fault: Fault } | { readonly act: (world: SimulatedWorld) => void }

const FAULTS: readonly { readonly point: string; readonly name: string; readonly fault: Fault }[] = [
  ...(['before', 'after', 'answered'] as const).map((when) => {
    return { point: when, name: 'SIGKILL', fault: { type: 'kill', when } as const }
  }),
  ...(['before', 'after'] as const).flatMap((when) => [
    { point: when, name: 'reset', fault: { type: 'reset', when } as const },
    { point: when, name: 'silence', fault: { type: 'silence', when } as const },
  ]),
  { point: 'before', name: '500', fault: { type: 'answer', when: 'before', answer: { status: 500, body: 'no' } } },
  { point: 'answered', name: 'twice', fault: { type: 'twice' } },
]

export interface Extent {
  /** Fewer cases are a failure of the suite. */
  readonly least: number
  /** The only fault or edit that is played. Default: all. */
  readonly only?: string
  /** Those that are played, of all. */
  readonly some: <T>(cases: readonly T[]) => readonly T[]
}

/** Plays every story of the subject with every fault, and every edit, at every write. */
export async function playStories<T extends Story>(
  suite: string,
  subject: Subject<T>,
  { least, some, only }: Extent,
): Promise<void> {
  // Loaded before time is virtual: reading the file takes time that the simulation does not know of.
  await import('../../../../src/ssh/new-key.ts')
  const laboratory = await Laboratory.open()
  const all = [...FAULTS, ...subject.edits.map((edit) => ({ point: 'before', ...edit }))]
  const hits = all.filter(({ name }) => only === undefined || name === only)
  const cases = []
  for (const story of subject.stories) {
    const { problems, writes } = await play(laboratory, subject, story)
    if (problems.length > 0) throw new Error(`${story.title} fails without a fault:\n${problems.join('\n')}`)
    for (const [at, write] of numbered(writes).entries()) {
      const title = `${subject.kind} / ${story.title}: ${write}`
      cases.push(...hits.map((each) => ({ title, story, at, ...each })))
    }
  }
  const list = new CaseList(suite, 'simulation', { least })
  for (const { title, story, at, point, name, ...hit } of some(cases)) {
    const { problems } = await play(laboratory, subject, story, { at, ...hit })
    list.add({ write: title, point, fault: name }, problems)
  }
  await list.end()
}

interface Played {
  readonly problems: readonly string[]
  readonly writes: readonly string[]
}

async function play<T extends Story>(
  laboratory: Laboratory,
  subject: Subject<T>,
  story: T,
  hit?: { readonly at: number } & Hit,
): Promise<Played> {
  const world = laboratory.world({
    accountSpec: { sshGateway: { address: GATEWAY, hostKeys: [HOST_KEY] } },
    tunnels: { image: 'culvert:test', gateways: [GATEWAY], templates: true, images: ['agent:*'] },
    ...subject.options,
  })
  const untilWhole = async (): Promise<readonly string[]> => {
    await world.until(() => subject.lacks(world).length === 0, BOUND_MS)
    return subject.lacks(world)
  }
  const risks = new Set<string>()
  let risksNow: (() => readonly string[]) | undefined
  const seeRisks = (): void => {
    for (const risk of risksNow?.() ?? []) risks.add(risk)
  }
  // Nobody can know of an object that a repeated create has made if its resource is deleted before a list shows it.
  const orphans = hit !== undefined && 'fault' in hit && hit.fault.type === 'twice' ? 1 : 0
  try {
    const workloads = new Workloads(world)
    const oracle = await Oracle.watch(world)
    subject.prepare(world, story)
    const before = [...(await oracle.untilRest()), ...(await untilWhole())]
    if (before.length > 0) return { problems: before, writes: [] }
    await world.advance(1_000)
    const writes: Sighting[] = []
    const trouble = hit !== undefined && 'fault' in hit ? befalls([hit]) : undefined
    world.trouble = {
      request: (sighting) => {
        if (isWrite(sighting)) {
          if (hit !== undefined && 'act' in hit && writes.length === hit.at) hit.act(world)
          seeRisks()
          writes.push(sighting)
        }
        return trouble?.request(sighting)
      },
    }
    risksNow = subject.risks?.(world, story)
    story.act(world, workloads)
    await world.advance(story.lastsMs ?? AGAIN_MS)
    const problems = [
      ...(await untilWhole()),
      ...(await oracle.judge(undefined, orphans)),
      ...(trouble?.unspent() ?? []),
    ]
    problems.push(...subject.lacks(world), ...subject.surplus(world, workloads))
    seeRisks()
    const seen = writes.map(textOf)
    subject.remove(world)
    world.calm()
    problems.push(...(await oracle.judge(undefined, orphans)), ...workloads.violations, ...risks)
    problems.push(...workloads.owned().map(({ kind, metadata }) => `${kind}/${metadata.name} is left`))
    return { problems, writes: seen }
  } finally {
    world.down()
  }
}
