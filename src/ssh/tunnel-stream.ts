import { Duplex } from 'node:stream'
import type { Channel } from 'ssh2'
import type { Link } from './link.ts'
import { ReceiveWindow } from './receive-window.ts'

/**
 * One connection through a tunnel, as a stream that can be half-closed: the library closes both directions of a
 * server's channel when one of them ends. `hangup` is emitted when the far side has closed both: what is still written
 * then is lost, what it sent before can still be read.
 */
export class TunnelStream extends Duplex {
  readonly #channel: Channel
  readonly #link: Link
  readonly #window: ReceiveWindow
  #isClosed: boolean = false
  /** Takes back a write that waits for the link. */
  #forget: (() => void) | undefined

  /** To be made in the turn of the event loop in which the channel was opened. */
  constructor(channel: Channel, link: Link) {
    super({ allowHalfOpen: true })
    this.#channel = channel
    this.#link = link
    this.#window = new ReceiveWindow(link.budget)
    link.receive(channel, (chunk) => this.#take(chunk))
    channel.on('end', () => this.push(null))
    channel.on('error', (error: Error) => this.destroy(error))
    channel.on('close', () => this.#hangUp())
    // Data does not pass through the channel, only its end.
    channel.resume()
  }

  /** False if the far side was not allowed to send as much. */
  #take(chunk: Buffer): boolean {
    if (this.destroyed) return true
    if (!this.#window.receive(chunk.length)) return false
    this.push(chunk)
    this.#grant()
    return true
  }

  #grant(): void {
    const bytes = this.#window.grant(this.readableLength)
    if (bytes > 0) this.#link.grant(this.#channel, bytes)
  }

  #hangUp(): void {
    this.#isClosed = true
    this.emit('hangup')
  }

  /** Every way to read from a stream comes through here, and only here is it known what has been taken. */
  override read(size?: number): unknown {
    const chunk: unknown = super.read(size)
    this.#grant()
    return chunk
  }

  override _read(): void {
    // The far side sends by itself, as much as its window allows.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // The library never answers a write to a channel that is closed meanwhile.
    let isDone = false
    const finish = (): void => {
      if (isDone) return
      isDone = true
      this.off('hangup', finish)
      done()
    }
    this.once('hangup', finish)
    this.#forget = this.#link.pass(() => {
      if (this.#isClosed || this.destroyed) finish()
      else this.#channel.write(chunk, finish)
    })
  }

  override _final(done: (error?: Error | null) => void): void {
    if (!this.#isClosed) this.#channel.eof()
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#forget?.()
    this.#window.release()
    // What still arrives is dropped, or the library would not notice the end of the channel.
    this.#channel.close()
    done(error)
  }
}
