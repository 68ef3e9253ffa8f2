import type { CustomResource } from '../cr.ts'

/**
 * What one folder remembers of a CR. Files of other folders read it and call its methods, but assign none of its
 * fields.
 */
export interface MemorySlot {
  /** Drops what was concluded from states of the CR that came after the one to which etcd was restored. */
  rollBack(): void
  /** The status of the CR was written. */
  stored?(cr: CustomResource): void
}

/** One CR's state in this process, beyond Kubernetes and the API. Losing it costs time, never correctness. */
export class Memory {
  /** Monotonic time when the CR was first reconciled while it had no condition. */
  unreportedSince?: number | undefined
  /** The resourceVersion of the copy on which Kubernetes last refused a write, since the CR is another by now. */
  outdated?: string | undefined
  /**
   * The CR before the status writes that may have been carried out without an answer: Events tell what changed since.
   */
  unannounced?: CustomResource | undefined
  /** Few: most CRs use only some of them. */
  readonly #slots: MemorySlot[] = []

  /** The slot of that class; a new one at first. */
  of<Slot extends MemorySlot>(SlotClass: new () => Slot): Slot {
    for (const slot of this.#slots) if (slot instanceof SlotClass) return slot
    const slot = new SlotClass()
    this.#slots.push(slot)
    return slot
  }

  /** The status of the CR was written. */
  stored(cr: CustomResource): void {
    for (const slot of this.#slots) slot.stored?.(cr)
  }

  /**
   * The CR is in an older state than before, since etcd was restored: each slot drops what it concluded from later
   * states. What requests of this process did, or may still do, stays true whatever the CR says.
   */
  rollBack(): void {
    this.unannounced = undefined
    for (const slot of this.#slots) slot.rollBack()
  }
}

/** The memory of every CR, by UID: a later CR of the same name starts with none. */
export class Memories {
  readonly #byUid = new Map<string, Memory>()

  of(uid: string): Memory {
    let memory = this.#byUid.get(uid)
    if (memory === undefined) {
      memory = new Memory()
      this.#byUid.set(uid, memory)
    }
    return memory
  }

  all(): Iterable<Memory> {
    return this.#byUid.values()
  }

  /** See `Memory.rollBack`. */
  rollBack(uid: string): void {
    this.#byUid.get(uid)?.rollBack()
  }

  forget(uid: string): void {
    this.#byUid.delete(uid)
  }
}
