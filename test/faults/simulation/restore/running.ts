import { events } from '../../../../src/runtime/events.ts'
import type { KubeSnapshot } from '../../../builders/model-kube.ts'
import { type Episode, episodes } from '../episodes.ts'
import { type Oracle, textOf } from '../oracle.ts'
import { isWrite, type SimulatedWorld } from '../world.ts'
import { takeBack } from './taking-back.ts'
import { playLife, type Scenario, type Trial } from './trial.ts'

/** How etcd is put back under running operators. */
export interface Putting {
  readonly title: string
  /**
   * The revision that the history continues from. `passed`: as it was then, and other clients write until it exceeds
   * the former one.
   */
  readonly revision: 'bumped' | 'as it was' | 'passed'
  /** How long the API server is unreachable. Virtual milliseconds. */
  readonly downMs: number
  /** Numbers of replicas; 0: one operator without leader election. */
  readonly replicas: readonly number[]
}

/** The value of `--bump-revision` in etcd's documentation. */
const BUMP = 1_000_000_000
const OPERATORS_LOOK_MS = 90_000
/** Writes of an episode, from 0, before which the snapshot was taken. */
const MOMENTS = [0, 1, 3] as const

const puttings: readonly Putting[] = [
  { title: 'with a bumped revision', revision: 'bumped', downMs: 2_000, replicas: [0, 2] },
  { title: 'with the revision of then', revision: 'as it was', downMs: 500, replicas: [0, 2] },
  { title: 'and beyond its revision before anybody is back', revision: 'passed', downMs: 5_000, replicas: [0, 2] },
  // A bookmark reveals it. With leader election, Leases would raise the revision beyond the former one before a
  // bookmark comes.
  { title: 'with the revision of then, at once', revision: 'as it was', downMs: 0, replicas: [0] },
  {
    title: 'with a bumped revision, after an outage that ends terms',
    revision: 'bumped',
    downMs: 30_000,
    replicas: [0, 2],
  },
]

/**
 * The episodes of life cycles, without those that create every possible spec: there an object without a marker blocks a
 * second one.
 */
const lives = episodes.slice(0, 1 + episodes.findLastIndex(({ title }) => title.endsWith('/ delete')))
/** Changes of an object by hand are visible only in the account. */
const turns = lives.filter(({ isUnseen }) => !isUnseen)

/**
 * etcd is put back to its state before a write of an episode, once the episode is over, under one operator or two
 * replicas.
 */
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

/** Plays the episode to its end; returns etcd's state before that write. Undefined: there was no such write. */
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

/**
 * The violations once etcd is put back and enough time has passed, including anything that another process finds to
 * write.
 */
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
  // If there can be only one, an object without a marker blocks the second.
  const problems = await takeBack(world, oracle, { refused: ['Conflict'] })
  if (problems.length > 0) return problems
  const { length } = oracle.writes
  for (const { process } of world.operators) process.kill()
  await world.advance(OPERATORS_LOOK_MS)
  const late = oracle.writes.slice(length).filter(({ server }) => server === 'api')
  return late.map((write) => `left to a new process: ${textOf(write)}`)
}

/** Puts etcd back, and restarts the API server, under running operators. */
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
