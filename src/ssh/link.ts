import type { Socket } from 'node:net'
import type { Channel, Client, Connection } from 'ssh2'
import { LEAST_WINDOW, type WindowBudget } from './receive-window.ts'
import { batchWrites, type ChannelData, numberOf, prepareKeys, takeOverData } from './wire-gaps.ts'

/** How many bytes may wait in the connection of a client before its streams write no more. */
const CONGESTED = 1024 * 1024

/** Takes what has arrived for a stream; false if the far side was not allowed to send as much. */
type Taker = (data: Buffer) => boolean

/**
 * One SSH connection as its streams use it. The library writes to its socket without regard to what already waits
 * there, and a peer may grant windows of 4 GiB, or begin an exchange of keys that it never ends: streams ask here
 * before each write. What arrives is handed to the streams here, too.
 */
export class Link {
  readonly budget: WindowBudget
  readonly #socket: Socket
  readonly #data: ChannelData
  readonly #takers = new Map<number, Taker>()
  readonly #waiting = new Set<() => void>()

  /**
   * To be made before the first exchange of keys has ended.
   *
   * @param connection a client's after `connect`
   * @param onExcess called when the far side has sent more than its window; the connection is to be ended
   */
  constructor(connection: Client | Connection, socket: Socket, budget: WindowBudget, onExcess: () => void) {
    this.budget = budget
    this.#socket = socket
    this.#data = takeOverData(connection, LEAST_WINDOW, (channel, data) => {
      const take = this.#takers.get(channel)
      if (take === undefined) return false
      const isWithin: boolean = take(data)
      if (!isWithin) onExcess()
      return true
    })
    batchWrites(connection, socket)
    const release = (): void => this.#release()
    connection.on('handshake', () => {
      prepareKeys(connection)
      release()
    })
    socket.on('drain', release).on('close', release)
  }

  /** What arrives for the channel, until it is closed. */
  receive(channel: Channel, take: Taker): void {
    const number = numberOf(channel)
    this.#takers.set(number, take)
    channel.once('close', () => this.#takers.delete(number))
  }

  /** Lets the far side of a channel send more. */
  grant(channel: Channel, bytes: number): void {
    if (!this.#socket.destroyed) this.#data.grant(channel, bytes)
  }

  /**
   * Calls `proceed` at once, or when the connection can take more, or is closed; in the order of the calls.
   *
   * @returns forgets `proceed`
   */
  pass(proceed: () => void): () => void {
    if (this.#waiting.size > 0 || this.#isCongested()) this.#waiting.add(proceed)
    else proceed()
    return () => this.#waiting.delete(proceed)
  }

  /** Whether the peer has begun an exchange of keys, or answers to one, and has not ended it. */
  get isExchangingKeys(): boolean {
    return this.#data.isExchangingKeys()
  }

  /** Bytes that wait for the peer to read, or packets for it to end an exchange of keys. */
  get pending(): { readonly bytes: number; readonly packets: number } {
    return { bytes: this.#socket.writableLength, packets: this.#data.packetsHeld() }
  }

  #isCongested(): boolean {
    if (this.#socket.closed) return false
    const isFull = this.#socket.writableLength > CONGESTED && this.#socket.writableNeedDrain
    return isFull || this.#data.isExchangingKeys()
  }

  #release(): void {
    for (const proceed of this.#waiting) {
      if (this.#isCongested()) return
      this.#waiting.delete(proceed)
      proceed()
    }
  }
}
