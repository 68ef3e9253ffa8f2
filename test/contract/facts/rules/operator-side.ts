import type { OperatorSide } from '../facts.ts'

/**
 * The tests that show how the operator complies or copes with a rule: `<file under test/> > <describe> > <title>`; a
 * title that ends in … matches all with that start. The coverage page is generated only if each of them exists.
 */
export function heldBy(...tests: readonly string[]): OperatorSide {
  return { tests }
}

/** The rule concerns only the server, for this reason. */
export function serverOnly(reason: string): OperatorSide {
  return { serverOnly: reason }
}
