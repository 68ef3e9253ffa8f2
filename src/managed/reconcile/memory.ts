import type { RemoteObject } from '../../api/types.ts'
import type { ResourceName } from '../cr.ts'
import type { Repeats } from './damping.ts'

/** The answer to a POST that is not yet in the CR's status, in full, including what the API returns only once. */
export interface Answer {
  readonly nonce: string
  readonly number: number
  readonly object: RemoteObject
}

/** Consecutive failures of a rotation or renewal. */
export interface RotationFailure {
  readonly failures: number
  /** Monotonic time of the last failure. */
  readonly at: number
  /** Spec and request that were tried. */
  readonly about: string
  readonly message: string
}

/** A deletion that waits for resources of other namespaces. */
export interface HeldUp {
  readonly resource: ResourceName
  /** The resources that it waits for, sorted. */
  readonly by: readonly ResourceName[]
}

/** Writes of one desired state that did not last. Kept in memory: a new process counts from zero. */
export interface Contest {
  /** The desired state and what the other client has put in its place: see `contestAbout`. */
  readonly about: string
  /** Writes that restored a state that an earlier write had already established. */
  readonly turns: number
  /** Monotonic time of the last write. */
  readonly at: number
}

/** One CR's state in this process, beyond Kubernetes and the API. Losing it costs time, never correctness. */
export interface Memory {
  /** The answer of a POST, kept until it is stored. */
  answer?: Answer | undefined
  /** An attempt that certainly did nothing, while the next one is not recorded yet: it needs no scan. */
  voidAttempt?: { readonly nonce: string; readonly number: number } | undefined
  /** Monotonic time by which a POST of this process that got no answer must have ended at the server. */
  unknownUntil?: number | undefined
  /** Monotonic time of the first of the two scans for a lost answer. */
  firstScanAt?: number | undefined
  /** Objects that this process recently created, by id: the path of the collection, and the time of the answer. */
  readonly made: Map<string, { readonly path: string; readonly at: number }>
  /**
   * Ids whose DELETE was answered with 404: how often in a row, and whether lists must still settle what that means.
   */
  readonly denied: Map<string, { readonly tries: number; readonly isOpen: boolean }>
  /** Monotonic time of the next poll that readiness asked for. */
  pollAt?: number | undefined
  /**
   * Wall time minus monotonic time when the next poll was scheduled, in milliseconds; undefined if it was not scheduled
   * by wall time.
   */
  clockOffset?: number | undefined
  /** Monotonic time when the CR was first reconciled while it had no condition. */
  untoldSince?: number | undefined
  /** This process created the object, so no earlier process can still be writing children. */
  createdHere?: boolean | undefined
  /** Monotonic time by which a child's POST that got no answer must have ended. */
  childUnknownUntil?: number | undefined
  /** Monotonic time until which an update that got no answer may still take effect. */
  updateUnknownUntil?: number | undefined
  /** Monotonic time by which the POST of a placeholder that got no answer must have ended. */
  placeholderUnknownUntil?: number | undefined
  /** Ids of objects with this CR's marker that are neither its own nor superseded; found by the account's resync. */
  copies?: readonly string[] | undefined
  /** Monotonic time from which lists show what refers to an object that is to be deleted. */
  deletingSince?: number | undefined
  /** Monotonic time from which lists show what refers to a superseded object that is to be deleted. */
  retiringSince?: number | undefined
  /** Resources of other namespaces that last blocked the deletion. */
  heldUp?: HeldUp | undefined
  /** The DELETE of the key that the account itself uses was sent: if the key is refused now, the DELETE took effect. */
  lastCallSent?: boolean | undefined
  /** Writes of one desired state that another client may be undoing. */
  contest?: Contest | undefined
  /** A write that the API accepted and did not apply, as `contestAbout` describes it: repeating it would be futile. */
  ignored?: string | undefined
  /** Name of the Secret in which this process last knew the token to be. */
  tokenSecret?: string | undefined
  /** How often a lost token was recently reissued. */
  reissues?: Repeats | undefined
  /** How many creates in a row were answered with something that must not be used, and the last such problem. */
  refusals?: (Repeats & { readonly problem: string }) | undefined
  /** Id of the object of such a create, while it is being deleted. */
  refusing?: string | undefined
  /** The object was deleted at the API and has not been created again yet. */
  isLost?: boolean | undefined
  /** How often an object that was deleted at the API was recently created again. */
  remakes?: Repeats | undefined
  /**
   * The purpose of the last replacement, while the new object still differs in the same way: another replacement would
   * not help.
   */
  replacedFor?: string | undefined
  /** Failed rotations since the last one that succeeded. */
  rotation?: RotationFailure | undefined
  /** The superseded object that was last reported as kept because an account uses its token. */
  keptFor?: string | undefined
  /** A companion that the spec does not ask for was searched for and does not exist. */
  dismissed?: boolean | undefined
  /** Our finalizer was removed: whatever an older copy of the CR says, nothing is left to do. */
  released?: boolean | undefined
}

export function emptyMemory(): Memory {
  return { made: new Map(), denied: new Map() }
}

/** The memory of every CR, by UID: a later CR of the same name starts with none. */
export class Memories {
  readonly #byUid = new Map<string, Memory>()

  of(uid: string): Memory {
    let memory = this.#byUid.get(uid)
    if (memory === undefined) {
      memory = emptyMemory()
      this.#byUid.set(uid, memory)
    }
    return memory
  }

  /**
   * The CR is in an older state than before, since etcd was restored: conclusions from later states are dropped. What
   * requests of this process did, or may still do, stays true whatever the CR says.
   */
  rollBack(uid: string): void {
    const memory = this.#byUid.get(uid)
    if (memory === undefined) return
    memory.denied.clear()
    memory.isLost = undefined
    memory.firstScanAt = undefined
    memory.pollAt = undefined
    memory.createdHere = undefined
    memory.copies = undefined
    memory.deletingSince = undefined
    memory.retiringSince = undefined
    memory.replacedFor = undefined
    memory.updateUnknownUntil = undefined
    memory.rotation = undefined
    memory.keptFor = undefined
    memory.dismissed = undefined
    memory.released = undefined
  }

  /** Deletions that wait for resources of other namespaces. */
  heldUp(): readonly HeldUp[] {
    return [...this.#byUid.values()].flatMap(({ heldUp }) => heldUp ?? [])
  }

  forget(uid: string): void {
    this.#byUid.delete(uid)
  }
}
