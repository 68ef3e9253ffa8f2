import { statusOf } from '../../../../src/managed/cr.ts'
import { type Episode, type EpisodeWitness, episodes } from '../../simulation/episodes.ts'
import type { SimulatedWorld } from '../../simulation/world.ts'

/** A change by hand that a watch should report to an operator. */
export interface WatchStory {
  /** `IPPolicy policy / update: watch of ippolicies`. */
  readonly title: string
  /** The world before it, and whose life cycle it is about. The episode's own act is left out. */
  readonly episode: Episode
  /** Path of the watched collection. */
  readonly path: (world: SimulatedWorld) => string
  /** Additional preparation. */
  readonly prepare?: (world: SimulatedWorld) => Promise<void>
  /** The change whose frames meet the fault. */
  readonly change: (world: SimulatedWorld, witness: EpisodeWitness) => Promise<void>
  /** Another change of the same objects; undefined: nothing more happens to them that a frame could report. */
  readonly touch: ((world: SimulatedWorld) => void) | undefined
  /** Whether the operator has acted on the change, if it is not enough that all resources are at rest again. */
  readonly hasArrived?: (world: SimulatedWorld) => boolean
  /** Whether resources are not at rest until the other change. */
  readonly isRestless?: boolean
  /** Another change after the fault. */
  readonly afterwards: (world: SimulatedWorld, witness: EpisodeWitness) => Promise<void>
  /** As `hasArrived`, for the other change. */
  readonly hasArrivedAfterwards?: (world: SimulatedWorld) => boolean
}

const TOUCHED = { 'example.com/touched': 'yes' }

/** Episodes that begin with a change to a resource, each with the episode that may follow. */
const TURNS: Readonly<Record<string, string>> = {
  create: 'update',
  update: 'create',
  'change of rules': 'create',
  replace: 'create',
  rotate: 'update',
  delete: 'create',
}

/** Changes to a resource, reported by the watch of its own kind. */
export const ownStories: readonly WatchStory[] = episodes.flatMap((episode) => {
  const { kind, name, title, act } = episode
  const [subject = '', turn = ''] = title.split(' / ')
  const other = turnOf(subject, TURNS[turn])
  if (other === undefined || turnOf(subject, 'update') === undefined) return []
  return [
    {
      title: `${title}: watch of its kind`,
      episode,
      path: (world) => collectionOf(world, kind),
      change: act,
      touch: (world) => world.annotate(kind, name, TOUCHED),
      afterwards: other.act,
    },
  ]
})

/** Kinds that a resource's spec refers to, each with the episode that creates the resource. */
const referring = episodes.flatMap((episode) => {
  const isStory = turnOf(episode.title.split(' / ')[0] ?? '', 'update') !== undefined
  if (!isStory || !episode.title.endsWith(' / create')) return []
  return [...new Set(episode.needs.map(({ kind }) => kind))]
    .filter((kind) => kind !== episode.kind)
    .map((kind) => ({ episode, kind }))
})

/** Changes to the dependencies of a resource. */
export const referenceStories: readonly WatchStory[] = referring.flatMap((pair) => [laterNeeds(pair), goingNeeds(pair)])

interface Referring {
  readonly episode: Episode
  readonly kind: string
}

/** The dependency is created while the resource waits for it. */
function laterNeeds({ episode, kind }: Referring): WatchStory {
  const wanted = episode.needs.filter((need) => need.kind === kind)
  return {
    title: `${episode.title} before what it refers to: watch of ${kind}`,
    episode,
    path: (world) => collectionOf(world, kind),
    prepare: async (world) => {
      for (const need of episode.needs.toReversed()) world.delete(need.kind, need.name)
      await world.until(() => world.all().length === 0, 60_000)
      await episode.act(world, { specChanges: () => undefined, meddled: () => undefined })
      for (const need of episode.needs.filter((each) => each.kind !== kind))
        world.apply(need.kind, need.name, need.spec)
      await world.advance(5_000)
    },
    change: async (world) => {
      for (const { name, spec } of wanted) world.apply(kind, name, spec)
    },
    touch: (world) => {
      for (const { name } of wanted) world.annotate(kind, name, TOUCHED)
    },
    afterwards: async (world) => {
      for (const { name, spec } of wanted) world.apply(kind, name, { ...spec, description: 'edited afterwards' })
    },
  }
}

/** The dependency is deleted, and waits until the resource is gone. */
function goingNeeds({ episode, kind }: Referring): WatchStory {
  const wanted = episode.needs.filter((need) => need.kind === kind)
  const update = turnOf(episode.title.split(' / ')[0] ?? '', 'update') as Episode
  return {
    title: `${episode.title}, and then what it refers to goes: watch of ${kind}`,
    episode: update,
    path: (world) => collectionOf(world, kind),
    change: async (world) => {
      for (const { name } of wanted) world.delete(kind, name)
    },
    touch: (world) => {
      for (const { name } of wanted) world.annotate(kind, name, TOUCHED)
    },
    isRestless: true,
    hasArrived: (world) => {
      return wanted.every(({ name }) => {
        const need = world.get(kind, name)
        if (need === undefined) return true
        return statusOf(need).conditions?.some(({ type, status }) => type === 'Ready' && status !== 'True') ?? false
      })
    },
    afterwards: async (world) => world.delete(episode.kind, episode.name),
  }
}

export function turnOf(subject: string, turn: string | undefined): Episode | undefined {
  return episodes.find(({ title }) => title === `${subject} / ${turn}`)
}

function collectionOf(world: SimulatedWorld, kind: string): string {
  const { group, version, plural } = world.typeOf(kind)
  return `/apis/${group}/${version}/${plural}`
}
