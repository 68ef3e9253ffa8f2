import { cut, escaped } from '../../util/printable.ts'
import { type Span, type Style, wrap } from './line.ts'

/** A column of a table. */
export interface Column {
  readonly heading: string
  /** A narrow terminal shortens the column to no less than this. Absent: it keeps its width. */
  readonly shrinksTo?: number
  /** What does not fit goes into further lines. Absent: it is cut. Only for the last column. */
  readonly wraps?: boolean
}

/** A cell. */
export interface Cell {
  readonly text: string
  readonly style?: Style
}

const GAP = '  '

/** At least this much is left for the last column where others can be shortened for it. */
const LEAST_LAST = 24

/** A table as it is printed: each row has one line, or several where its last cell wraps. */
export interface Table {
  readonly heading: readonly Span[]
  readonly rows: readonly (readonly (readonly Span[])[])[]
}

/**
 * A table with aligned columns, no line of which is longer than `width`. The last column takes what is left, and is cut
 * or wrapped at the end of the line; where a word of it would be broken, all of it is below the row instead.
 */
export function tableOf(columns: readonly Column[], given: readonly (readonly Cell[])[], width: number): Table {
  const rows = given.map((cells) => cells.map((cell) => ({ ...cell, text: escaped(cell.text) })))
  const headings = columns.map(({ heading }) => ({ text: heading }))
  const widths = widthsFor(columns, [headings, ...rows], width)
  const wraps = columns.at(-1)?.wraps === true && Number.isFinite(width)
  const linesOf = (cells: readonly Cell[]) => (wraps ? wrapped(cells, widths, width) : [cells])
  return {
    heading: lineOf(headings, widths, width),
    rows: rows.map((cells) => linesOf(cells).map((line) => lineOf(line, widths, width))),
  }
}

/** The lines of `tableOf`, headings first. */
export function tableLines(
  columns: readonly Column[],
  given: readonly (readonly Cell[])[],
  width: number,
): readonly (readonly Span[])[] {
  const { heading, rows } = tableOf(columns, given, width)
  return [heading, ...rows.flat()]
}

/** Widths of all columns but the last. */
function widthsFor(columns: readonly Column[], lines: readonly (readonly Cell[])[], width: number): readonly number[] {
  const natural = columns.slice(0, -1).map((_, index) => {
    return Math.max(...lines.map((cells) => cells[index]?.text.length ?? 0))
  })
  let missing = natural.reduce((sum, each) => sum + each + GAP.length, LEAST_LAST) - width
  return natural.map((each, index) => {
    const least = Math.min(each, columns[index]?.shrinksTo ?? each)
    const shortened = Math.max(least, each - Math.max(0, missing))
    missing -= each - shortened
    return shortened
  })
}

/** Space before what is below a row. */
const INDENT = '    '

/** The row, with a row for each further line of its last cell. */
function wrapped(cells: readonly Cell[], widths: readonly number[], width: number): readonly (readonly Cell[])[] {
  const last = cells.at(-1)
  if (last === undefined) return [cells]
  const column = Math.max(1, width - widths.reduce((sum, each) => sum + each + GAP.length, 0))
  const longest = Math.max(...last.text.split(' ').map((word) => word.length))
  if (longest > column) {
    const below = linesIn(last.text, width - INDENT.length).map((text) => [{ ...last, text: `${INDENT}${text}` }])
    return [cells.slice(0, -1), ...below]
  }
  const [first = '', ...others] = linesIn(last.text, column)
  const blank = widths.map(() => ({ text: '' }))
  return [[...cells.slice(0, -1), { ...last, text: first }], ...others.map((text) => [...blank, { ...last, text }])]
}

/** The text in lines of at most `room` characters, which break longer words. */
function linesIn(text: string, room: number): readonly string[] {
  const words = new RegExp(`.{1,${room}}`, 'gu')
  return wrap(text, room).flatMap((line) => line.match(words) ?? [])
}

function lineOf(cells: readonly Cell[], widths: readonly number[], width: number): readonly Span[] {
  let plain = 0
  return cells.flatMap(({ text, style }, index): readonly Span[] => {
    const isLast = index === cells.length - 1
    const room = Math.max(0, isLast ? width - plain : Math.min(widths[index] ?? width, width - plain))
    const shown = cut(text, room)
    const gap = isLast ? '' : ' '.repeat(Math.min((widths[index] ?? 0) - shown.length + GAP.length, width))
    plain += shown.length + gap.length
    return [style === undefined || shown === '' ? shown : { text: shown, style }, gap]
  })
}
