import { writeFile } from 'node:fs/promises'

/** One line of the table: a figure and, where there is one, the floor that was taken in the same run. */
export interface Row {
  /** What was done. */
  readonly load: string
  /** What of it is shown. */
  readonly figure: string
  readonly value: number
  /** `''` for counts and ratios. */
  readonly unit: '' | 's' | 'ms' | 'KiB' | 'MiB' | 'MiB/s'
  /** The same figure of a program that makes the necessary requests and nothing else; of churn, that before it. */
  readonly floor?: number
}

/** `value` as a multiple of its floor; undefined without one. */
export function ratioOf({ value, floor }: Row): number | undefined {
  return floor === undefined || floor === 0 ? undefined : value / floor
}

/** The table as people read it. */
export function print(rows: readonly Row[]): void {
  const cells = rows.map((row) => [row.load, row.figure, shown(row, row.value), shown(row, row.floor), ratioText(row)])
  const table = [HEADINGS, ...cells]
  const widths = HEADINGS.map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)))
  for (const line of table) {
    console.log(line.map((cell, column) => pad(cell, widths[column] ?? 0, column > 1)).join('  '))
  }
}

const HEADINGS = ['load', 'figure', 'measured', 'floor', 'ratio']

/** Writes the table for programs: an array of rows, each with its `ratio`. */
export async function writeJSON(path: string, rows: readonly Row[]): Promise<void> {
  await writeFile(
    path,
    `${JSON.stringify(
      rows.map((row) => ({ ...row, ratio: ratioOf(row) })),
      null,
      2,
    )}\n`,
  )
}

/**
 * The exponent of growth between two sizes: 1 if twice as many cost twice as much.
 * @param small size and cost
 * @param large size and cost
 */
export function exponentOf(small: readonly [number, number], large: readonly [number, number]): number {
  return Math.log(large[1] / small[1]) / Math.log(large[0] / small[0])
}

function shown({ unit }: Row, value: number | undefined): string {
  if (value === undefined) return ''
  const digits = unit.includes('iB') || Number.isInteger(value) ? 0 : 2
  return `${value.toFixed(digits)}${unit === '' ? '' : ` ${unit}`}`
}

function ratioText(row: Row): string {
  return ratioOf(row)?.toFixed(2) ?? ''
}

function pad(cell: string, width: number, isNumber: boolean): string {
  return isNumber ? cell.padStart(width) : cell.padEnd(width)
}
