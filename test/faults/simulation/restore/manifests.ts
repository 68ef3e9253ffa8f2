import type { CustomResource } from '../../../../src/managed/cr.ts'
import { type Episode, episodes } from '../episodes.ts'
import type { Oracle } from '../oracle.ts'
import { isWrite, type SimulatedWorld } from '../world.ts'
import { isOurDoing } from './copies.ts'
import { keyOf, putBack } from './life.ts'
import { takeBack } from './taking-back.ts'
import { playLife, type Scenario, type Trial } from './trial.ts'

type Fields = Readonly<Record<string, unknown>>

/** Writes of an episode, from 0, at which the manifest is exported, and after which it is applied again. */
const EXPORTED = [0, 1, 2, 3, 5] as const
const APPLIED = [0, 1, 2, 3, 4, 5, 6, 8] as const
/**
 * `with` a write: the manifest arrives before the write, so that a write to the resource is refused; `after`: the write
 * is done by then.
 */
const WHENS = ['with', 'after'] as const
/** Longer than a request's round trip, and shorter than an operator's pauses. Milliseconds. */
const DONE_MS = 5

/** Changes of an object by hand are visible only in the account. */
const turns = episodes.filter(({ isUnseen }) => !isUnseen)

/**
 * A manifest exported at some moment of an episode is applied again later, including annotations and finalizers, while
 * nothing is at rest: by a GitOps tool that lags behind, or a person with an old file.
 */
export const manifests: readonly Trial[] = turns.flatMap((episode) => {
  return EXPORTED.flatMap((exported) => {
    return APPLIED.filter((applied) => applied >= exported).flatMap((applied) => {
      return WHENS.flatMap((when) => {
        return [false, true].map((withStatus) => trial(episode, { exported, applied, when, withStatus }))
      })
    })
  })
})

interface Moments {
  readonly exported: number
  readonly applied: number
  readonly when: (typeof WHENS)[number]
  /** Whether the status is restored too, as by `kubectl replace --subresource=status`. */
  readonly withStatus: boolean
}

function trial(episode: Episode, moments: Moments): Trial {
  const { exported, applied, when, withStatus } = moments
  const status = withStatus ? ', status included' : ''
  const fault = `applied again as of before write ${exported}${status}`
  return {
    what: { write: episode.title, point: `${when} write ${applied}`, fault },
    run: (laboratory) => {
      const scenario: Scenario = (world, oracle) => appliedAmid(world, oracle, episode, moments)
      return playLife(
        laboratory,
        episode,
        scenario,
        withStatus ? { ownDoing: (_, problems) => ownDoing(problems) } : {},
      )
    },
  }
}

/** @returns the violations; undefined if the episode has no such moments. */
async function appliedAmid(
  world: SimulatedWorld,
  oracle: Oracle,
  episode: Episode,
  { exported, applied, when, withStatus }: Moments,
): Promise<readonly string[] | undefined> {
  const { kind, name } = episode
  let passed = 0
  let copy: CustomResource | undefined
  let isApplied = false
  const apply = (): void => {
    if (copy === undefined) return
    isApplied = true
    oracle.specChanges(kind, name, copy.spec as Fields)
    applyAgain(world, copy, withStatus)
  }
  const { trouble } = world.network
  world.trouble = {
    request: (sighting) => {
      if (isWrite(sighting)) {
        const number = passed++
        if (number === exported) copy = world.get(kind, name)
        if (number === applied) world.time.setTimer(when === 'with' ? 0 : DONE_MS, apply)
      }
      return trouble.request(sighting)
    },
  }
  await episode.act(world, oracle)
  await world.until(() => isApplied || (passed <= applied && oracle.isAtRest), 120_000)
  if (!isApplied) return undefined
  // If there can be only one, an object without a marker blocks the second.
  const problems = await takeBack(world, oracle, withStatus ? { refused: ['Conflict'] } : {})
  return withStatus ? ownDoing(problems) : problems
}

/** The problems that remain although the status was taken from a running operator. */
function ownDoing(problems: readonly string[]): readonly string[] {
  return problems.filter((problem) => {
    return isOurDoing(problem) && !problem.startsWith('POST of a rule whose policy nobody would find')
  })
}

/** Like `kubectl replace` with an export: restores metadata and spec, and the status if asked to. */
export function applyAgain(world: SimulatedWorld, copy: CustomResource, withStatus: boolean): void {
  const type = world.typeOf(copy.kind)
  const present = world.get(copy.kind, copy.metadata.name)
  if (present === undefined) {
    putBack(world, copy)
    return
  }
  const { annotations, finalizers = null } = copy.metadata
  const patch = { metadata: { annotations: inPlaceOf(present.metadata.annotations, annotations), finalizers } }
  world.server.patch(type, keyOf(copy), patch)
  // Without a finalizer, one that was being deleted is gone by now.
  if (world.get(copy.kind, copy.metadata.name) === undefined) return
  world.server.replaceSpec(type, keyOf(copy), copy.spec as Fields)
  if (!withStatus) return
  const status = inPlaceOf(present.status, copy.status)
  world.server.patch(type, keyOf(copy), { status }, { subresource: 'status' })
}

/** A merge patch that turns the former fields into the wanted ones. */
function inPlaceOf(former: Fields = {}, wanted: Fields = {}): Fields {
  return { ...Object.fromEntries(Object.keys(former).map((key) => [key, null])), ...wanted }
}
