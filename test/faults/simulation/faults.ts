import type { SimulatedProcess } from './process.ts'

/** A request on its way from a process to a server. */
export interface Sighting {
  readonly process: SimulatedProcess
  readonly server: ServerName
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Partial<Record<string, string>>>
  /** As sent; empty without one. */
  readonly body: string
}

export type ServerName = 'kubernetes' | 'api'

/** `before` the server has carried out the request, or `after`. */
export type When = 'before' | 'after'

/**
 * A fault of a request.
 * - `kill`: the process dies before the request is sent, after the server has carried it out, or when the answer has
 *   arrived
 * - `stop`: the process is paused from then on, for that many milliseconds
 * - `reset`: the connection is reset
 * - `silence`: no answer ever comes
 * - `slow`: the request, or the answer, takes that many milliseconds longer
 * - `late`: the connection is reset at once, and the server carries out the request that many milliseconds later
 * - `answer`: an intermediary answers this
 * - `twice`: an intermediary sends it twice, and returns the first answer, or the last
 * - `stale`: a list shows the state of that many seconds ago
 * - `behind`: a GET, PATCH or DELETE of an object younger than that many seconds gets this answer: it came to a copy of
 *   the data that lags behind
 * - `cut`: the answer ends in the middle
 * - `rewritten`: the answer arrives as this makes it
 * - `crossed`: the answer is that to the process's last request to the server that was not refused, as when one arrives
 *   twice on a connection
 */
export type Fault =
  | { readonly type: 'kill'; readonly when: When | 'answered' }
  | { readonly type: 'stop' | 'slow'; readonly when: When; readonly ms: number }
  | { readonly type: 'reset' | 'silence'; readonly when: When }
  | { readonly type: 'late'; readonly ms: number }
  | { readonly type: 'answer'; readonly when: When; readonly answer: WireAnswer }
  | { readonly type: 'twice'; readonly gives?: 'first' | 'last' }
  | { readonly type: 'stale'; readonly seconds: number }
  | { readonly type: 'behind'; readonly seconds: number; readonly answer: WireAnswer }
  | { readonly type: 'cut' }
  | { readonly type: 'rewritten'; readonly by: (answer: WireAnswer) => WireAnswer }
  | { readonly type: 'crossed' }

export interface WireAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * A fault of a frame of a watch.
 * - `hide`: it is not delivered
 * - `twice`: it is delivered twice
 * - `stall`: the watch falls silent, and nothing closes it
 * - `reset`: the connection is reset
 * - `torn`: half of it is delivered, and the connection is reset
 * - `gone`: the watch ends with `410`
 * - `instead`: these lines are delivered in its place
 * - `error`: the watch ends with this Status as its last frame
 * - `end`: the watch falls silent, and the server closes it that many milliseconds later
 */
export type FrameFault =
  | 'hide'
  | 'twice'
  | 'stall'
  | 'reset'
  | 'torn'
  | 'gone'
  | { readonly type: 'instead'; readonly lines: readonly string[] }
  | { readonly type: 'error'; readonly status: Readonly<Record<string, unknown>> }
  | { readonly type: 'end'; readonly ms: number }

/** Chooses the fault of each request and of each watch frame; undefined: none. */
export interface Trouble {
  request(sighting: Sighting): Fault | undefined
  frame?(watch: Sighting, frame: string): FrameFault | undefined
  /**
   * Describes the requests that should have met a fault but never came, because a case without a fault proves nothing,
   * and problems that the faults detected themselves.
   */
  unspent?(): readonly string[]
}
