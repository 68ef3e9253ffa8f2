import type { OperatorSide } from '../facts.ts'

/** Files under `test/` that test how the operator complies or copes with a rule. */
export function heldBy(...tests: readonly string[]): OperatorSide {
  return { tests }
}

/** The rule concerns only the server, for this reason. */
export function serverOnly(reason: string): OperatorSide {
  return { serverOnly: reason }
}
