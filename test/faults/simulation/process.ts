import type { Clock } from '../../../src/util/clock.ts'
import type { VirtualTime } from './virtual-time.ts'

/**
 * A process of the simulation, and the clock that it sees. It can die at any moment, as by SIGKILL, and be paused and
 * resumed, as by SIGSTOP and SIGCONT: requests already sent and time continue, but none of its code runs.
 */
export class SimulatedProcess implements Clock {
  readonly name: string
  readonly #time: VirtualTime
  readonly #waiting: (() => void)[] = []
  #state: 'running' | 'stopped' | 'dead' = 'running'
  #isMute = false
  #wall: number

  /** @param wall wall time in milliseconds at the beginning of the simulation. */
  constructor(name: string, time: VirtualTime, wall: number) {
    this.name = name
    this.#time = time
    this.#wall = wall
  }

  get isDead(): boolean {
    return this.#state === 'dead'
  }

  /** Whether its requests leave the machine. */
  get canSend(): boolean {
    return this.#state === 'running' && !this.#isMute
  }

  now(): number {
    return this.#wall + this.#time.now
  }

  monotonic(): number {
    return this.#time.now
  }

  setTimer(ms: number, callback: () => void): () => void {
    let cancelled = false
    const cancel = this.#time.setTimer(ms, () => this.run(() => (cancelled ? undefined : callback())))
    return () => {
      cancelled = true
      cancel()
    }
  }

  /** Runs its code: now, when it resumes, or never. */
  run(code: () => void): void {
    if (this.#state === 'running') code()
    else if (this.#state === 'stopped') this.#waiting.push(code)
  }

  kill(): void {
    this.#state = 'dead'
    this.#waiting.length = 0
  }

  /**
   * Kills it before anything that it sends from now on leaves the machine, but after it has received what has just
   * arrived.
   */
  killSoon(): void {
    this.#isMute = true
    this.#time.setTimer(0, () => this.kill())
  }

  stop(): void {
    if (this.#state === 'running') this.#state = 'stopped'
  }

  /** Resumes; what arrived meanwhile is handled in order, each to its end before the next. */
  goOn(): void {
    if (this.#state !== 'stopped') return
    this.#state = 'running'
    for (const code of this.#waiting.splice(0)) this.#time.setTimer(0, () => this.run(code))
  }

  /** Steps its machine's wall clock. */
  stepWall(ms: number): void {
    this.#wall += ms
  }
}
