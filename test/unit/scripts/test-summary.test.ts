import { describe, expect, test } from 'vitest'
import { countTests, exitCodeOf, summaryLine, withFailureOutsideTests } from '../../../scripts/test-summary.ts'

interface Sample {
  readonly states?: readonly string[]
  readonly errors?: readonly unknown[]
  readonly groupErrors?: readonly (readonly unknown[])[]
}

function file({ states = [], errors = [], groupErrors = [] }: Sample) {
  return {
    errors: () => errors,
    children: {
      allTests: () => {
        return states.map((state) => ({
          tags: state === 'skipped' ? ['slow'] : [],
          result: () => ({ state }),
        }))
      },
      allSuites: () => groupErrors.map((of) => ({ errors: () => of })),
    },
  }
}

describe('counting a run', () => {
  test('counts passed, failed and skipped tests of all files', () => {
    const files = [file({ states: ['passed', 'failed'] }), file({ states: ['passed', 'skipped'] })]
    expect(countTests(files, [])).toEqual({ passed: 2, failed: 1, skipped: 1 })
  })

  test('leaves out the tests that the run was not to include', () => {
    const files = [file({ states: ['passed', 'skipped'] })]
    expect(countTests(files, [], (tags) => !tags.includes('slow'))).toEqual({ passed: 1, failed: 0, skipped: 0 })
  })

  test('a test without a result has failed', () => {
    expect(countTests([file({ states: ['pending'] })], []).failed).toBe(1)
  })

  test('a file that cannot be loaded is one failure', () => {
    expect(countTests([file({ errors: [new Error('no such module'), new Error('again')] })], []).failed).toBe(1)
  })

  test('a group whose hooks fail is one failure, though its tests were skipped', () => {
    const counts = countTests([file({ states: ['skipped', 'passed'], groupErrors: [[new Error('hook')], []] })], [])
    expect(counts).toEqual({ passed: 1, failed: 1, skipped: 1 })
  })

  test('an error that no test caught is a failure', () => {
    expect(countTests([file({ states: ['passed'] })], [new Error('late')])).toEqual({
      passed: 1,
      failed: 1,
      skipped: 0,
    })
  })

  test('a run that failed outside of every test has one failure', () => {
    expect(withFailureOutsideTests({ passed: 3, failed: 0, skipped: 0 }).failed).toBe(1)
    expect(withFailureOutsideTests({ passed: 3, failed: 2, skipped: 0 }).failed).toBe(2)
  })
})

describe('the last line', () => {
  test('names passed and failed tests', () => {
    expect(summaryLine({ passed: 12, failed: 0, skipped: 0 })).toBe('12 passed, 0 failed')
  })

  test('names skipped tests where there are any', () => {
    expect(summaryLine({ passed: 12, failed: 1, skipped: 3 })).toBe('12 passed, 1 failed, 3 skipped')
  })
})

describe('the exit code', () => {
  test.each([
    [{ passed: 1, failed: 0, skipped: 2 }, 0],
    [{ passed: 1, failed: 1, skipped: 0 }, 1],
    [{ passed: 0, failed: 0, skipped: 0 }, 1],
    [{ passed: 0, failed: 0, skipped: 5 }, 1],
  ] as const)('of %o is %i', (counts, code) => {
    expect(exitCodeOf(counts)).toBe(code)
  })
})
