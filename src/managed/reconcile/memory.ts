import type { RemoteObject } from '../../api/types.ts'
import type { HeldUp } from '../delete/held-up.ts'
import type { Contest } from '../identity/contest.ts'
import type { Repeats } from './damping.ts'

/** The answer to a POST that is not yet in the CR's status; whole, with what the API tells only once. */
export interface Answer {
  readonly nonce: string
  readonly number: number
  readonly object: RemoteObject
}

/** Rotations or renewals that failed in a row. */
export interface RotationFailure {
  readonly failures: number
  /** Monotonic time of the last one. */
  readonly at: number
  /** Spec and request that were tried. */
  readonly about: string
  readonly message: string
}

/** What this process knows of one CR beyond Kubernetes and the API. Losing it costs time, never correctness. */
export interface Memory {
  /** The answer of a POST, kept until it is stored. */
  answer?: Answer | undefined
  /** This attempt surely did nothing, and the next one was not recorded: it needs no scan. */
  refused?: { readonly nonce: string; readonly number: number } | undefined
  /** Monotonic time by which a POST of this process that got no answer must have ended at the server. */
  unknownUntil?: number | undefined
  /** When the first of the two scans for a lost answer was done. */
  firstScanAt?: number | undefined
  /** What creates of this process were answered with of late, by id: the path of the collection, and the time of the answer. */
  readonly made: Map<string, { readonly path: string; readonly at: number }>
  /** Ids whose DELETE was answered 404: how often in a row, and whether lists have yet to tell what that means. */
  readonly denied: Map<string, { readonly tries: number; readonly isOpen: boolean }>
  /** Monotonic time of the next look that readiness asked for. */
  pollAt?: number | undefined
  /** What the wall clock showed beyond the monotonic one when the next look was planned by it, in milliseconds; undefined: it was not. */
  clockOffset?: number | undefined
  /** Monotonic time when the CR was first looked at without a word about it in its conditions. */
  untoldSince?: number | undefined
  /** This process created the object, so nobody before it can still be writing children. */
  createdHere?: boolean | undefined
  /** Monotonic time by which a child's POST that got no answer must have ended. */
  childUnknownUntil?: number | undefined
  /** Monotonic time until which an update that was not answered may still be carried out. */
  updateUnknownUntil?: number | undefined
  /** Monotonic time by which the POST of a placeholder that got no answer must have ended. */
  placeholderUnknownUntil?: number | undefined
  /** Ids of marked objects of this CR that are neither its own nor superseded; found by the drift pass. */
  copies?: readonly string[] | undefined
  /** Monotonic time from which lists tell who uses an object that is to be deleted. */
  deletingSince?: number | undefined
  /** Monotonic time from which lists tell who uses a former object that is to be deleted. */
  retiringSince?: number | undefined
  /** Resources of other namespaces that the deletion was last seen to wait for. */
  heldUp?: HeldUp | undefined
  /** The DELETE of the key that the account works with was sent: a refused key says that it took effect. */
  lastCallSent?: boolean | undefined
  /** Writes of one wish that somebody else may be undoing. */
  contest?: Contest | undefined
  /** A wish that was written and that the API did not carry out, as `contestAbout` has it: once more would be in vain. */
  ignored?: string | undefined
  /** How often a lost token was issued anew of late. */
  reissues?: Repeats | undefined
  /** How many creates in a row were answered with what must not be written, and with what the last was. */
  refusals?: (Repeats & { readonly problem: string }) | undefined
  /** The object of such a create that is being deleted. */
  refusing?: string | undefined
  /** The object was deleted at the API, and is yet to be made again. */
  isLost?: boolean | undefined
  /** How often an object that was deleted at the API was made again of late. */
  remakes?: Repeats | undefined
  /** What the object was last replaced for, while the new one still differs in it: another would too. */
  replacedFor?: string | undefined
  /** Successors that could not be made, since one last was. */
  rotation?: RotationFailure | undefined
  /** The former object that was last said to stay since an account works with its token. */
  keptFor?: string | undefined
  /** A companion that the spec does not ask for was looked for, and is not there. */
  dismissed?: boolean | undefined
  /** Our finalizer was taken off: whatever an older copy of the CR still says, nothing is left to do. */
  released?: boolean | undefined
}

export function emptyMemory(): Memory {
  return { made: new Map(), denied: new Map() }
}

/** The memory of every CR, by UID: a namesake starts with none. */
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
   * The CR is in an older state than before, since etcd was put back: what was concluded from later ones is forgotten. What requests of
   * this process did, or may still do, is true whatever the CR says.
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
