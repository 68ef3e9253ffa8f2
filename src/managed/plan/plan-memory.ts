import { FailedCreates } from '../reconcile/failed-creates.ts'

/** What this process knows of its writes to the object of one CR, its children and its former objects. */
export class PlanMemory {
  /** Monotonic time by which a child's POST or DELETE that got no answer must have ended. */
  childUnknownUntil?: number | undefined
  /** Monotonic time until which an update that got no answer may still take effect. */
  updateUnknownUntil?: number | undefined
  /** Monotonic time by which the POST of a placeholder that got no answer must have ended. */
  placeholderUnknownUntil?: number | undefined
  /** A write that was answered with 404 although what it is about exists, and since when, on the monotonic clock. */
  absence?: { readonly about: string; readonly since: number } | undefined
  /** A write that the API accepted and did not apply, as `contestAbout` describes it: repeating it would be futile. */
  ignored?: string | undefined
  /** The service's choices in the last answered write, until they are stored as `internal.chosen`. */
  chosen?: { readonly fields: Readonly<Record<string, string>> | undefined } | undefined
  /**
   * The purpose of the last replacement, while the new object still differs in the same way: another replacement would
   * not help.
   */
  replacedFor?: string | undefined
  /** Monotonic time from which lists show what refers to a superseded object that is to be deleted. */
  retiringSince?: number | undefined
  /** The superseded object that was last reported as kept because an account uses its token. */
  keptFor?: string | undefined

  #creates: Partial<Record<'child' | 'placeholder', FailedCreates>> | undefined

  /** Creates of children, or of placeholders, that were not answered. Most kinds have neither. */
  createsOf(sort: 'child' | 'placeholder'): FailedCreates {
    this.#creates ??= {}
    this.#creates[sort] ??= new FailedCreates()
    return this.#creates[sort]
  }

  /** A write was carried out. */
  written(): void {
    this.absence = undefined
  }

  /**
   * Writes of this process may still take effect, and the API ignores what it ignored before. The older state names
   * other objects: those that it replaces or retires have to be found out again.
   */
  rollBack(): void {
    this.replacedFor = undefined
    this.retiringSince = undefined
    this.keptFor = undefined
  }
}
