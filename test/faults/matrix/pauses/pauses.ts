import type { Fault, ServerName, Sighting, Trouble, When } from '../../simulation/faults.ts'
import { times } from '../../simulation/operator.ts'
import { textOf } from '../../simulation/oracle.ts'
import type { SimulatedProcess } from '../../simulation/process.ts'
import { isWrite, type SimulatedWorld } from '../../simulation/world.ts'

/** A leader is to be stopped at the write of that place, from 0: before it leaves, or once it was done. */
export interface Pause {
  readonly at: number
  readonly when: When
  readonly ms: number
  /** The other replicas stop with it, for so long. */
  readonly othersMs?: number
}

interface Paused {
  readonly process: SimulatedProcess
  readonly write: string
  readonly wakesAt: number
  readonly ms: number
}

/** Another replica leads by then: the Lease has expired, and whoever waited has looked at it. */
export const OUTLIVES_THE_LEASE_MS = 30_000

/** Stops leaders at writes, and notes what is wrong with what they do when they wake. */
export class Pauses implements Trouble {
  readonly #world: SimulatedWorld
  readonly #pauses: readonly Pause[]
  readonly #paused: Paused[] = []
  readonly #problems: string[] = []
  #passed = 0

  constructor(world: SimulatedWorld, pauses: readonly Pause[]) {
    this.#world = world
    this.#pauses = pauses
  }

  request(sighting: Sighting): Fault | undefined {
    if (!isWrite(sighting)) return undefined
    this.#checkSender(sighting)
    const pause = this.#pauses.find(({ at }) => at === this.#passed)
    this.#passed += 1
    return pause === undefined ? undefined : this.#stop(pause, sighting)
  }

  unspent(): readonly string[] {
    const missed = this.#pauses.slice(this.#paused.length).map(({ at }) => `nobody was stopped at write ${at}`)
    const going = this.#paused.filter(({ process, ms }) => isFormer(ms) && !this.#isOver(process))
    return [...this.#problems, ...missed, ...going.map(({ process }) => `${process.name} has not ended`)]
  }

  #stop({ when, ms, othersMs = 0 }: Pause, sighting: Sighting): Fault {
    const { process } = sighting
    const { time } = this.#world
    this.#paused.push({ process, write: textOf(sighting), wakesAt: time.now + ms, ms })
    for (const { process: other, isOver } of othersMs > 0 ? this.#world.operators : []) {
      if (other === process || isOver) continue
      other.stop()
      time.setTimer(othersMs, () => other.goOn())
    }
    if (ms >= OUTLIVES_THE_LEASE_MS && othersMs === 0) {
      time.setTimer(ms - 1, () => {
        if (this.#world.leader?.startsWith(`${process.name}_`) ?? true)
          this.#problems.push(`nobody leads in the place of ${process.name}`)
      })
    }
    return { type: 'stop', when, ms }
  }

  #checkSender(sighting: Sighting): void {
    const former = this.#paused.find(({ process, ms }) => process === sighting.process && isFormer(ms))
    if (former === undefined || this.#world.time.now < former.wakesAt) return
    this.#problems.push(`written by a former leader after its wake at ${former.write}: ${textOf(sighting)}`)
  }

  #isOver(process: SimulatedProcess): boolean {
    return this.#world.operators.some((operator) => operator.process === process && operator.isOver)
  }
}

/** Whether a leader that was paused for so long no longer takes itself for one. */
function isFormer(ms: number): boolean {
  return ms > times.renewDeadlineMs
}

/** Cuts the leader's way: nothing that it sends there arrives, from the write of that place on, or at once. */
export interface Cut {
  /** Undefined: from the beginning. */
  readonly at?: number
  readonly ms: number
  /** `lease`: nothing but its Lease. */
  readonly from: ServerName | 'lease'
  readonly when: When
}

/** Cuts a leader off, and notes whether the right one leads then. */
export class CutOff implements Trouble {
  readonly #world: SimulatedWorld
  readonly #cut: Cut
  readonly #problems: string[] = []
  #leader: string | undefined
  #until: number | undefined
  #passed = 0

  constructor(world: SimulatedWorld, cut: Cut) {
    this.#world = world
    this.#cut = cut
    if (cut.at === undefined) this.#begin()
  }

  request(sighting: Sighting): Fault | undefined {
    if (isWrite(sighting)) {
      if (this.#passed === this.#cut.at) this.#begin()
      this.#passed += 1
    }
    return this.#isCut(sighting) ? { type: 'silence', when: this.#cut.when } : undefined
  }

  frame(watch: Sighting): 'stall' | undefined {
    return this.#isCut(watch) ? 'stall' : undefined
  }

  unspent(): readonly string[] {
    if (this.#until === undefined) return ['nobody was cut off']
    const leads = this.#world.leader === this.#leader
    if (this.#cut.from === 'api' && !leads) this.#problems.push('another leads, though the Lease was renewed')
    if (this.#cut.from !== 'api' && leads) this.#problems.push('it leads still, though the Lease was not renewed')
    return this.#problems
  }

  #begin(): void {
    this.#leader = this.#world.leader
    this.#until = this.#world.time.now + this.#cut.ms
  }

  #isCut({ process, server, path }: Sighting): boolean {
    const { time } = this.#world
    if (this.#until === undefined || time.now >= this.#until) return false
    if (!(this.#leader?.startsWith(`${process.name}_`) ?? false)) return false
    return this.#cut.from === 'lease' ? /\/leases(\/|$)/.test(path) : server === this.#cut.from
  }
}
