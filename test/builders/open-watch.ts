import type { ServerResponse } from 'node:http'

const NEWLINE = 0x0a

/** A frame of a watch as from an apiserver. */
export interface WatchedFrame {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: { readonly metadata?: { readonly uid?: string; readonly resourceVersion?: string } }
}

/** Replaces a frame by others, in this order. */
export type Alteration = (frame: WatchedFrame) => readonly WatchedFrame[]

/** A watch that streams through the proxy, frame by frame. */
export class OpenWatch {
  /** Path of the watched collection. */
  readonly path: string
  readonly #response: ServerResponse
  #mode: 'pass' | 'swallow' | 'cut' | 'alter' = 'pass'
  #alteration: Alteration = (frame) => [frame]
  #pending: Buffer = Buffer.alloc(0)
  #swallowed = 0
  #altered = 0
  #cut = 0

  constructor(path: string, response: ServerResponse) {
    this.path = path
    this.#response = response
  }

  /** Frames held back since `stall`. */
  get swallowed(): number {
    return this.#swallowed
  }

  /** Whether the client still has the connection open. */
  get isOpen(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded
  }

  /** Bytes of the frame that was cut; 0 before that. */
  get cut(): number {
    return this.#cut
  }

  /** Frames replaced since `alter`. */
  get altered(): number {
    return this.#altered
  }

  /** From now on each frame is replaced by the result of `alteration`, until `pass`. */
  alter(alteration: Alteration): void {
    this.#alteration = alteration
    this.#altered = 0
    this.#mode = 'alter'
  }

  /** From now on every frame passes unchanged. Frames that were held back are lost. */
  pass(): void {
    this.#mode = 'pass'
  }

  /** From now on no frame passes, while the connection stays open. */
  stall(): void {
    this.#mode = 'swallow'
  }

  /** Half of the next frame is sent, then the connection is reset. */
  cutNextFrame(): void {
    this.#mode = 'cut'
  }

  /** Reports within the stream that the watch's resourceVersion is too old, like the apiserver, and ends it. */
  expire(): void {
    const object = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 }
    this.#response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`)
  }

  /** Resets the connection. */
  reset(): void {
    this.#response.destroy()
  }

  /** Receives bytes from the apiserver. */
  take(chunk: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, chunk])
    for (let end = this.#pending.indexOf(NEWLINE); end >= 0; end = this.#pending.indexOf(NEWLINE)) {
      const frame = this.#pending.subarray(0, end + 1)
      this.#pending = this.#pending.subarray(end + 1)
      this.#pass(frame)
    }
  }

  /** The apiserver has ended the watch. */
  end(): void {
    if (this.#mode === 'pass' || this.#mode === 'alter') this.#response.end()
  }

  #pass(frame: Buffer): void {
    if (!this.isOpen) return
    switch (this.#mode) {
      case 'pass':
        this.#response.write(frame)
        return
      case 'swallow':
        this.#swallowed++
        return
      case 'alter':
        this.#sendAltered(frame)
        return
      case 'cut':
        this.#mode = 'swallow'
        this.#cut = Math.floor(frame.length / 2)
        this.#response.write(frame.subarray(0, this.#cut), () => this.#response.destroy())
    }
  }
  #sendAltered(frame: Buffer): void {
    const told = JSON.parse(frame.toString()) as WatchedFrame
    const instead = this.#alteration(told)
    if (instead.length !== 1 || instead[0] !== told) this.#altered++
    for (const each of instead) this.#response.write(each === told ? frame : `${JSON.stringify(each)}\n`)
  }
}
