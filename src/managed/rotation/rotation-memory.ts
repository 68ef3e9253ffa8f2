/** Consecutive failures of a rotation or renewal. */
export interface RotationFailure {
  readonly failures: number
  /** Monotonic time of the last failure. */
  readonly at: number
  /** Spec and request that were tried. */
  readonly about: string
  readonly message: string
}

/** What this process knows of the rotations of one CR. */
export class RotationMemory {
  /** Failures since the last rotation that succeeded. */
  failure?: RotationFailure | undefined

  /** A new object exists, even if another run has found it: earlier failures no longer count. */
  succeeded(): void {
    this.failure = undefined
  }

  /** A failure concerned a later spec, whose generation the restored CR may reach again with other content. */
  rollBack(): void {
    this.failure = undefined
  }
}
