import { test } from 'vitest'
import { type Episode, episodes } from '../simulation/episodes.ts'
import type { Fault, FrameFault, Sighting, Trouble } from '../simulation/faults.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { isWrite, Laboratory, type SimulatedWorld } from '../simulation/world.ts'
import { numbered } from '../simulation/writes.ts'
import { some, turnAmong } from '../support/size.ts'
import * as refusals from './kubernetes/refusals.ts'

/** Longer than a leader continues without its Lease, and than most pauses. Virtual milliseconds. */
const REFUSED_MS = 60_000
/**
 * So long that the writes to the account that precede a refused write are repeated many times. Virtual milliseconds.
 */
const STATUS_REFUSED_MS = 300_000

interface Way {
  readonly name: string
  readonly refusal: refusals.Refusal
  /** Whether open watches break off as well, as behind a proxy that restarts. */
  readonly breaks: boolean
  readonly replicas: number
  readonly statusAlone?: true
}

const ways: readonly Way[] = [
  { name: '429', refusal: refusals.tooManyRequestsWithoutTime, breaks: false, replicas: 0 },
  { name: '429 with Retry-After, watches broken', refusal: refusals.tooManyRequests, breaks: true, replicas: 0 },
  { name: '503, watches broken', refusal: refusals.unavailable, breaks: true, replicas: 0 },
  { name: '503', refusal: refusals.unavailable, breaks: false, replicas: 0 },
  { name: '429 with Retry-After, two replicas', refusal: refusals.tooManyRequests, breaks: false, replicas: 2 },
  { name: '503, watches broken, two replicas', refusal: refusals.unavailable, breaks: true, replicas: 2 },
]

/** A policy that is wrong about the status subresource. */
const refusesStatus: Way = {
  name: '422',
  refusal: refusals.policyInvalid,
  breaks: false,
  replicas: 0,
  statusAlone: true,
}

/** The episodes of life cycles, without those that create every possible spec. */
const lives = episodes.slice(0, 1 + episodes.findLastIndex(({ title }) => title.endsWith('/ delete')))

test('an API server that refuses everything for a minute, or every status for longer, delays the work and changes nothing else', {
  tags: 'nightly',
}, async () => {
  const laboratory = await Laboratory.open()
  const references = new References(laboratory)
  const cases: Planned[] = []
  for (const [place, episode] of some(lives, 12).entries()) {
    for (const replicas of new Set(ways.map((way) => way.replicas))) {
      const reference = await references.of(episode, replicas)
      for (const [at, write] of numbered(reference.writes).entries()) {
        // Each write meets two of them, a different choice for each: the writes of a kind cover all of them.
        const met = [0, 3].map((step) => ways[(place + at + step + turnAmong(ways.length)) % ways.length] as Way)
        if (/^kubernetes .*\/status #\d+$/.test(write)) met.push(refusesStatus)
        for (const way of met.filter((each) => each.replicas === replicas))
          cases.push(plannedOf(episode, { at, write, way }, reference))
      }
    }
  }
  await playAll('Kubernetes refuses everything', laboratory, some(cases, 30), 600)
})

interface Moment {
  readonly at: number
  readonly write: string
  readonly way: Way
}

function plannedOf(episode: Episode, { at, write, way }: Moment, reference: Planned['reference']): Planned {
  return {
    episode,
    ...(reference === undefined ? {} : { reference }),
    replicas: way.replicas,
    what: {
      write: `${episode.title}: ${write}`,
      point: `from then on for ${msOf(way) / 1000} s`,
      fault: `${way.name} to ${way.statusAlone ? 'each write of a status' : 'everything'}`,
    },
    trouble: (world) => new Refusing(world, at, way),
    // Rest may be reached before the API server answers again.
    ...(way.statusAlone ? {} : { meanwhile: (world) => world.advance(REFUSED_MS) }),
  }
}

function msOf(way: Way): number {
  return way.statusAlone ? STATUS_REFUSED_MS : REFUSED_MS
}

/** From the write at that index, the API server refuses everything, including watches and Leases. */
class Refusing implements Trouble {
  readonly #world: SimulatedWorld
  readonly #at: number
  readonly #way: Way
  #passed = 0
  #until: number | undefined

  constructor(world: SimulatedWorld, at: number, way: Way) {
    this.#world = world
    this.#at = at
    this.#way = way
  }

  request(sighting: Sighting): Fault | undefined {
    if (isWrite(sighting) && this.#passed++ === this.#at) this.#until = this.#world.time.now + msOf(this.#way)
    if (sighting.server !== 'kubernetes' || !this.#isRefusing) return undefined
    if (this.#way.statusAlone && !(isWrite(sighting) && sighting.path.endsWith('/status'))) return undefined
    return { type: 'answer', when: 'before', answer: this.#way.refusal(sighting) }
  }

  frame(): FrameFault | undefined {
    return this.#way.breaks && this.#isRefusing ? 'reset' : undefined
  }

  unspent(): readonly string[] {
    return this.#until === undefined ? ['this write never came'] : []
  }

  get #isRefusing(): boolean {
    return this.#until !== undefined && this.#world.time.now < this.#until
  }
}
