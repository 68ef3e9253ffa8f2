import type { Fault, Sighting, Trouble } from '../../simulation/faults.ts'
import { isWrite, type SimulatedWorld } from '../../simulation/world.ts'
import { claimant, moveTo, type Named } from './divided.ts'

/** Longer than a takeover from a dead operator takes. Milliseconds. */
const MOVED_MS = 10 * 60_000

/** By then an account that comes back has left. Milliseconds. */
const BACK_MS = 5_000

/** What goes wrong when an account moves. */
export interface Move {
  /** At the operator's write of that index, from 0, its label changes. */
  readonly at: number
  /** Whether that write has then been carried out. */
  readonly when: 'before' | 'after'
  readonly to: Named
  /** The operator that then has it. */
  readonly next: string
  /** After how many milliseconds the label is as before again. Default: it stays. */
  readonly backMs?: number
  /** What befalls that write besides. */
  readonly fault?: Fault
  /**
   * Who is killed, and when: the former operator or the next one, at the write of its claim, and whether that has then
   * been carried out; or the former one at the move, which stays away permanently.
   */
  readonly killed?: 'former before' | 'former after' | 'next before' | 'next after' | 'former, permanently'
}

/** Moves the account while its resources change. */
export class Moves implements Trouble {
  readonly #world: SimulatedWorld
  readonly #move: Move
  #passed = 0
  #hasMoved: boolean = false
  #hasKilled: boolean = false

  constructor(world: SimulatedWorld, move: Move) {
    this.#world = world
    this.#move = move
  }

  request(sighting: Sighting): Fault | undefined {
    if (!isWrite(sighting)) return undefined
    if (this.#hasMoved) return this.#kill(sighting)
    const isNow = this.#passed === this.#move.at
    this.#passed += 1
    if (!isNow) return undefined
    this.#hasMoved = true
    const { when, to, fault, killed, backMs } = this.#move
    const act = (): void => {
      moveTo(this.#world, to)
      if (backMs !== undefined) this.#world.time.setTimer(backMs, () => moveTo(this.#world, 'red'))
      if (killed === 'former, permanently') {
        this.#hasKilled = true
        this.#world.downDivision('red')
      }
    }
    // A write takes 2 ms to its server.
    this.#world.time.setTimer(when === 'before' ? 0 : 3, act)
    return fault
  }

  unspent(): readonly string[] {
    const { at, next, killed } = this.#move
    if (!this.#hasMoved) return [`there was no write ${at}`]
    const problems = killed !== undefined && !this.#hasKilled ? [`nobody was killed: ${killed}`] : []
    const has = claimant(this.#world)
    return has === next ? problems : [...problems, `${has} has the account, not ${next}`]
  }

  /** Resolves when the account has its next operator; for an account that comes back, some time after it did. */
  static async untilMoved(world: SimulatedWorld, to: string, backMs = 0): Promise<void> {
    if (backMs > 0) await world.advance(backMs + BACK_MS)
    await world.until(() => claimant(world) === to, MOVED_MS)
  }

  #kill({ process, body }: Sighting): Fault | undefined {
    const { killed } = this.#move
    if (killed === undefined || this.#hasKilled || !body.includes('"claim":')) return undefined
    const [whose, when] = killed.split(' ')
    const isRemoval = body.includes('"claim":null')
    if (isRemoval !== (whose === 'former')) return undefined
    if (!process.name.startsWith(whose === 'former' ? 'red' : 'blue')) return undefined
    this.#hasKilled = true
    return { type: 'kill', when: when === 'after' ? 'after' : 'before' }
  }
}
