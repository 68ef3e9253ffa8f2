/** The result of a suite of the matrix, as it writes it into the folder (`test/faults/support/case-list.ts`). */
export interface SuiteList {
  readonly suite: string
  readonly where: string
  readonly cases: number
  readonly passed: number
  readonly failed: number
  /** How many seeds were run, if seeds make the cases. */
  readonly seeds?: number
}

/** One line of the table. */
export interface Row extends SuiteList {
  /** Whether nothing was listed at all. */
  readonly isMissing?: boolean
}

/** The parts of vitest's JSON report used here. */
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

/** The suites of the matrix. Every run includes each; the parts of one have its name with a suffix. */
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
  ['tunnels', 'simulation'],
  ['services', 'simulation'],
  ['approvals', 'simulation'],
  ['claims', 'simulation'],
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

/** The sum of the rows. A missing suite counts as one failure. */
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

/** Tests that list no cases are counted themselves, file by file; of the others, failures other than their cases. */
function testRowsOf({ testResults }: VitestReport): readonly Row[] {
  const rows = testResults.map((file): Row => {
    const failed = file.assertionResults.filter(({ status }) => status === 'failed')
    const listed = /\/(matrix|real|cluster)\//.test(file.name)
    const passed = listed ? [] : file.assertionResults.filter(({ status }) => status === 'passed')
    const beside = listed ? failed.filter((test) => !isOfCases(test.failureMessages ?? [])) : failed
    // A file that failed to load, or whose hooks failed, has no test that shows it.
    const outside = file.status === 'failed' && failed.length === 0 && !isOfCases([file.message ?? '']) ? 1 : 0
    const count = beside.length + outside
    const suite = `${listed ? 'apart from the cases of ' : ''}${nameOf(file.name)}`
    const where = file.name.includes('/matrix/') ? 'simulation' : 'real'
    return { suite, where, cases: passed.length + count, passed: passed.length, failed: count }
  })
  return rows.filter(({ cases }) => cases > 0)
}

/** Whether a suite has failed because of cases that it lists. */
function isOfCases(messages: readonly string[]): boolean {
  return messages.length > 0 && messages.every((message) => /\b\d+ of \d+ cases failed\b/.test(message))
}

/** `hostile-api.test.ts` is `hostile api`. */
function nameOf(path: string): string {
  return (path.split('/').at(-1) ?? path).replace(/\.test\.ts$/, '').replaceAll('-', ' ')
}
