/** What a suite of the matrix came to, as it lists itself in the folder (`test/faults/support/case-list.ts`). */
export interface SuiteList {
  readonly suite: string
  readonly where: string
  readonly cases: number
  readonly passed: number
  readonly failed: number
  /** How many seeds were run, where seeds make the cases. */
  readonly seeds?: number
}

/** One line of the table. */
export interface Row extends SuiteList {
  /** Whether nothing was listed at all. */
  readonly isMissing?: boolean
}

/** What is used of vitest's report in JSON. */
export interface VitestReport {
  readonly testResults: readonly {
    /** Path of the file. */
    readonly name: string
    readonly status: string
    readonly message?: string
    readonly assertionResults: readonly {
      readonly status: string
      readonly fullName: string
      readonly failureMessages?: readonly string[] | null
    }[]
  }[]
}

/** The suites of the matrix. Each is there in every run; parts of one have its name and something more. */
const MATRIX: readonly (readonly [name: string, where: 'simulation' | 'real'])[] = [
  ['kills', 'simulation'],
  ['kills', 'real'],
  ['second kills', 'simulation'],
  ['API faults', 'simulation'],
  ['API faults', 'real'],
  ['Kubernetes faults', 'simulation'],
  ['Kubernetes faults', 'real'],
  ['watch faults', 'simulation'],
  ['watch faults', 'real'],
  ['paused leader', 'simulation'],
  ['paused leader', 'real'],
  ['clocks', 'simulation'],
  ['transitions', 'simulation'],
  ['transitions', 'real'],
  ['seeds', 'simulation'],
  ['restored', 'simulation'],
  ['restored', 'real'],
  ['references', 'simulation'],
  ['upgraded midway', 'real'],
  ['traces equal to the simulation', 'real'],
]

/** The rows of the matrix in its order, then further lists, then the other tests and whatever else failed. */
export function rowsOf(lists: readonly SuiteList[], reports: readonly VitestReport[]): readonly Row[] {
  const known = MATRIX.map(([name, where]) => ({ name, where, own: lists.filter((list) => isOf(list, name, where)) }))
  const others = lists.filter((list) => !known.some(({ own }) => own.includes(list)))
  return [
    ...known.flatMap(({ name, where, own }) => (own.length === 0 ? [missing(name, where)] : own)),
    ...others,
    ...reports.flatMap(testRowsOf),
  ]
}

/** All of the rows together. What is missing counts as one failure. */
export function countsOf(rows: readonly Row[]): { readonly passed: number; readonly failed: number } {
  const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0)
  return { passed: sum(({ passed }) => passed), failed: sum(({ failed, isMissing }) => (isMissing ? 1 : failed)) }
}

/** The table in columns for a terminal. */
export function asText(rows: readonly Row[]): string {
  const cells = [HEAD, ...rows.map(cellsOf)]
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const padded = (cell: string, column: number): string => {
    return column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
  }
  return cells.map((row) => row.map(padded).join('  ').trimEnd()).join('\n')
}

/** The table in Markdown, with the sum below it. */
export function asMarkdown(rows: readonly Row[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const rule = '|---|---|---:|---:|---:|---:|'
  const { passed, failed } = countsOf(rows)
  return `${[line(HEAD), rule, ...rows.map((row) => line(cellsOf(row)))].join('\n')}\n\n${passed} passed, ${failed} failed\n`
}

const HEAD = ['suite', 'where', 'cases', 'passed', 'failed', 'seeds'] as const

function cellsOf({ suite, where, cases, passed, failed, seeds, isMissing = false }: Row): readonly string[] {
  if (isMissing) return [suite, where, 'missing', '', '', '']
  return [suite, where, String(cases), String(passed), String(failed), seeds === undefined ? '' : String(seeds)]
}

function isOf(list: SuiteList, name: string, where: string): boolean {
  const isNamed =
    list.suite === name || (list.suite.startsWith(name) && /^[^a-z]|^s\b/i.test(list.suite.slice(name.length)))
  return isNamed && list.where === where
}

function missing(suite: string, where: string): Row {
  return { suite, where, cases: 0, passed: 0, failed: 0, isMissing: true }
}

/** Tests that list no cases are counted themselves, file by file; of the others, what failed beside their cases. */
function testRowsOf({ testResults }: VitestReport): readonly Row[] {
  const rows = testResults.map((file): Row => {
    const failed = file.assertionResults.filter(({ status }) => status === 'failed')
    const listed = /\/(matrix|real|cluster)\//.test(file.name)
    const passed = listed ? [] : file.assertionResults.filter(({ status }) => status === 'passed')
    const beside = listed ? failed.filter((test) => !isOfCases(test.failureMessages ?? [])) : failed
    // A file that did not load, or whose hooks failed, has no test to show it.
    const outside = file.status === 'failed' && failed.length === 0 && !isOfCases([file.message ?? '']) ? 1 : 0
    const count = beside.length + outside
    const suite = `${listed ? 'beside the cases of ' : ''}${nameOf(file.name)}`
    const where = file.name.includes('/matrix/') ? 'simulation' : 'real'
    return { suite, where, cases: passed.length + count, passed: passed.length, failed: count }
  })
  return rows.filter(({ cases }) => cases > 0)
}

/** Whether a suite has failed for cases that it lists. */
function isOfCases(messages: readonly string[]): boolean {
  return messages.length > 0 && messages.every((message) => /\b\d+ of \d+ cases failed\b/.test(message))
}

/** `hostile-api.test.ts` is `hostile api`. */
function nameOf(path: string): string {
  return (path.split('/').at(-1) ?? path).replace(/\.test\.ts$/, '').replaceAll('-', ' ')
}
