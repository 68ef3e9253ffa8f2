import { describe, expect, test } from 'vitest'
import { judgeCoverage } from '../../../scripts/coverage-page.ts'
import type { CoverageRow } from '../../contract/covered/row.ts'

const row: CoverageRow = {
  id: 'things.name, limit',
  statement: 'at most 9',
  source: 'management-api.md § Limits',
  due: 'now',
  operatorDue: 'now',
  emulator: ['contract/a.test.ts > of things > is kept'],
  operator: { tests: ['unit/b.test.ts > is in the spec'] },
}
const both = new Set(['contract/a.test.ts > of things > is kept', 'unit/b.test.ts > is in the spec'])

const judge = (change: Partial<CoverageRow>, tests: ReadonlySet<string> = both): ReturnType<typeof judgeCoverage> =>
  judgeCoverage([{ title: 'things', rows: [{ ...row, ...change }] }], tests)

describe('a fact', () => {
  test('whose tests exist is no gap, and the table names them', () => {
    const { page, table, gaps } = judge({})
    expect(gaps).toEqual([])
    expect(table).toContain('[contract/a](../test/contract/a.test.ts "of things > is kept")')
    expect(table).toContain('[unit/b](../test/unit/b.test.ts "is in the spec")')
    expect(page).toContain('| things | 1 | 1 | 0 | 1 | 0 | 0 |')
  })

  test('is a gap on the side whose test does not exist under just that name', () => {
    const renamed = new Set(['contract/a.test.ts > of things > is kept well', 'unit/b.test.ts > is in the spec'])
    expect(judge({}, renamed).gaps).toEqual([expect.stringContaining('emulator: no test contract/a.test.ts')])
    expect(judge({}, new Set()).gaps).toHaveLength(2)
  })

  test('that names no test on a side is a gap there', () => {
    expect(judge({ emulator: [] }).gaps).toEqual(['things.name, limit: emulator: no test is named'])
    expect(judge({ operator: { tests: [] } }).gaps).toEqual(['things.name, limit: operator: no test is named'])
  })

  test('that is not due yet on a side is shown as due there, and only there', () => {
    const { page, table, gaps } = judge({ due: 'later' }, new Set())
    expect(gaps).toEqual([expect.stringContaining('operator')])
    expect(table).toContain('*due*')
    expect(page).toContain('| things | 1 | 0 | 1 | 1 | 0 | 0 |')
    expect(judge({ due: 'later', operatorDue: 'later' }, new Set()).gaps).toEqual([])
  })

  test('that concerns the server only says why', () => {
    const { page, table, gaps } = judge({ operator: { serverOnly: 'nobody asks' } })
    expect(gaps).toEqual([])
    expect(table).toContain('server only: nobody asks')
    expect(page).toContain('| things | 1 | 1 | 0 | 0 | 0 | 1 |')
  })

  test('in a sentence is held by tests that bear it, with whatever follows a colon', () => {
    const emulator = ['contract/* > it is kept*']
    const held = (name: string): boolean => judge({ emulator }, new Set([...both, name])).gaps.length === 0
    expect(held('contract/x.test.ts > of things > it is kept')).toBe(true)
    expect(held('contract/x.test.ts > it is kept: at create')).toBe(true)
    expect(held('contract/x.test.ts > it is kept for long')).toBe(false)
    expect(held('unit/x.test.ts > it is kept')).toBe(false)
  })

  test('may name the beginning of a title', () => {
    expect(judge({ operator: { tests: ['unit/b.test.ts > is in …'] } }).gaps).toEqual([])
    expect(judge({ operator: { tests: ['unit/b.test.ts > was in …'] } }).gaps).toHaveLength(1)
  })
})
