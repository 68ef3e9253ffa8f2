import type { ApiError } from '../../api/errors.ts'
import type { CreateAnswer } from '../attempt.ts'
import { type CustomResource, internalOf } from '../cr.ts'
import { countedRepeat, FailedCreates, pauseBeforeNext, type Repeats } from '../run/damping.ts'

/** Writes of one desired state that did not last. Kept in memory: a new process counts from zero. */
export interface Contest {
  /** The desired state and what the other client has put in its place: see `contestAbout`. */
  readonly about: string
  /** Writes that restored a state that an earlier write had already established. */
  readonly turns: number
  /** Monotonic time of the last write. */
  readonly at: number
}

/** An object that a POST of this process made. */
export interface MadeObject {
  readonly id: string
  /** The path of its collection. */
  readonly path: string
  /** Monotonic time of the answer. */
  readonly at: number
}

/** An object whose DELETE was answered with 404. */
export interface Denial {
  readonly id: string
  /** How often in a row. */
  readonly tries: number
  /** Whether lists must still settle what that means. */
  readonly isOpen: boolean
}

/** The same for all: there are tens of thousands of memories, and most have nothing to hold here. */
const NONE: readonly never[] = []

/** What this process knows of the requests that created, sought and deleted the objects of one CR. */
export class IdentityMemory {
  /** The answer of a POST, kept until it is stored. */
  answer?: CreateAnswer | undefined
  /** The refusal of a create that is sent in another form from now on, for this generation of the spec. */
  refusedForms?:
    | { readonly generation: number | undefined; readonly error: ApiError; readonly count: number }
    | undefined
  /** An attempt that certainly did nothing, while the next one is not recorded yet: it needs no scan. */
  voidAttempt?: { readonly nonce: string; readonly number: number } | undefined
  /** Monotonic time by which a POST of this process that got no answer must have ended at the server. */
  unknownUntil?: number | undefined
  /** Monotonic time of the first of the two scans for a lost answer. */
  firstScanAt?: number | undefined
  /** This process created the object, so no earlier process can still be writing children. */
  createdHere?: boolean | undefined
  /** Objects that this process recently created. */
  made: readonly MadeObject[] = NONE
  /** Objects whose DELETE was answered with 404. */
  denied: readonly Denial[] = NONE
  /** Ids of objects with this CR's marker that are neither its own nor superseded; undefined: nothing to search for. */
  copies?: readonly string[] | undefined
  /** Writes of one desired state that another client may be undoing. */
  contest?: Contest | undefined
  /** The object was deleted at the API and has not been created again yet. */
  isLost?: boolean | undefined
  /** Creates of the CR's own object that were not answered. */
  readonly creates = new FailedCreates()
  /** Id of the object of a create whose answer must not be used, while it is being deleted. */
  refusing?: string | undefined
  #remakes: Repeats | undefined
  #refusals: (Repeats & { readonly problem: string }) | undefined

  /** Once the status has this create, its answer is no longer needed. */
  stored(cr: CustomResource): void {
    if (this.answer?.nonce === internalOf(cr).create?.nonce) this.answer = undefined
  }

  /** Keeps an answer that must not be used, so that the next run returns to its object until that is deleted. */
  holdBack(answer: CreateAnswer): void {
    this.answer = answer
  }

  /** The object of such an answer is deleted: its attempt left nothing behind. */
  discard({ nonce, number }: CreateAnswer): void {
    this.answer = undefined
    this.voidAttempt = { nonce, number }
  }

  /** Has objects with this CR's marker searched for and deleted. */
  expectCopies(ids: readonly string[]): void {
    this.copies = ids
  }

  /** How long to wait before an object that keeps being deleted is created again, in milliseconds. */
  pauseBeforeRemake(now: number, firstPauseMs: number): number {
    return pauseBeforeNext(this.#remakes, now, { firstPauseMs })
  }

  /** The lost object was created again. */
  remade(now: number, firstPauseMs: number): void {
    this.isLost = undefined
    this.#remakes = countedRepeat(this.#remakes, now, { firstPauseMs })
  }

  /** How long to wait before another create after refused answers, in milliseconds. */
  pauseAfterRefusal(now: number): number {
    return pauseBeforeNext(this.#refusals, now)
  }

  /** The problem of the last refused answer; undefined if none was refused since a create succeeded. */
  get refusedFor(): string | undefined {
    return this.#refusals?.problem
  }

  /**
   * The object of a refused answer is deleted. Counts consecutive refusals; time without one does not reset the count,
   * since nothing was created.
   */
  refused(problem: string, now: number): void {
    this.refusing = undefined
    this.#refusals = { count: (this.#refusals?.count ?? 0) + 1, at: now, problem }
  }

  /** The CR has an object that may be used. */
  accepted(): void {
    this.#refusals = undefined
  }

  /**
   * Requests of this process have their effect whatever the CR says, and others keep undoing its writes. Everything
   * else was concluded about an object that the older state may not name.
   */
  rollBack(): void {
    this.firstScanAt = undefined
    this.createdHere = undefined
    this.denied = NONE
    this.copies = undefined
    this.isLost = undefined
  }
}
