/** What this process knows of what its writes to the object of one CR led to, and of former objects. */
export class ApplyMemory {
  /** A write that the API accepted and did not apply, as `contestAbout` describes it: repeating it would be futile. */
  ignored?: string | undefined
  /**
   * The purpose of the last replacement, while the new object still differs in the same way: another replacement would
   * not help.
   */
  replacedFor?: string | undefined
  /** Monotonic time from which lists show what refers to a superseded object that is to be deleted. */
  retiringSince?: number | undefined
  /** The superseded object that was last reported as kept because an account uses its token. */
  keptFor?: string | undefined

  /**
   * The API ignores what it ignored before. The older state names other objects: those that it replaces or retires have
   * to be found out again.
   */
  rollBack(): void {
    this.replacedFor = undefined
    this.retiringSince = undefined
    this.keptFor = undefined
  }
}
