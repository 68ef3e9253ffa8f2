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
  /** As it is sent; empty without one. */
  readonly body: string
}

export type ServerName = 'kubernetes' | 'api'

/** `before` the server has done what was asked, or `after`. */
export type When = 'before' | 'after'

/**
 * What befalls a request.
 * - `kill`: the process dies before the request is sent, after the server has done it, or when the answer has arrived
 * - `stop`: the process stands still from then on, for so many milliseconds
 * - `reset`: the connection is reset
 * - `silence`: no answer ever comes
 * - `slow`: the request takes so many milliseconds longer to the server, or the answer back
 * - `late`: the connection is reset at once, and the server does what was asked so many milliseconds later
 * - `answer`: something on the way answers this
 * - `twice`: something on the way sends it twice, and gives the first answer, or the last
 * - `stale`: a list is answered as it was so many seconds ago
 * - `behind`: a GET, PATCH or DELETE of an object that is younger than so many seconds gets this answer: it came to a copy of the data that
 *   lags behind
 * - `cut`: the answer ends in the middle
 * - `crossed`: the answer is that of the process's last request to the server that was not refused, as where one comes twice on a connection
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
  | { readonly type: 'crossed' }

export interface WireAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * What happens to a frame of a watch.
 * - `hide`: it is not told
 * - `twice`: it is told twice
 * - `stall`: the watch says nothing any more, and nobody ends it
 * - `reset`: the connection is reset
 * - `torn`: half of it is told, and the connection is reset
 * - `gone`: the watch ends with `410`
 * - `instead`: these lines are told in its place
 * - `error`: the watch ends with this Status as its last frame
 * - `end`: the watch says nothing any more, and the server ends it so many milliseconds later
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

/** Decides for each request, and each frame of a watch, what befalls it; undefined: nothing. */
export interface Trouble {
  request(sighting: Sighting): Fault | undefined
  frame?(watch: Sighting, frame: string): FrameFault | undefined
  /**
   * In words, what was to befall requests that never came, since a case in which nothing befell anything proves nothing; and what the
   * trouble saw go wrong itself.
   */
  unspent?(): readonly string[]
}
