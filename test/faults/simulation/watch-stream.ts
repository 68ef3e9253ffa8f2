import type { FrameFault } from './faults.ts'
import type { Caller, WireStream } from './network.ts'
import type { SimulatedProcess } from './process.ts'
import type { VirtualTime } from './virtual-time.ts'

/** How long the head of an answer takes. Milliseconds. */
const HEAD = 2

export interface WatchStreamOptions {
  readonly time: VirtualTime
  readonly process: SimulatedProcess
  readonly caller: Caller
  /** How long a frame takes, and the end. Milliseconds. */
  readonly frameMs: number
  /** The fault of a frame. */
  readonly fault: (frame: string) => FrameFault | undefined
}

/** One open watch on its way to the process that asked for it. */
export class WatchStream {
  readonly #options: WatchStreamOptions
  #stop: (() => void) | undefined
  #isOver: boolean = false

  constructor(options: WatchStreamOptions, { follow }: WireStream) {
    this.#options = options
    const { caller } = options
    this.#later(HEAD, () => caller.began())
    const stop = follow(
      (text) => this.#line(text),
      () => this.#end(() => caller.ended()),
    )
    this.#stop = stop
    if (this.#isOver) stop()
  }

  #line(text: string): void {
    if (this.#isOver) return
    const { caller, fault } = this.#options
    const befallen = fault(text)
    if (typeof befallen === 'object') {
      this.#befalls(befallen)
      return
    }
    switch (befallen) {
      case undefined:
        this.#tell(text)
        break
      case 'hide':
        break
      case 'twice':
        this.#tell(text)
        this.#tell(text)
        break
      case 'stall':
        this.#silence()
        break
      case 'reset':
        this.#end(() => caller.failed(connectionReset()))
        break
      case 'torn':
        this.#later(this.#options.frameMs, () => caller.part(text.slice(0, text.length >> 1)))
        this.#end(() => caller.failed(connectionReset()))
        break
      case 'gone':
        this.#befalls({ type: 'error', status: GONE })
    }
  }

  #befalls(fault: Exclude<FrameFault, string>): void {
    const { caller } = this.#options
    switch (fault.type) {
      case 'instead':
        for (const line of fault.lines) this.#tell(line)
        break
      case 'error':
        this.#tell(JSON.stringify({ type: 'ERROR', object: fault.status }))
        this.#end(() => caller.ended())
        break
      case 'end':
        this.#later(fault.ms, () => caller.ended())
        this.#silence()
    }
  }

  #tell(line: string): void {
    this.#later(this.#options.frameMs, () => this.#options.caller.line(line))
  }

  /** The process learns of the end. */
  #end(hear: () => void): void {
    if (this.#isOver) return
    this.#later(this.#options.frameMs, hear)
    this.#silence()
  }

  /** The server stops sending; nobody is notified. */
  #silence(): void {
    this.#isOver = true
    this.#stop?.()
  }

  #later(ms: number, code: () => void): void {
    const { time, process, caller } = this.#options
    time.setTimer(ms, () => {
      if (caller.hasGone || process.isDead) this.#silence()
      else process.run(code)
    })
  }
}

/** The API server's answer to a watch whose start it has discarded. */
const GONE = {
  apiVersion: 'v1',
  kind: 'Status',
  metadata: {},
  status: 'Failure',
  message: 'too old resource version: 1 (2)',
  reason: 'Expired',
  code: 410,
}

export function connectionReset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
}
