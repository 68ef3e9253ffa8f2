import { events } from '../../../../src/runtime/events.ts'
import type { KubeSnapshot } from '../../../builders/model-kube.ts'
import { type Episode, episodes } from '../episodes.ts'
import { type Oracle, textOf } from '../oracle.ts'
import { isWrite, type SimulatedWorld } from '../world.ts'
import { takeBack } from './taking-back.ts'
import { playLife, type Scenario, type Trial } from './trial.ts'

/** How etcd is put back under operators that run. */
export interface Putting {
  readonly title: string
  /** What the history counts on from. `passed`: as it was then, and others write until it is beyond what was. */
  readonly revision: 'bumped' | 'as it was' | 'passed'
  /** So long nobody reaches the API server. Virtual milliseconds. */
  readonly downMs: number
  /** Under how many replicas; 0: one operator without an election. */
  readonly replicas: readonly number[]
}

/** As far as `--bump-revision` raises it in the handbook of etcd. */
const BUMP = 1_000_000_000
const OPERATORS_LOOK_MS = 90_000
/** Writes of a turn, from 0, before which the snapshot was taken. */
const MOMENTS = [0, 1, 3] as const

const puttings: readonly Putting[] = [
  { title: 'with a bumped revision', revision: 'bumped', downMs: 2_000, replicas: [0, 2] },
  { title: 'with the revision of then', revision: 'as it was', downMs: 500, replicas: [0, 2] },
  { title: 'and beyond its revision before anybody is back', revision: 'passed', downMs: 5_000, replicas: [0, 2] },
  // A bookmark tells of it. With an election, Leases would bring the revision beyond what was before one comes.
  { title: 'with the revision of then, at once', revision: 'as it was', downMs: 0, replicas: [0] },
  {
    title: 'with a bumped revision, after an outage that ends terms',
    revision: 'bumped',
    downMs: 30_000,
    replicas: [0, 2],
  },
]

/** The turns of lives, without the creation of everything that a spec can say: what bears no mark there is in the way of a second one. */
const lives = episodes.slice(0, 1 + episodes.findLastIndex(({ title }) => title.endsWith('/ delete')))
/** What somebody else does to an object is told by the account alone. */
const turns = lives.filter(({ isUnseen }) => !isUnseen)

/** etcd is put back to what it held before a write of a turn, once the whole turn is over, under one operator or two replicas. */
export const puttingsBack: readonly Trial[] = turns.flatMap((episode) => {
  return MOMENTS.flatMap((at) => {
    return puttings.flatMap((putting) => putting.replicas.map((replicas) => trial(episode, at, putting, replicas)))
  })
})

function trial(episode: Episode, at: number, putting: Putting, replicas: number): Trial {
  const scenario: Scenario = async (world, oracle) => {
    const snapshot = await snapshotWithin(world, oracle, episode, at)
    return snapshot === undefined ? undefined : await putBackUnder(world, oracle, episode, snapshot, putting)
  }
  const point = `before write ${at}, ${replicas === 0 ? 'one operator' : `${replicas} replicas`}`
  return {
    what: { write: episode.title, point, fault: `etcd put back ${putting.title}` },
    run: (laboratory) => playLife(laboratory, episode, scenario, { replicas }),
  }
}

/** Plays the turn to its end; what etcd held before that write of it. Undefined: there was none. */
async function snapshotWithin(
  world: SimulatedWorld,
  oracle: Oracle,
  episode: Episode,
  at: number,
): Promise<KubeSnapshot | undefined> {
  let passed = 0
  let snapshot = undefined as KubeSnapshot | undefined
  world.trouble = {
    request: (sighting) => {
      if (isWrite(sighting) && passed++ === at) snapshot = world.kube.snapshot()
      return undefined
    },
  }
  await episode.act(world, oracle)
  await oracle.untilRest()
  world.calm()
  await world.advance(1_000)
  return snapshot
}

/** What was wrong once it is put back, and everybody has had time; among it that another process finds something to write. */
async function putBackUnder(
  world: SimulatedWorld,
  oracle: Oracle,
  { kind, name }: Episode,
  snapshot: KubeSnapshot,
  putting: Putting,
): Promise<readonly string[]> {
  const former = [...snapshot.objects.values()].find((object) => object.kind === kind && object.metadata.name === name)
  if (former !== undefined) oracle.specChanges(kind, name, (former.spec ?? {}) as Readonly<Record<string, unknown>>)
  await putBackEtcd(world, snapshot, putting)
  // Where there can be one only, what bears no mark is in the way of the second.
  const problems = await takeBack(world, oracle, { refused: ['Conflict'] })
  if (problems.length > 0) return problems
  const { length } = oracle.writes
  for (const { process } of world.operators) process.kill()
  await world.advance(OPERATORS_LOOK_MS)
  const late = oracle.writes.slice(length).filter(({ server }) => server === 'api')
  return late.map((write) => `left to a new process: ${textOf(write)}`)
}

/** Puts etcd back, and restarts the API server, under operators that run. */
export async function putBackEtcd(
  world: SimulatedWorld,
  snapshot: KubeSnapshot,
  { revision, downMs }: Pick<Putting, 'revision' | 'downMs'>,
): Promise<void> {
  const before = Number(world.kube.revision)
  // After a bump it would take a thousand million writes to pass.
  const isFarBack = before - snapshot.revision > BUMP / 2
  const goesOnFrom =
    revision === 'bumped' ? before + BUMP : revision === 'passed' && isFarBack ? before : snapshot.revision
  world.kube.restore(snapshot, goesOnFrom)
  world.server.restart()
  world.network.cutOff('kubernetes', downMs)
  if (revision === 'passed') {
    const key = { namespace: 'kube-system', name: 'somebody-else' }
    if (world.kube.get(events, key) === undefined) world.kube.create(events, key, { note: '' })
    for (let count = 0; Number(world.kube.revision) <= before; count += 1) {
      world.kube.mergePatch(events, key, { note: `${count}` })
    }
  }
  await world.advance(downMs + 1_000)
}
