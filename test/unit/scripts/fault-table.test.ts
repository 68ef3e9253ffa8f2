import { describe, expect, test } from 'vitest'
import {
  asMarkdown,
  asText,
  countsOf,
  rowsOf,
  type SuiteList,
  type VitestReport,
} from '../../../scripts/fault-table.ts'

const list = (suite: string, where: string, { passed = 3, failed = 0, seeds }: Partial<SuiteList> = {}): SuiteList => {
  return { suite, where, cases: passed + failed, passed, failed, ...(seeds === undefined ? {} : { seeds }) }
}

/** Every suite of the matrix, as listed for an empty folder. */
const complete = rowsOf([], []).map(({ suite, where }) => list(suite, where))

type Assertion = VitestReport['testResults'][number]['assertionResults'][number]

function report(name: string, assertionResults: readonly Assertion[], status = 'passed', message = ''): VitestReport {
  return { testResults: [{ name: `/repo/test/faults/${name}`, status, message, assertionResults }] }
}

const passed: Assertion = { status: 'passed', fullName: 'holds' }
const failing = (message: string): Assertion => ({ status: 'failed', fullName: 'fails', failureMessages: [message] })

describe('the rows', () => {
  test('come in the order of the matrix, whatever order the lists have', () => {
    expect(rowsOf(complete.toReversed(), [])).toEqual(complete)
  })

  test('name each suite that has not listed itself', () => {
    const [first, ...others] = complete
    const rows = rowsOf(others, [])
    expect(rows[0]).toMatchObject({ suite: first?.suite, isMissing: true })
    expect(countsOf(rows)).toEqual({ passed: 3 * others.length, failed: 1 })
  })

  test('hold the parts of a suite one after the other', () => {
    const parts = ['seeds 1', 'seeds 2'].map((suite) => list(suite, 'simulation', { seeds: 5 }))
    const plural = list('paused leaders, otherwise', 'simulation')
    const rows = rowsOf([...complete.filter(({ suite }) => suite !== 'seeds'), ...parts, plural], [])
    expect(rows.filter(({ isMissing }) => isMissing)).toEqual([])
    expect(rows.filter(({ suite }) => suite.startsWith('seeds'))).toEqual(parts)
    expect(rows.findIndex(({ suite }) => suite === plural.suite)).toBeLessThan(rows.indexOf(parts[0] as SuiteList))
  })

  test('do not take a suite for a part of one whose name it begins with', () => {
    const rows = rowsOf([...complete, list('killsome', 'simulation')], [])
    expect(rows.at(-1)).toMatchObject({ suite: 'killsome' })
  })

  test('do not take simulated cases for real ones', () => {
    const rows = rowsOf(
      complete.filter(({ suite, where }) => suite !== 'kills' || where !== 'real'),
      [],
    )
    expect(rows.filter(({ isMissing }) => isMissing)).toMatchObject([{ suite: 'kills', where: 'real' }])
  })
})

describe('tests without lists', () => {
  test('are counted file by file', () => {
    const rows = rowsOf(complete, [report('hostile-api.test.ts', [passed, passed, failing('no')], 'failed')])
    expect(rows.at(-1)).toEqual({ suite: 'hostile api', where: 'real', cases: 3, passed: 2, failed: 1 })
  })

  test('that failed to load count as one failure', () => {
    const rows = rowsOf(complete, [report('fairness.test.ts', [], 'failed', 'cannot find module')])
    expect(rows.at(-1)).toEqual({ suite: 'fairness', where: 'real', cases: 1, passed: 0, failed: 1 })
  })
})

describe('tests that list cases', () => {
  const rowsWith = (assertion: Assertion) => rowsOf(complete, [report('matrix/kills.test.ts', [assertion])])

  test('are not counted beside them, passed or failed', () => {
    expect(rowsWith(passed)).toEqual(complete)
    expect(rowsWith(failing('Error: 2 of 30 cases failed, such as:\na | b | c'))).toEqual(complete)
  })

  test('are, when they fail for anything else', () => {
    expect(rowsWith(failing('Error: kills: 3 cases, at least 1000 are wanted')).at(-1)).toMatchObject({
      suite: 'beside the cases of kills',
      where: 'simulation',
      failed: 1,
    })
  })
})

test('the table has a line for each row, and the sum', () => {
  const rows = [list('kills', 'simulation', { passed: 1200, failed: 1 }), list('seeds', 'simulation', { seeds: 7 })]
  expect(asText(rows)).toBe(
    [
      'suite  where       cases  passed  failed  seeds',
      'kills  simulation   1201    1200       1',
      'seeds  simulation      3       3       0      7',
    ].join('\n'),
  )
  expect(asMarkdown(rows)).toBe(
    [
      '| suite | where | cases | passed | failed | seeds |',
      '|---|---|---:|---:|---:|---:|',
      '| kills | simulation | 1201 | 1200 | 1 |  |',
      '| seeds | simulation | 3 | 3 | 0 | 7 |',
      '',
      '1203 passed, 1 failed',
      '',
    ].join('\n'),
  )
})
