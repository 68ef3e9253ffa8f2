import type { Fault, ServerName, Sighting, Trouble, When } from '../../simulation/faults.ts'
import { times } from '../../simulation/operator.ts'
import { textOf } from '../../simulation/oracle.ts'
import type { SimulatedProcess } from '../../simulation/process.ts'
import { isWrite, type SimulatedWorld } from '../../simulation/world.ts'

/** Pauses a leader at the write of that index, from 0: before it is sent, or after it was carried out. */
export interface Pause {
  readonly at: number
  readonly when: When
  readonly ms: number
  /** Pauses the other replicas for this long as well. */
  readonly othersMs?: number
}

interface Paused {
  readonly process: SimulatedProcess
  readonly write: string
  readonly wakesAt: number
  readonly ms: number
}

/** Another replica leads by then: the Lease has expired, and a standby has noticed. */
export const OUTLIVES_THE_LEASE_MS = 30_000

/** Pauses leaders at writes, and records what they do wrong when they wake. */
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

/** Whether a leader that was paused for this long no longer considers itself the leader. */
function isFormer(ms: number): boolean {
  return ms > times.renewDeadlineMs
}

/** Disconnects the leader: its requests do not arrive, from the write of that index on, or at once. */
export interface Cut {
  /** Undefined: from the beginning. */
  readonly at?: number
  readonly ms: number
  /** `lease`: only requests for its Lease. */
  readonly from: ServerName | 'lease'
  readonly when: When
}

/** Disconnects a leader, and records whether the right replica leads afterwards. */
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
