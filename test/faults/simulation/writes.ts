import type { Fault, Sighting, Trouble } from './faults.ts'
import { textOf } from './oracle.ts'
import { isWrite } from './world.ts'

/** Which requests are counted. */
export type Counted = (sighting: Sighting) => boolean

/** Requests, each with its position among its like: `api POST /edges/tls #1`. */
export function numbered(requests: readonly string[]): readonly string[] {
  const seen = new Map<string, number>()
  return requests.map((request) => {
    const number = (seen.get(request) ?? 0) + 1
    seen.set(request, number)
    return `${request} #${number}`
  })
}

/** Faults of future requests. */
export interface Awaited extends Trouble {
  unspent(): readonly string[]
}

/** Hits the request at that index, from 0, among the counted ones; each fault hits once. */
export function befalls(
  faults: readonly { readonly at: number; readonly fault: Fault }[],
  counted: Counted = isWrite,
): Awaited {
  let passed = 0
  return {
    request: (sighting) => {
      if (!counted(sighting)) return undefined
      const found = faults.find(({ at }) => at === passed)
      passed += 1
      return found?.fault
    },
    unspent: () => faults.filter(({ at }) => at >= passed).map(({ at }) => `there was no request ${at}`),
  }
}

/** The writes among requests, in words. */
export function writesAmong(requests: readonly Sighting[]): readonly string[] {
  return numbered(requests.filter(isWrite).map(textOf))
}
