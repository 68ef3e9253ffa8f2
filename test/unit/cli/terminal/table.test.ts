import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lineText } from '../../../../src/cli/terminal/line.ts'
import { type Cell, tableLines } from '../../../../src/cli/terminal/table.ts'

const COLUMNS = [
  { heading: 'OBJECT', shrinksTo: 6 },
  { heading: 'NOTE', wraps: true },
] as const

function linesOf(rows: readonly (readonly Cell[])[], width: number): readonly string[] {
  return tableLines(COLUMNS, rows, width).map((line) => lineText(line))
}

test('a column that wraps continues below itself', () => {
  const note = 'Backend/next does not exist: create it'
  expect(linesOf([[{ text: 'Backend/web' }, { text: note }]], 38)).toEqual([
    'OBJECT       NOTE',
    'Backend/web  Backend/next does not',
    '             exist: create it',
  ])
})

test('nothing wraps where a line has no end, as in a pipe', () => {
  const note = 'Backend/next does not exist: '.repeat(20).trim()
  const [, line, ...others] = linesOf([[{ text: 'Backend/web' }, { text: note }]], Number.POSITIVE_INFINITY)
  expect(line).toBe(`Backend/web  ${note}`)
  expect(others).toEqual([])
})

test('a column that wraps loses nothing, and no line is too long', () => {
  const word = fc.stringMatching(/^[a-z/:]{1,60}$/)
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), fc.integer({ min: 40, max: 160 }), (words, width) => {
      const lines = linesOf([[{ text: 'Edge/shop' }, { text: words.join(' ') }]], width)
      expect(lines.filter((line) => line.length > width)).toEqual([])
      const column = lines[0]?.indexOf('NOTE')
      const shown = lines.slice(1).map((line) => line.slice(column))
      expect(shown.join('').replaceAll(' ', '')).toBe(words.join(''))
    }),
  )
})
