import type { OperatorSide } from '../facts.ts'

/**
 * The tests that show how the operator keeps to a rule, or copes with it: `<file under test/> > <describe> > <title>`; a title
 * that ends in … stands for all that begin so. The coverage page is not made unless each of them exists.
 */
export function heldBy(...tests: readonly string[]): OperatorSide {
  return { tests }
}

/** The rule concerns the server alone, for this reason. */
export function serverOnly(reason: string): OperatorSide {
  return { serverOnly: reason }
}
