import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { Channel } from 'ssh2'

/** How many bytes may wait in the connection of a client before its streams take no more. */
const CONGESTED = 1024 * 1024

/**
 * Tells the streams of one connection when it can take more: the library writes to its socket without regard to what
 * already waits there, and a client may grant windows of 4 GiB.
 */
export class Congestion {
  readonly #socket: Socket
  readonly #waiting = new Set<() => void>()

  constructor(socket: Socket) {
    this.#socket = socket
    const release = (): void => {
      const waiting = [...this.#waiting]
      this.#waiting.clear()
      for (const proceed of waiting) proceed()
    }
    socket.on('drain', release).on('close', release)
  }

  /** Calls `proceed` at once, or when the connection has sent what waits, or is closed. */
  pass(proceed: () => void): void {
    if (this.#socket.writableLength > CONGESTED && this.#socket.writableNeedDrain) this.#waiting.add(proceed)
    else proceed()
  }
}

/**
 * One connection through a tunnel, as a stream that can be half-closed: the library closes both directions of a
 * server's channel when one of them ends. `hangup` is emitted when the far side has closed both: what is still written
 * then is lost, what it sent before can still be read.
 */
export class TunnelStream extends Duplex {
  readonly #channel: Channel
  readonly #congestion: Congestion
  #isClosed: boolean = false

  constructor(channel: Channel, congestion: Congestion) {
    super({ allowHalfOpen: true })
    this.#channel = channel
    this.#congestion = congestion
    channel.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) channel.pause()
    })
    channel.on('end', () => this.push(null))
    channel.on('error', (error: Error) => this.destroy(error))
    channel.on('close', () => this.#hangUp())
  }

  #hangUp(): void {
    this.#isClosed = true
    this.emit('hangup')
  }

  override _read(): void {
    this.#channel.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#isClosed) {
      done()
      return
    }
    // The library never answers a write to a channel that is closed meanwhile.
    let isDone = false
    const finish = (): void => {
      if (isDone) return
      isDone = true
      this.off('hangup', finish)
      done()
    }
    this.once('hangup', finish)
    this.#channel.write(chunk, () => this.#congestion.pass(finish))
  }

  override _final(done: (error?: Error | null) => void): void {
    if (!this.#isClosed) this.#channel.eof()
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const channel = this.#channel
    channel.removeAllListeners('data')
    // Unread bytes are dropped, or the library would not notice the end of the channel.
    channel.resume()
    channel.close()
    done(error)
  }
}
