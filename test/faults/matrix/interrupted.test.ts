import { test } from 'vitest'
import { type Episode, episodes } from '../simulation/episodes.ts'
import type { Fault, Sighting, Trouble } from '../simulation/faults.ts'
import { times } from '../simulation/operator.ts'
import { textOf } from '../simulation/oracle.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { Laboratory, type SimulatedWorld } from '../simulation/world.ts'
import { befalls, numbered } from '../simulation/writes.ts'
import { some } from '../support/size.ts'

/** The longest that a sent request may take to reach the server. */
const LATE_MS = times.requestTimeoutMs - 500

/** Opened once: all tests share the references. */
const opened = Laboratory.open().then((laboratory) => ({ laboratory, references: new References(laboratory) }))

const isPost = ({ server, method }: Sighting): boolean => server === 'api' && method === 'POST'

test('killed while an API write is in flight', async () => {
  const { laboratory, references } = await opened
  const cases = await eachWrite(references, 25, (at, write) => {
    if (!write.startsWith('api ')) return []
    return [['SIGKILL, and it arrives late', () => dyingAt(at)]]
  })
  await playAll('kills with a write on its way', laboratory, some(cases, 40), 150)
})

test('deleted at every write of every life cycle step', async () => {
  const { laboratory, references } = await opened
  const cases = await eachWrite(references, 25, (at, write) => [
    ['the resource is deleted', (world, episode) => deletedAt(world, episode, at)],
    [
      'the resource is deleted, and SIGKILL',
      (world, episode) => deletedAt(world, episode, at, { type: 'kill', when: 'after' }),
    ],
    ...(write.startsWith('api POST') ? [deletedAndLate(at)] : []),
  ])
  // The resource is deleted in the end, so there is no reference state to compare with.
  const alone = cases.map(({ reference: _reference, ...planned }) => planned)
  await playAll('deletions in the middle', laboratory, some(alone, 40), 500)
})

test('creates with an unknown outcome', async () => {
  const { laboratory, references } = await opened
  const cases = await eachWrite(references, 25, (at, write) => {
    if (!write.startsWith('api POST')) return []
    return UNKNOWN.map(([fault, made]) => [fault, () => made(at)] as const)
  })
  await playAll('unknown creates', laboratory, some(cases, 40), 100)
})

test('an API that once does not know an object', async () => {
  const { laboratory, references } = await opened
  const cases: Planned[] = []
  for (const episode of some(episodes, 25)) {
    const reference = await references.of(episode)
    for (const [fault, isLook, made] of FORGETTING) {
      for (const [at, look] of numbered(reference.requests.filter((request) => isLook(request))).entries()) {
        const what = { write: `${episode.title}: ${look}`, point: 'before', fault }
        cases.push({ episode, what, reference, trouble: () => made(at) })
      }
    }
  }
  await playAll('objects unknown for once', laboratory, some(cases, 40), 100)
})

type Made = (world: SimulatedWorld, episode: Episode) => Trouble
type Named = readonly [fault: string, made: Made]

/** The faults for each write that the episode sends when nothing fails. */
async function eachWrite(
  references: References,
  few: number,
  troubles: (at: number, write: string) => readonly Named[],
): Promise<readonly Planned[]> {
  const cases: Planned[] = []
  for (const episode of some(episodes, few)) {
    const reference = await references.of(episode)
    for (const [at, write] of numbered(reference.writes).entries()) {
      for (const [fault, made] of troubles(at, write)) {
        const what = { write: `${episode.title}: ${write}`, point: 'on its way', fault }
        cases.push({ episode, what, reference, trouble: (world) => made(world, episode) })
      }
    }
  }
  return cases
}

/** The write is sent, and the process dies before it arrives. */
function dyingAt(at: number): Trouble {
  const late = befalls([{ at, fault: { type: 'late', ms: LATE_MS } }])
  return {
    request: (sighting) => {
      const fault = late.request(sighting)
      if (fault !== undefined) sighting.process.killSoon()
      return fault
    },
    unspent: late.unspent,
  }
}

/** @param then the fault that hits the write. Default: none. */
function deletedAt(world: SimulatedWorld, { kind, name }: Episode, at: number, then?: Fault): Trouble {
  const written = befalls([{ at, fault: { type: 'cut' } }])
  return {
    request: (sighting) => {
      if (written.request(sighting) === undefined) return undefined
      if (world.get(kind, name) !== undefined) world.delete(kind, name)
      if (then?.type === 'late') sighting.process.killSoon()
      return then
    },
    unspent: written.unspent,
  }
}

function deletedAndLate(at: number): Named {
  const late: Fault = { type: 'late', ms: LATE_MS }
  return [
    'the resource is deleted, and SIGKILL before it arrives',
    (world, episode) => deletedAt(world, episode, at, late),
  ]
}

const html = (status: number): Extract<Fault, { type: 'answer' }> => ({
  type: 'answer',
  when: 'after',
  answer: { status, headers: { 'content-type': 'text/html' }, body: '<html>something on the way</html>' },
})

/** Outcomes of a POST that its sender cannot know. */
const UNKNOWN: readonly (readonly [string, (at: number) => Trouble])[] = [
  ['no answer, and it arrives late', (at) => befalls([{ at, fault: { type: 'late', ms: LATE_MS } }])],
  ['no answer', (at) => befalls([{ at, fault: { type: 'silence', when: 'after' } }])],
  ['nothing arrives', (at) => befalls([{ at, fault: { type: 'reset', when: 'before' } }])],
  ['an answer of something on the way', (at) => befalls([{ at, fault: html(502) }])],
  ['a refusal of something on the way', (at) => befalls([{ at, fault: html(409) }])],
  ['sent twice by something on the way', (at) => befalls([{ at, fault: { type: 'twice', gives: 'last' } }])],
  ['no answer, and lists are stale for a moment', staleAfter],
]

const notFound: Fault = {
  type: 'answer',
  when: 'before',
  answer: {
    status: 404,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error_code: 'ERR_404', status_code: 404, msg: 'not found', details: {} }),
  },
}

const isLookAt = (text: string): boolean => /^api GET .*\/\{id\}$/.test(text)
const isList = (text: string): boolean => text.startsWith('api GET ') && !isLookAt(text)

/** Ways to lose knowledge of an object, and the requests that show it. */
const FORGETTING: readonly (readonly [string, (request: string) => boolean, (at: number) => Trouble])[] = [
  [
    'there is no such object',
    isLookAt,
    (at) => befalls([{ at, fault: notFound }], (sighting) => isLookAt(textOf(sighting))),
  ],
  [
    'something on the way knows nothing',
    isLookAt,
    (at) => befalls([{ at, fault: { ...html(404), when: 'before' } }], (sighting) => isLookAt(textOf(sighting))),
  ],
  [
    'a list from before',
    isList,
    (at) => befalls([{ at, fault: { type: 'stale', seconds: 3600 } }], (sighting) => isList(textOf(sighting))),
  ],
  ['no such list', isList, (at) => befalls([{ at, fault: notFound }], (sighting) => isList(textOf(sighting)))],
]

/** Shorter than the pause between two lists of the account. */
const STALE_MS = times.scanPauseMs - 200

/**
 * The answer is lost, and for a moment, from the first list that could reveal the outcome, lists show the previous
 * state.
 */
function staleAfter(at: number): Trouble {
  const lost = befalls([{ at, fault: { type: 'silence', when: 'after' } }])
  let path: string | undefined
  let tellsFrom = 0
  let staleFrom: number | undefined
  return {
    request: (sighting) => {
      const fault = lost.request(sighting)
      const now = sighting.process.monotonic()
      if (fault !== undefined && isPost(sighting)) {
        ;({ path } = sighting)
        // The POST gives up after one timeout; its outcome is certain after another.
        tellsFrom = now + 2 * times.requestTimeoutMs
      }
      if (fault !== undefined) return fault
      const isTelling = sighting.server === 'api' && sighting.method === 'GET' && sighting.path === path
      if (!isTelling || now < tellsFrom) return undefined
      staleFrom ??= now
      return now - staleFrom < STALE_MS ? { type: 'stale', seconds: 60 } : undefined
    },
    unspent: lost.unspent,
  }
}
