import type { Fault, FrameFault, Sighting, WireAnswer } from '../../simulation/faults.ts'
import { status } from '../../simulation/kube-server.ts'
import * as refusals from '../kubernetes/refusals.ts'
import { type Frame, isBookmark, type Scene } from './scene.ts'

/** A request for the collection after the frame that met the fault. */
export interface Ask {
  readonly sighting: Sighting
  readonly type: 'list' | 'watch'
  /** The number of requests of its type before it. */
  readonly nth: number
  /** Time since the frame. Virtual milliseconds. */
  readonly ms: number
}

/** A fault of one watched collection: at one frame, and from then on. */
export interface WatchFault {
  readonly name: string
  /**
   * Whether the frame is never delivered, which Kubernetes promises not to do. Its content must then arrive with the
   * next frame of the same object; until then an operator is excused.
   */
  readonly loses?: boolean
  /**
   * Whether the lists look like those of an etcd that was put back: the operator then acts on the earlier state until
   * the watch reports more.
   */
  readonly looksRestored?: boolean
  readonly frame: (line: string, watch: Sighting, scene: Scene) => FrameFault | undefined
  /** The fault of later frames, bookmarks included. `nth`: how many came before. */
  readonly later?: (nth: number, line: string, watch: Sighting, scene: Scene) => FrameFault | undefined
  /** The fault of later lists and watches. At least one must follow. */
  readonly ask?: (ask: Ask, scene: Scene) => Fault | undefined
}

/** How long a temporary server failure lasts. Virtual milliseconds. */
const WHILE_MS = 30_000

function answer(answer: WireAnswer): Fault {
  return { type: 'answer', when: 'before', answer }
}

/** The watch breaks off, and the next `count` watches meet this. */
function reopened(name: string, fault: Fault, count: number): WatchFault {
  return {
    name,
    frame: () => 'reset',
    ask: ({ type, nth }) => (type === 'watch' && nth < count ? fault : undefined),
  }
}

/** The watch breaks off, and every request meets this for a while. */
function away(name: string, refusal: refusals.Refusal): WatchFault {
  const ask: WatchFault['ask'] = ({ sighting, ms }) => (ms < WHILE_MS ? answer(refusal(sighting)) : undefined)
  return { name, frame: () => 'reset', ask }
}

/** The watch ends with 410, and the first `count` lists meet this. */
function relisted(name: string, count: number, fault: (ask: Ask, scene: Scene) => Fault): WatchFault {
  return {
    name,
    frame: () => 'gone',
    ask: (asked, scene) => (asked.type === 'list' && asked.nth < count ? fault(asked, scene) : undefined),
  }
}

/** Old lines precede the bookmark that an idle server sends. */
function atRest(name: string, lines: (watch: Sighting, scene: Scene) => readonly string[]): WatchFault {
  const later: WatchFault['later'] = (_nth, line, watch, scene) => {
    return isBookmark(line) ? { type: 'instead', lines: [...lines(watch, scene), line] } : undefined
  }
  return { name, frame: () => undefined, later }
}

const TOO_OLD = status(410, 'Expired', 'too old resource version: 1 (2)')

const internalError = JSON.parse(
  status(500, 'InternalError', 'etcdserver: mvcc: database space exceeded').body,
) as Readonly<Record<string, unknown>>

/** The answer of an API server that lags behind: the list from before the change. */
function stale({ sighting }: Ask, scene: Scene): Fault {
  return answer({ status: 200, headers: { 'content-type': 'application/json' }, body: scene.before(sighting) })
}

/** Every fault of a watched collection. */
export const watchFaults: readonly WatchFault[] = [
  { name: '410 by frame', frame: () => 'gone' },
  {
    name: '410 by status: history compacted while the watch was down',
    frame: (_line, _watch, { world }) => {
      world.server.compact()
      return 'reset'
    },
  },
  reopened('410 by status, three times', answer(TOO_OLD), 3),
  { name: 'silent stall', frame: () => 'stall' },
  { name: 'empty watch that ends in order', frame: () => ({ type: 'end', ms: 5_000 }) },
  { name: 'backwards resourceVersion', frame: (line, watch, scene) => backwards(line, watch, scene) },
  { name: 'hidden frame', loses: true, frame: () => 'hide' },
  {
    name: 'hidden frame, and then 410',
    frame: () => 'hide',
    later: (nth) => (nth === 0 ? 'gone' : undefined),
  },
  { name: 'duplicate frame', frame: () => 'twice' },
  { name: 'all frames twice', frame: () => 'twice', later: () => 'twice' },
  {
    name: 'old frames replayed',
    frame: (_line, watch, scene) => ({ type: 'instead', lines: scene.replay(watch) }),
  },
  atRest('backwards resourceVersion, when all is at rest', (watch, scene) => {
    const last = scene.frames.at(-1)
    return last === undefined ? [] : scene.backwards(watch, JSON.parse(last) as Frame)
  }),
  atRest('old frames replayed, when all is at rest', (watch, scene) => scene.replay(watch)),
  { name: 'reset', frame: () => 'reset' },
  { name: 'reset in the middle of a frame', frame: () => 'torn' },
  { name: 'error by frame', frame: () => ({ type: 'error', status: internalError }) },
  { name: 'no frame at all', frame: () => ({ type: 'instead', lines: ['{"type":"MODIFIED"', 'null', '{}'] }) },
  reopened('reset, and again when it is opened', { type: 'reset', when: 'before' }, 3),
  reopened('a watch that ends at once', answer({ status: 200, body: '' }), 4),
  reopened('a watch that never begins', { type: 'silence', when: 'before' }, 1),
  reopened('429 for a watch', answer({ ...refusals.tooManyRequests({} as Sighting) }), 2),
  away('out of reach', refusals.unavailable),
  away('RBAC denied', refusals.rbacDenied),
  away('no token is taken', refusals.unauthorized),
  relisted('a list that fails', 6, () => answer(refusals.internalError({} as Sighting))),
  relisted('a list that never comes', 2, () => ({ type: 'silence', when: 'before' })),
  relisted('a list that breaks off', 6, () => ({ type: 'cut' })),
  relisted('a list that is reset', 6, () => ({ type: 'reset', when: 'after' })),
  relisted('a list that has expired', 2, () => answer(TOO_OLD)),
  relisted('a page of somebody else instead of a list', 2, () => {
    return answer({ status: 200, headers: { 'content-type': 'text/html' }, body: '<html>please log in</html>' })
  }),
  relisted('an older list', 1, stale),
  { ...relisted('an older list, three times', 3, stale), looksRestored: true },
  {
    name: 'killed, and a list that fails',
    frame: (_line, { process }) => {
      process.kill()
      return 'hide'
    },
    ask: ({ sighting, type, ms }) => {
      return type === 'list' && ms < WHILE_MS ? answer(refusals.unavailable(sighting)) : undefined
    },
  },
]

function backwards(line: string, watch: Sighting, scene: Scene): FrameFault {
  const frame = JSON.parse(line) as Frame
  return { type: 'instead', lines: [line, ...scene.backwards(watch, frame)] }
}
