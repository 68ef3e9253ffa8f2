import type { CustomResource } from '../../../../src/managed/cr.ts'
import { type Episode, episodes } from '../episodes.ts'
import type { Fault } from '../faults.ts'
import { isWrite, type SimulatedWorld } from '../world.ts'
import { backUp, keyOf, putBack, putBackOutput, wipe } from './life.ts'
import { takeBack } from './taking-back.ts'
import { playLife, type Scenario, type Trial } from './trial.ts'

/** Writes of an episode, from 0, around which the cluster is lost. */
const MOMENTS = [0, 1, 2, 3, 4, 6, 8] as const

/** Changes of an object by hand are visible only in the account. */
const turns = episodes.filter(({ isUnseen }) => !isUnseen)

/** etcd is put back to its state before a write, once the whole episode is over: the account is ahead. */
export const rollbacks: readonly Trial[] = turns.flatMap((episode) => {
  return MOMENTS.map((at) => trial(episode, `before write ${at}`, 'etcd restored to then', rolledBack(at)))
})

/** The cluster is lost around a write, and restored to its state then: with other UIDs, without status. */
export const lostAmid: readonly Trial[] = turns.flatMap((episode) => {
  return MOMENTS.flatMap((at) =>
    (['before', 'after'] as const).map((when) => {
      return trial(episode, `killed ${when} write ${at}`, 'restored without status', lost(at, { type: 'kill', when }))
    }),
  )
})

/** A manifest exported before an episode, including annotations and finalizers, is applied again after it. */
export const exported: readonly Trial[] = turns
  .filter(({ before }) => before !== undefined)
  .flatMap((episode) => [
    trial(episode, 'after the turn', 'an export of before applied', appliedAgain({ isDown: false })),
    trial(
      episode,
      'after the turn, no operator at work',
      'an export of before applied',
      appliedAgain({ isDown: true }),
    ),
  ])

function trial(episode: Episode, point: string, fault: string, scenario: Scenario): Trial {
  return {
    what: { write: episode.title, point, fault },
    run: (laboratory) => playLife(laboratory, episode, scenario),
  }
}

function rolledBack(at: number): Scenario {
  return async (world, oracle, episode) => {
    let passed = 0
    let snapshot = undefined as ReturnType<SimulatedWorld['kube']['snapshot']> | undefined
    world.trouble = {
      request: (sighting) => {
        if (isWrite(sighting) && passed++ === at) snapshot = world.kube.snapshot()
        return undefined
      },
    }
    await episode.act(world, oracle)
    const unrest = await oracle.untilRest()
    world.calm()
    if (unrest.length > 0 || snapshot === undefined) return unrest.length > 0 ? unrest : undefined
    await world.advance(1_000)
    world.down()
    world.kube.restore(snapshot)
    world.up()
    // If there can be only one, an object without a marker blocks the second.
    return await takeBack(world, oracle, { refused: ['Conflict'] })
  }
}

function lost(at: number, fault: Fault): Scenario {
  return async (world, oracle, episode) => {
    let passed = 0
    world.trouble = { request: (sighting) => (isWrite(sighting) && passed++ === at ? fault : undefined) }
    await episode.act(world, oracle)
    const { process } = world.operators[0] as (typeof world.operators)[number]
    await world.until(() => process.isDead || (passed <= at && oracle.isAtRest), 60_000)
    world.calm()
    if (!process.isDead) return undefined
    world.down()
    const { resources, outputs } = backUp(world)
    wipe(world)
    for (const output of outputs) putBackOutput(world, output, false)
    for (const cr of resources) putBack(world, cr)
    world.up()
    // The placeholder of a replacement begun before the restore has no owner.
    return await takeBack(world, oracle, { orphans: 1 })
  }
}

function appliedAgain({ isDown }: { readonly isDown: boolean }): Scenario {
  return async (world, oracle, episode) => {
    const { kind, name } = episode
    const before = world.get(kind, name) as CustomResource
    await episode.act(world, oracle)
    const unrest = await oracle.untilRest()
    if (unrest.length > 0) return unrest
    await world.advance(1_000)
    if (isDown) world.down()
    oracle.specChanges(kind, name, before.spec as Readonly<Record<string, unknown>>)
    apply(world, before)
    if (isDown) world.up()
    return await takeBack(world, oracle)
  }
}

/** Like `kubectl replace` with an export: restores metadata and spec. */
function apply(world: SimulatedWorld, before: CustomResource): void {
  const present = world.get(before.kind, before.metadata.name)
  if (present === undefined) {
    putBack(world, before)
    return
  }
  const { annotations = {}, finalizers = null } = before.metadata
  const gone = Object.keys(present.metadata.annotations ?? {}).filter((key) => annotations[key] === undefined)
  const removed = Object.fromEntries(gone.map((key) => [key, null]))
  const patch = { metadata: { annotations: { ...removed, ...annotations }, finalizers } }
  const type = world.typeOf(before.kind)
  world.server.patch(type, keyOf(before), patch)
  world.server.replaceSpec(type, keyOf(before), before.spec as Readonly<Record<string, unknown>>)
}
