import { test } from 'vitest'
import { episodes } from '../simulation/episodes.ts'
import type { Fault, Sighting, Trouble } from '../simulation/faults.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { Laboratory, type SimulatedWorld } from '../simulation/world.ts'
import { befalls, numbered } from '../simulation/writes.ts'
import { some } from '../support/size.ts'

/** The answer of an intermediary before Kubernetes that has lost its route. */
const lostRoute = (type: string, body: string): Fault => ({
  type: 'answer',
  when: 'before',
  answer: { status: 404, headers: { 'content-type': type }, body },
})

const STRANGERS: readonly (readonly [what: string, fault: Fault])[] = [
  ['404 with HTML', lostRoute('text/html', '<html><body><h1>404 Not Found</h1></body></html>')],
  ['404 without a body', lostRoute('text/plain', '')],
]

/** How long all requests get this answer. Virtual milliseconds. */
const LASTING_MS = 20_000

const isRead = ({ server, method, query }: Sighting): boolean => {
  return server === 'kubernetes' && method === 'GET' && !query.has('watch')
}

test('a proxy before Kubernetes answers a read with 404: nothing counts as gone', { tags: 'nightly' }, async () => {
  const laboratory = await Laboratory.open()
  const references = new References(laboratory)
  const cases: Planned[] = []
  for (const episode of some(episodes, 60)) {
    const reference = await references.of(episode)
    const reads = numbered(reference.requests.filter((request) => request.startsWith('kubernetes GET ')))
    for (const [at, read] of reads.entries()) {
      const [fault, hit] = STRANGERS[at % STRANGERS.length] as (typeof STRANGERS)[number]
      const what = (point: string) => ({ write: `${episode.title}: ${read}`, point, fault })
      const once = () => befalls([{ at, fault: hit }], isRead)
      cases.push({ episode, reference, what: what('once'), trouble: once })
      cases.push({
        episode,
        reference,
        what: what('and all reads for 20 s'),
        trouble: (world) => lasting(world, at, hit),
      })
    }
  }
  await playAll('404 of something before Kubernetes', laboratory, some(cases, 60), 150)
})

/** From that read on, all reads get this answer for a while. */
function lasting({ time }: SimulatedWorld, at: number, fault: Fault): Trouble {
  const first = befalls([{ at, fault }], isRead)
  let until: number | undefined
  return {
    request: (sighting) => {
      if (first.request(sighting) !== undefined) until = time.now + LASTING_MS
      return until !== undefined && time.now < until && isRead(sighting) ? fault : undefined
    },
    unspent: () => (until === undefined ? [`there was no read ${at}`] : []),
  }
}
