import { type KubeFault, kubeFaults } from './kube-faults.ts'
import type { Write } from './writes.ts'

/** A write and its fault. */
export interface Trial {
  readonly write: Write
  readonly fault: KubeFault
}

/**
 * A trial is dropped after this many resources missed it: on a busy machine the recorded resources may have gone
 * another way.
 */
const MOST_MISSES = 3

/** Trials left for one kind in one stage of its life. */
export class Trials {
  readonly #open: Trial[]
  readonly #missed = new Map<Trial, number>()

  /** @param offset different for each kind: faults that miss one kind are tried with another */
  constructor(writes: readonly Write[], offset: number) {
    const rounds = kubeFaults.map((_, round) => {
      return writes.map((write, index) => ({ write, fault: kubeFaults[(offset + round + index) % kubeFaults.length] }))
    })
    const open = rounds.flat().filter((trial): trial is Trial => trial.fault?.meets?.(trial.write.sort) ?? true)
    // Faults that few writes can meet come first.
    this.#open = open.toSorted(
      (one, other) => Number(one.fault.meets === undefined) - Number(other.fault.meets === undefined),
    )
  }

  /** The next one; undefined when none is left. */
  take(): Trial | undefined {
    return this.#open.shift()
  }

  /** The resource did not reach the write: queues the trial again, unless it was missed too often. */
  again(trial: Trial): void {
    const missed = (this.#missed.get(trial) ?? 0) + 1
    this.#missed.set(trial, missed)
    if (missed < MOST_MISSES) this.#open.unshift(trial)
  }
}
