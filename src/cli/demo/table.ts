import type { Line } from '../terminal/line.ts'
import { type Column, tableLines as linesOf } from '../terminal/table.ts'
import type { Row } from './rows.ts'

const COLUMNS: readonly Column[] = [
  { heading: 'KIND' },
  { heading: 'NAME' },
  { heading: 'ID', shrinksTo: 8 },
  { heading: 'STATE' },
  { heading: 'MESSAGE' },
]

/** Lines of a table for a terminal `width` columns wide: coloured states, no line longer than the terminal. */
export function tableLines(rows: readonly Row[], width: number): readonly Line[] {
  const cells = rows.map(({ kind, name, id, state, message, ready }) => {
    const style = ready ? 'green' : 'yellow'
    return [{ text: kind }, { text: name }, { text: id || '-' }, { text: state, style } as const, { text: message }]
  })
  return linesOf(COLUMNS, cells, width)
}

/** One resource on one line, for output that is not a terminal. */
export function rowLine({ kind, name, id, state, message }: Row): string {
  return [`${kind}/${name}`, id, state, message].filter((part) => part !== '').join('  ')
}
