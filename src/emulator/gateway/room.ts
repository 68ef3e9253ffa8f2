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
