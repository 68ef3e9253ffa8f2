import type { ServerResponse } from 'node:http'

const NEWLINE = 0x0a

/** A watch that streams through the proxy, frame by frame. */
export class OpenWatch {
  /** Of the watched collection. */
  readonly path: string
  readonly #response: ServerResponse
  #mode: 'pass' | 'swallow' | 'cut' = 'pass'
  #pending: Buffer = Buffer.alloc(0)
  #swallowed = 0
  #cut = 0

  constructor(path: string, response: ServerResponse) {
    this.path = path
    this.#response = response
  }

  /** Frames that were kept back since `stall`. */
  get swallowed(): number {
    return this.#swallowed
  }

  /** Whether the client still has the connection open. */
  get isOpen(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded
  }

  /** Bytes of the frame that was cut; 0 before. */
  get cut(): number {
    return this.#cut
  }

  /** From now on no frame gets through, while the connection stays as it is. */
  stall(): void {
    this.#mode = 'swallow'
  }

  /** The next frame is sent by half, then the connection is reset. */
  cutNextFrame(): void {
    this.#mode = 'cut'
  }

  /** Says that the watch's resourceVersion is too old, as the apiserver does within a stream, and ends it. */
  expire(): void {
    const object = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 }
    this.#response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`)
  }

  /** Resets the connection. */
  reset(): void {
    this.#response.destroy()
  }

  /** Takes bytes from the apiserver. */
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
    if (this.#mode === 'pass') this.#response.end()
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
      case 'cut':
        this.#mode = 'swallow'
        this.#cut = Math.floor(frame.length / 2)
        this.#response.write(frame.subarray(0, this.#cut), () => this.#response.destroy())
    }
  }
}
