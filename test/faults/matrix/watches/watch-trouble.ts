import type { Fault, FrameFault, Sighting, Trouble } from '../../simulation/faults.ts'
import type { SimulatedWorld } from '../../simulation/world.ts'
import { isBookmark, Scene } from './scene.ts'
import type { WatchFault } from './watch-faults.ts'

export interface WatchTroubleOptions {
  readonly world: SimulatedWorld
  /** Undefined: frames are only counted. */
  readonly fault: WatchFault | undefined
  /** Which frame with an object meets the fault, from 1. */
  readonly at: number
}

/** A fault of one watched collection, from its beginning to its end. */
export class WatchTrouble implements Trouble {
  readonly #options: WatchTroubleOptions
  readonly #asked = { list: 0, watch: 0 }
  #scene: Scene | undefined
  #path: string | undefined
  #hitAt: number | undefined
  #later = 0
  #hurtAsks = 0

  constructor(options: WatchTroubleOptions) {
    this.#options = options
  }

  /** Frames with objects so far. */
  get frames(): number {
    return this.#scene?.frames.length ?? 0
  }

  readonly unspent = (): readonly string[] => {
    const { fault } = this.#options
    if (fault === undefined) return []
    if (this.#hitAt === undefined) return ['the frame never came']
    return fault.ask === undefined || this.#hurtAsks > 0 ? [] : ['the watch broke off, and nothing was asked for']
  }

  begin(path: string): void {
    this.#path = path
    this.#scene = new Scene(this.#options.world, path)
  }

  end(): void {
    this.#path = undefined
  }

  readonly request = (sighting: Sighting): Fault | undefined => {
    const { fault, world } = this.#options
    if (sighting.path !== this.#path || sighting.method !== 'GET') return undefined
    if (this.#scene === undefined || this.#hitAt === undefined || fault?.ask === undefined) return undefined
    const type = sighting.query.has('watch') ? 'watch' : 'list'
    const ask = { sighting, type, nth: this.#asked[type]++, ms: world.time.now - this.#hitAt } as const
    const found = fault.ask(ask, this.#scene)
    if (found !== undefined) this.#hurtAsks += 1
    return found
  }

  readonly frame = (watch: Sighting, line: string): FrameFault | undefined => {
    const { fault, world, at } = this.#options
    if (watch.path !== this.#path || this.#scene === undefined) return undefined
    const isOfObject = !isBookmark(line)
    if (isOfObject) this.#scene.frames.push(line)
    if (this.#hitAt !== undefined) return fault?.later?.(this.#later++, line, watch, this.#scene)
    if (fault === undefined || !isOfObject || this.#scene.frames.length !== at) return undefined
    this.#hitAt = world.time.now
    return fault.frame(line, watch, this.#scene)
  }
}
