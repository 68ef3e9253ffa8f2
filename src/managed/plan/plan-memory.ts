/** What this process knows of the plans of one CR. */
export class PlanMemory {
  /** The service's choices in the last answered write, until they are stored as `internal.chosen`. */
  chosen?: { readonly fields: Readonly<Record<string, string>> | undefined } | undefined

  /** What the service chose does not depend on the CR. */
  rollBack(): void {}
}
