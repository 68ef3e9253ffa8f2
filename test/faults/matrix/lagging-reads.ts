import type { Fault, Sighting, Trouble, WireAnswer } from '../simulation/faults.ts'
import { textOf } from '../simulation/oracle.ts'
import { refusal } from './api-faults-kinds.ts'

/** Seconds that single reads may lag behind a write. */
export const LAGS: readonly number[] = [1, 5, 30]

/** Seconds that lists may lag. */
const LIST_LAG = 2

/** A 404 in the API's wording, and in others: the contract shows none. */
const NOT_FOUND: readonly (readonly [what: string, answer: WireAnswer])[] = [
  ['in the words of the API', refusal(404, 'ERR_3004', 'there is no such object')],
  ['in other JSON', worded('application/json', '{"error": "not found"}')],
  ['without a body', worded('text/plain', '')],
  ['in HTML', worded('text/html', '<html><body><h1>404 Not Found</h1></body></html>')],
]

function worded(type: string, body: string): WireAnswer {
  return { status: 404, headers: { 'content-type': type }, body }
}

export interface Lag {
  /** Its name in the matrix. */
  readonly name: string
  /** Requests for single objects do not find anything younger than this many seconds. */
  readonly seconds: number
  /** The answer to these requests. */
  readonly answer: WireAnswer
  /** Lists show the state of this many seconds ago. Default 0. */
  readonly listSeconds?: number
}

/** Lags of single reads in rotation: their lengths, and the wording of the 404. */
export function lagOf(turn: number, seconds: number = LAGS[turn % LAGS.length] as number): Lag {
  const [wording, answer] = NOT_FOUND[turn % NOT_FOUND.length] as (typeof NOT_FOUND)[number]
  return { name: `${seconds} s behind, 404 ${wording}`, seconds, answer }
}

/**
 * The same lag, with lists that lag as well. A process that starts in the meantime may repeat the write that the
 * previous one has just sent.
 */
export function withLists(lag: Lag): Lag {
  return { ...lag, name: `${lag.name}, and lists ${LIST_LAG} s behind`, listSeconds: LIST_LAG }
}

/** The API's reads lag behind its writes; `also` takes precedence. */
export function lagging({ seconds, answer, listSeconds = 0 }: Lag, also?: Trouble): Trouble {
  const behind: Fault = { type: 'behind', seconds, answer }
  const stale: Fault | undefined = listSeconds === 0 ? undefined : { type: 'stale', seconds: listSeconds }
  const lag = (sighting: Sighting): Fault | undefined => {
    if (sighting.server !== 'api' || sighting.method === 'POST') return undefined
    return textOf(sighting).endsWith('/{id}') ? behind : stale
  }
  return {
    request: (sighting) => also?.request(sighting) ?? lag(sighting),
    unspent: () => also?.unspent?.() ?? [],
  }
}
