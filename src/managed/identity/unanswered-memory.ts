import { FailedCreates } from '../run/failed-creates.ts'

/** What this process knows of writes to the object of one CR, and to its children, that were not carried out for certain. */
export class UnansweredMemory {
  /** Monotonic time by which a child's POST or DELETE that got no answer must have ended. */
  childUnknownUntil?: number | undefined
  /** Monotonic time until which an update that got no answer may still take effect. */
  updateUnknownUntil?: number | undefined
  /** Monotonic time by which the POST of a placeholder that got no answer must have ended. */
  placeholderUnknownUntil?: number | undefined
  /** A write that was answered with 404 although what it is about exists, and since when, on the monotonic clock. */
  absence?: { readonly about: string; readonly since: number } | undefined

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

  /** Writes of this process may still take effect, whatever the CR says. */
  rollBack(): void {}
}
