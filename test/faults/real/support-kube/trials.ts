import { type KubeFault, kubeFaults } from './kube-faults.ts'
import type { Write } from './writes.ts'

/** A write and the fault that it is to meet. */
export interface Trial {
  readonly write: Write
  readonly fault: KubeFault
}

/** So many resources may miss a trial before it is dropped: a busy machine has led those another way whose writes were written down. */
const MOST_MISSES = 3

/** What of one kind is still to be tried in one stage of its life. */
export class Trials {
  readonly #open: Trial[]
  readonly #missed = new Map<Trial, number>()

  /** @param offset another one for each kind: what one does not come to is tried with another. */
  constructor(writes: readonly Write[], offset: number) {
    const rounds = kubeFaults.map((_, round) => {
      return writes.map((write, index) => ({ write, fault: kubeFaults[(offset + round + index) % kubeFaults.length] }))
    })
    const open = rounds.flat().filter((trial): trial is Trial => trial.fault?.meets?.(trial.write.sort) ?? true)
    // What few writes can meet comes first.
    this.#open = open.toSorted(
      (one, other) => Number(one.fault.meets === undefined) - Number(other.fault.meets === undefined),
    )
  }

  /** The next one; undefined when all were taken. */
  take(): Trial | undefined {
    return this.#open.shift()
  }

  /** The resource has not come to the write: another is to try, unless there were enough of them. */
  again(trial: Trial): void {
    const missed = (this.#missed.get(trial) ?? 0) + 1
    this.#missed.set(trial, missed)
    if (missed < MOST_MISSES) this.#open.unshift(trial)
  }
}
