import type { Socket } from 'node:net'

/** How many there may be, in all and from each of those that ask. */
export interface RoomLimits {
  readonly inAll: number
  readonly each: number
}

/** Counts what is open against its limits, so that no one takes the room of all others. */
export class Room {
  readonly #limits: RoomLimits
  readonly #byOwner = new Map<string, number>()
  #inAll = 0

  constructor(limits: RoomLimits) {
    this.#limits = limits
  }

  /** Takes a place, which the function that it returns gives back; undefined if there is none. */
  take(owner: string): (() => void) | undefined {
    const has = this.#byOwner.get(owner) ?? 0
    if (this.#inAll >= this.#limits.inAll || has >= this.#limits.each) return undefined
    this.#inAll += 1
    this.#byOwner.set(owner, has + 1)
    let isGiven = true
    return () => {
      if (isGiven) this.#giveBack(owner)
      isGiven = false
    }
  }

  #giveBack(owner: string): void {
    this.#inAll -= 1
    const left = (this.#byOwner.get(owner) ?? 0) - 1
    if (left > 0) this.#byOwner.set(owner, left)
    else this.#byOwner.delete(owner)
  }
}

/**
 * Clients that are not authenticated, which anyone can be. There is always room for one more: the oldest gives way, of
 * the same source if that has its share, else of the source that has the most, so that one that opens thousands drives
 * out itself.
 */
export class WaitingRoom {
  readonly #limits: RoomLimits
  /** Oldest first. */
  readonly #bySource = new Map<string, Set<Socket>>()
  #size = 0

  constructor(limits: RoomLimits) {
    this.#limits = limits
  }

  enter(source: string, socket: Socket): void {
    const own = this.#bySource.get(source) ?? new Set()
    this.#bySource.set(source, own.add(socket))
    this.#size += 1
    if (own.size > this.#limits.each) this.#dismiss(source, own)
    else if (this.#size > this.#limits.inAll) this.#dismiss(...this.#largest())
  }

  /** Nothing happens if it has left already. */
  leave(source: string, socket: Socket): void {
    const own = this.#bySource.get(source)
    if (own?.delete(socket) !== true) return
    this.#size -= 1
    if (own.size === 0) this.#bySource.delete(source)
  }

  has(source: string, socket: Socket): boolean {
    return this.#bySource.get(source)?.has(socket) === true
  }

  #dismiss(source: string, sockets: ReadonlySet<Socket>): void {
    const [oldest] = sockets
    if (oldest === undefined) return
    this.leave(source, oldest)
    oldest.destroy()
  }

  #largest(): [string, ReadonlySet<Socket>] {
    const sources = [...this.#bySource]
    return sources.reduce((largest, other) => (other[1].size > largest[1].size ? other : largest))
  }
}
