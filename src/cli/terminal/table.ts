/** A column of a table. */
export interface Column {
  readonly heading: string
  /** A narrow terminal shortens the column to no less than this. Absent: it keeps its width. */
  readonly shrinksTo?: number
}

/** A cell; `paint` adds escape sequences, which take no width. */
export interface Cell {
  readonly text: string
  readonly paint?: (text: string) => string
}

const GAP = '  '

/** At least this much is left for the last column where others can be shortened for it. */
const LEAST_LAST = 24

/**
 * Lines of a table with aligned columns, headings first, none longer than `width`. The last column takes what is left,
 * and is cut at the end of the line.
 */
export function tableLines(columns: readonly Column[], rows: readonly (readonly Cell[])[], width: number): string[] {
  const headings = columns.map(({ heading }) => ({ text: heading }))
  const widths = widthsFor(columns, [headings, ...rows], width)
  return [headings, ...rows].map((cells) => lineOf(cells, widths, width))
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

function lineOf(cells: readonly Cell[], widths: readonly number[], width: number): string {
  let plain = 0
  const parts = cells.map(({ text, paint = (same) => same }, index) => {
    const isLast = index === cells.length - 1
    const room = Math.max(0, Math.min(widths[index] ?? width, width - plain))
    const shown = cut(text, room)
    const gap = isLast ? '' : ' '.repeat(Math.min((widths[index] ?? 0) - shown.length + GAP.length, width))
    plain += shown.length + gap.length
    return `${shown === '' ? '' : paint(shown)}${gap}`
  })
  return parts.join('').trimEnd()
}

/** `text` in at most `length` characters. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(0, length - 1))}…`.slice(0, length)
}
