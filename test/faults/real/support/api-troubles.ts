import type { FaultAct } from '../../../../src/emulator/faults/fault-spec.ts'

/** A fault of a request to the API, or of its answer. */
export interface Trouble {
  readonly fault: string
  /** When the request takes effect: never, in time, or after its sender has given up. */
  readonly point: 'before' | 'after' | 'late'
  readonly act: FaultAct
}

const HTML = '<html><body><h1>Bad gateway</h1></body></html>'

/** How long the operator waits for an answer. */
export const REQUEST_TIMEOUT = '2s'
/** Longer than that. */
const LATE_MS = 2_800

/** Faults of a write. */
export const writeTroubles: readonly Trouble[] = [
  { fault: '429 with Retry-After', point: 'before', act: { type: 'status', status: 429, retryAfter: 1 } },
  { fault: '429', point: 'before', act: { type: 'status', status: 429 } },
  { fault: '500', point: 'before', act: { type: 'status', status: 500 } },
  { fault: '500', point: 'after', act: { type: 'status', status: 500, when: 'after' } },
  { fault: '502 with HTML', point: 'before', act: { type: 'status', status: 502, html: HTML } },
  { fault: '502 with HTML', point: 'after', act: { type: 'status', status: 502, html: HTML, when: 'after' } },
  { fault: 'time-out', point: 'before', act: { type: 'hang', when: 'before' } },
  { fault: 'time-out', point: 'after', act: { type: 'commit-then-late', ms: LATE_MS } },
  { fault: 'late commit', point: 'late', act: { type: 'delay', ms: LATE_MS } },
  { fault: 'reset', point: 'before', act: { type: 'drop' } },
  { fault: 'reset', point: 'after', act: { type: 'commit-then-drop' } },
  { fault: 'truncated body', point: 'after', act: { type: 'truncate' } },
  { fault: 'answered twice', point: 'after', act: { type: 'answer-twice' } },
]

/** A fault of a list: which of its page requests it hits, and how often. */
export interface ListTrouble {
  readonly fault: string
  readonly nth?: number
  readonly times?: number
  readonly every?: boolean
  readonly act: FaultAct
}

const NO_SUCH_CURSOR = { error_code: 'ERR_1006', status_code: 400, msg: 'before_id names nothing', details: {} }

export const listTroubles: readonly ListTrouble[] = [
  { fault: 'stale list', every: true, act: { type: 'stale-list', seconds: 1 } },
  // The operator requests a page three times.
  { fault: 'page that fails midway', nth: 2, times: 3, act: { type: 'status', status: 500 } },
  { fault: 'lost cursor', nth: 2, act: { type: 'status', status: 400, body: NO_SUCH_CURSOR } },
]
