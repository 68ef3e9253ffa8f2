import type { CustomResource } from '../cr.ts'
import { DeleteMemory, type HeldUp } from '../delete/delete-memory.ts'
import { IdentityMemory } from '../identity/identity-memory.ts'
import { OutputMemory } from '../outputs/output-memory.ts'
import { PlanMemory } from '../plan/plan-memory.ts'
import { RotationMemory } from '../rotation/rotation-memory.ts'
import { PollMemory } from '../status/poll-memory.ts'

/**
 * One CR's state in this process, beyond Kubernetes and the API. Losing it costs time, never correctness. Each room
 * owns its slice: files of other rooms read it and call its methods, but assign none of its fields.
 */
export class Memory {
  readonly identity = new IdentityMemory()
  readonly plan = new PlanMemory()
  readonly outputs = new OutputMemory()
  readonly rotation = new RotationMemory()
  readonly delete = new DeleteMemory()
  readonly poll = new PollMemory()
  /** Monotonic time when the CR was first reconciled while it had no condition. */
  untoldSince?: number | undefined
  /** The resourceVersion of the copy on which Kubernetes last refused a write, since the CR is another by now. */
  outdated?: string | undefined
  /**
   * The CR before the status writes that may have been carried out without an answer: Events tell what changed since.
   */
  unannounced?: CustomResource | undefined

  /**
   * The CR is in an older state than before, since etcd was restored: each slice drops what it concluded from later
   * states. What requests of this process did, or may still do, stays true whatever the CR says.
   */
  rollBack(): void {
    const { identity, plan, outputs, rotation, delete: deletion, poll } = this
    this.unannounced = undefined
    for (const slice of [identity, plan, outputs, rotation, deletion, poll]) slice.rollBack()
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

  /** See `Memory.rollBack`. */
  rollBack(uid: string): void {
    this.#byUid.get(uid)?.rollBack()
  }

  /** Deletions that wait for resources of other namespaces. */
  heldUp(): readonly HeldUp[] {
    return [...this.#byUid.values()].flatMap(({ delete: { heldUp } }) => heldUp ?? [])
  }

  forget(uid: string): void {
    this.#byUid.delete(uid)
  }
}
