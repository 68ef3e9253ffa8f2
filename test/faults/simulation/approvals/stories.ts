import { statusOf } from '../../../../src/managed/cr.ts'
import { CaseList } from '../../support/case-list.ts'
import { leastOf, some } from '../../support/size.ts'
import { type Episode, type EpisodeWorld, episodes } from '../episodes.ts'
import type { Fault } from '../faults.ts'
import { type PlayOptions, play, type Reference, referenceOf } from '../play.ts'
import type { Laboratory } from '../world.ts'
import { befalls, numbered } from '../writes.ts'
import { Person } from './person.ts'

type Fields = Readonly<Record<string, unknown>>

/** Turns that differ from others only in what the plan is about. */
const ALIKE = /\/ (change of rules|change of a value that is never shown|rotate)$/

/** The lives of the kinds' first specs, as resources whose plans wait for approval. */
export const approvedEpisodes: readonly Episode[] = episodes
  .filter(({ title }, _, all) => {
    return !ALIKE.test(title) && all.some((each) => each.before !== undefined && lifeOf(each.title) === lifeOf(title))
  })
  .map(approved)

/** `Backend group` of `Backend group / update`. */
function lifeOf(title: string): string {
  return title.slice(0, title.indexOf(' / '))
}

const FAULTS: readonly { readonly point: string; readonly name: string; readonly fault: Fault }[] = [
  ...(['after', 'answered'] as const).map((when) => {
    return { point: when, name: 'SIGKILL', fault: { type: 'kill', when } as const }
  }),
  { point: 'after', name: 'reset', fault: { type: 'reset', when: 'after' } },
]

/** Plays every step with every fault at every write, while somebody approves each plan. */
export async function playApprovals(suite: string, laboratory: Laboratory): Promise<void> {
  const cases = []
  for (const episode of some(approvedEpisodes, 20)) {
    const reference = await referenceOf(laboratory, episode, 0, (options) => watched(episode, options).options)
    for (const [at, write] of numbered(reference.writes).entries()) {
      cases.push(...FAULTS.map((each) => ({ episode, reference, at, write: `${episode.title}: ${write}`, ...each })))
    }
  }
  const list = new CaseList(suite, 'simulation', { least: leastOf(500) })
  for (const { episode, reference, at, write, point, name, fault } of some(cases, 60)) {
    list.add({ write, point, fault: name }, await playOne(laboratory, episode, reference, { at, fault }))
  }
  await list.end()
}

async function playOne(
  laboratory: Laboratory,
  episode: Episode,
  reference: Reference,
  hit: { readonly at: number; readonly fault: Fault },
): Promise<readonly string[]> {
  const { options, person } = watched(episode, { reference, trouble: () => befalls([hit]) })
  const { problems } = await play(laboratory, episode, options)
  return [...problems, ...(person()?.violations ?? ['nobody approved'])]
}

/** Options with a person who approves, and judges every request. */
export function watched(
  { kind, name }: Pick<Episode, 'kind' | 'name'>,
  options: PlayOptions,
): { readonly options: PlayOptions; readonly person: () => Person | undefined } {
  let person: Person | undefined
  return {
    person: () => person,
    options: {
      ...options,
      prepare: async (world) => {
        await options.prepare?.(world)
        person = new Person(world, kind, name)
        world.trouble = { request: (sighting) => void person?.sees(sighting) }
      },
      trouble: (world, oracle) => {
        const made = options.trouble?.(world, oracle)
        return {
          ...made,
          request: (sighting) => {
            person?.sees(sighting)
            return made?.request(sighting)
          },
          ...(made?.frame === undefined ? {} : { frame: made.frame.bind(made) }),
          ...(made?.unspent === undefined ? {} : { unspent: made.unspent.bind(made) }),
        }
      },
    },
  }
}

/** The same step of a resource with `managementPolicy: Plan`. */
function approved(episode: Episode): Episode {
  const { kind, name, title, before, act } = episode
  return {
    ...episode,
    title: `${title}, approved`,
    before: before === undefined ? undefined : planned(before),
    act: (world, witness) => act(planning(world, kind, name), witness),
  }
}

function planning(world: EpisodeWorld, kind: string, name: string): EpisodeWorld {
  return {
    apply: (each, called, spec) => world.apply(each, called, each === kind && called === name ? planned(spec) : spec),
    annotate: (...args) => world.annotate(...args),
    delete: (...args) => world.delete(...args),
    get: (...args) => world.get(...args),
    placeOf: (cr) => world.placeOf(cr),
    api: world.api,
  }
}

function planned(spec: Fields): Fields {
  return { ...spec, managementPolicy: 'Plan' }
}

/** The hash of the plan that the resource waits with. */
export function pendingHash(person: Person): string | undefined {
  return person.resource && statusOf(person.resource).plan?.hash
}
