import { type Episode, episodes } from '../simulation/episodes.ts'
import type { Reference } from '../simulation/play.ts'
import type { Planned } from '../simulation/suite.ts'
import type { SimulatedWorld } from '../simulation/world.ts'
import { numbered } from '../simulation/writes.ts'
import { LONG_HOLD } from './api-faults-kinds.ts'
import type { Blow } from './api-faults-trouble.ts'
import { blows } from './api-faults-trouble.ts'

/** A request of an episode to the API: how it reads, and its position among those that read the same. */
export interface Spot {
  readonly text: string
  readonly nth: number
}

/** The requests to the API that an episode makes when nothing fails. */
export function spotsOf({ requests }: Pick<Reference, 'requests'>): readonly Spot[] {
  const texts = requests.filter((text) => text.startsWith('api ')).map((text) => text.replace(/^api /, ''))
  return numbered(texts).map((text) => {
    const [, words = '', nth] = /^(.*) #(\d+)$/.exec(text) ?? []
    return { text: words, nth: Number(nth) }
  })
}

export function isRead({ text }: Spot): boolean {
  return text.startsWith('GET ')
}

const titles = new Set(episodes.map(({ title }) => title))

/** Whether the episode belongs to a full life cycle; the others only create something in a different way. */
export function isOfLife({ title }: Episode): boolean {
  return titles.has(title.replace(/ [/] [^/]*$/, ' / delete'))
}

/** The episodes of full life cycles. */
export const lives: readonly Episode[] = episodes.filter(isOfLife)

export interface Plan {
  readonly episode: Episode
  /** Undefined: any final state of the account is accepted. */
  readonly reference?: Reference
  readonly spot: Spot
  readonly point: string
  readonly fault: string
  readonly blows: readonly Blow[]
  readonly more?: Pick<Planned, 'prepare' | 'orphans' | 'remade'>
  readonly meanwhile?: (world: SimulatedWorld) => Promise<void>
}

/** Builds the case of a plan. Changes that the operator notices only by polling may be noticed one long hold later. */
export function caseOf({ episode, reference, spot, point, fault, blows: planned, more, meanwhile }: Plan): Planned {
  const wait = async (world: SimulatedWorld): Promise<void> => {
    await meanwhile?.(world)
    if (episode.isUnseen && fault.includes(String(LONG_HOLD))) await world.advance(LONG_HOLD * 1000)
  }
  return {
    episode,
    ...(reference === undefined ? {} : { reference }),
    ...more,
    what: { write: `${episode.title}: api ${spot.text} #${spot.nth}`, point, fault },
    trouble: () => blows(...planned),
    meanwhile: wait,
  }
}

/** `count` of them, different ones for each `turn`: over all turns each is used equally often. */
export function rotated<T>(all: readonly T[], count: number, turn: number): readonly T[] {
  return Array.from(
    { length: Math.min(count, all.length) },
    (_, index) => all[(turn * count + index) % all.length] as T,
  )
}
