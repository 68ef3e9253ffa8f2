import type { Due, OperatorSide } from '../facts/facts.ts'

/** One fact with the tests that check it on each side. A test is `<file under test/> > <describe> > <title>`. */
export interface CoverageRow {
  /** The id of the fact, and the part of it: `ip_policies.description, limit`. */
  readonly id: string
  readonly statement: string
  readonly source: string
  readonly due: Due
  readonly operatorDue: Due
  /** Tests that must exist, all of them. */
  readonly emulator: readonly string[]
  readonly operator: OperatorSide
}
