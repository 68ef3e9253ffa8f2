import type { Fault, Sighting, Trouble } from '../simulation/faults.ts'
import { textOf } from '../simulation/oracle.ts'

/** A fault that hits one request, and optionally those after it. */
export interface Blow {
  /** Which requests are counted. */
  readonly hits: (sighting: Sighting) => boolean
  /** Which of them it hits, from 1, counted since the previous blow. Default 1. */
  readonly nth?: number
  /** The maximum number of them in a row that it hits. Default 1. */
  readonly times?: number
  readonly fault: Fault
}

/** Blows in sequence: each waits for its request once the previous one has hit. */
export function blows(...planned: readonly Blow[]): Trouble {
  let at = 0
  let passed = 0
  return {
    request: (sighting) => {
      for (;;) {
        const { hits, nth = 1, times = 1, fault } = planned[at] ?? NONE
        const hasBegun = passed >= nth
        if (!hits(sighting)) {
          // A run that something else interrupts is over only when the next blow matches its own request.
          if (!hasBegun || planned[at + 1]?.hits(sighting) !== true) return undefined
        } else if (passed < nth + times - 1) {
          passed += 1
          return passed >= nth ? fault : undefined
        }
        if (at + 1 >= planned.length) return undefined
        at += 1
        passed = 0
      }
    },
    unspent: () => {
      const fallen = at + (passed >= (planned[at]?.nth ?? 1) ? 1 : 0)
      return fallen >= planned.length ? [] : [`only ${fallen} of ${planned.length} blows fell`]
    },
  }
}

const NONE: Blow = { hits: () => false, fault: { type: 'cut' } }

/**
 * Requests of an operator to the API with this description: `GET /edges/tls`, and `GET /edges/tls, page 2` for a later
 * page.
 */
export function reading(text: string): (sighting: Sighting) => boolean {
  return (sighting) => sighting.server === 'api' && inWords(sighting) === text
}

export function anyToApi({ server }: Sighting): boolean {
  return server === 'api'
}

/** Any request of a process to a server, except watches, Leases and Events. */
export function anything({ path, query }: Sighting): boolean {
  return !query.has('watch') && !/\/(leases|events)(\/|$)/.test(path)
}

export function inWords(sighting: Sighting): string {
  const text = textOf(sighting).replace(/^api /, '')
  return isLaterPage(sighting) ? `${text}, later page` : text
}

export function isLaterPage({ query }: Sighting): boolean {
  return query.has('before_id')
}

/** Whether the description is that of a first page. */
export function isList(text: string): boolean {
  return text.startsWith('GET ') && !text.includes('{id}') && !text.endsWith(', later page')
}
