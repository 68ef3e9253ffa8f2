/** Counts of one run of the suites. */
export interface TestCounts {
  readonly passed: number
  /** Failed tests and everything else that went wrong: see `countTests`. */
  readonly failed: number
  /** Tests that were collected but not run, for whatever reason. */
  readonly skipped: number
}

/** The counted fields of a test. */
interface CountedTest {
  readonly tags: readonly string[]
  result(): { readonly state: string }
}

/** The counted fields of a test, a group of tests, or a file. vitest's own classes have this shape. */
interface Tasks {
  errors(): readonly unknown[]
  readonly children: {
    allTests(): Iterable<CountedTest>
    allSuites(): Iterable<{ errors(): readonly unknown[] }>
  }
}

/**
 * Counts the results of a run's files. A file that could not be loaded, a group whose hooks failed, and an uncaught
 * error each count as one failure: they do not appear in any test's result, and a run with one is not a success.
 * @param isChosen whether the run was to include a test with these tags; vitest reports the others as skipped
 */
export function countTests(
  files: Iterable<Tasks>,
  unhandledErrors: readonly unknown[],
  isChosen: (tags: readonly string[]) => boolean = () => true,
): TestCounts {
  const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
  for (const file of files) {
    for (const test of file.children.allTests()) if (isChosen(test.tags)) counts[countedAs(test.result().state)] += 1
    const groups = [file, ...file.children.allSuites()]
    counts.failed += groups.filter((group) => group.errors().length > 0).length
  }
  return counts
}

/** A test without a result was stopped before its end, which is not a success. */
function countedAs(state: string): keyof TestCounts {
  if (state === 'passed' || state === 'skipped') return state
  return 'failed'
}

/** The counts of a failed run: with at least one failure, unless nothing ran at all. */
export function withFailureOutsideTests(counts: TestCounts): TestCounts {
  return counts.failed === 0 && counts.passed > 0 ? { ...counts, failed: 1 } : counts
}

/** `12 passed, 0 failed`; skipped tests are mentioned only if there are any. */
export function summaryLine({ passed, failed, skipped }: TestCounts): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`
}

/** 0 only if something ran and nothing failed. */
export function exitCodeOf({ passed, failed }: TestCounts): 0 | 1 {
  return passed > 0 && failed === 0 ? 0 : 1
}
