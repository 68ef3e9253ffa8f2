import type { ResourceName } from '../cr.ts'
import type { Memories } from '../run/memory.ts'

/** A deletion that waits for resources of other namespaces. */
export interface HeldUp {
  readonly resource: ResourceName
  /** The resources that it waits for, sorted. */
  readonly by: readonly ResourceName[]
}

/** Deletions that wait for resources of other namespaces. */
export function heldUpIn(memories: Memories): readonly HeldUp[] {
  return [...memories.all()].flatMap((memory) => memory.of(DeleteMemory).heldUp ?? [])
}

/** What this process knows of the deletion of one CR. */
export class DeleteMemory {
  /** Monotonic time from which lists show what refers to an object that is to be deleted. */
  deletingSince?: number | undefined
  /** Resources of other namespaces that last blocked the deletion. */
  heldUp?: HeldUp | undefined
  /** The DELETE of the key that the account itself uses was sent: if the key is refused now, the DELETE took effect. */
  lastCallSent?: boolean | undefined
  /** Our finalizer was removed: whatever an older copy of the CR says, nothing is left to do. */
  released?: boolean | undefined

  /**
   * The finalizer of a restored CR is back, and its deletion starts over. A request that was sent stays sent, and what
   * held the deletion up is corrected by the next check.
   */
  rollBack(): void {
    this.deletingSince = undefined
    this.released = undefined
  }
}
