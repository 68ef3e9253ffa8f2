import { type Column, tableLines as linesOf } from '../terminal/table.ts'
import type { Row } from './rows.ts'

const COLUMNS: readonly Column[] = [
  { heading: 'KIND' },
  { heading: 'NAME' },
  { heading: 'ID', shrinksTo: 8 },
  { heading: 'STATE' },
  { heading: 'MESSAGE' },
]

const GREEN = '\u001b[32m'
const YELLOW = '\u001b[33m'
const UNCOLOURED = '\u001b[39m'

/** Lines of a table for a terminal `width` columns wide: coloured states, no line longer than the terminal. */
export function tableLines(rows: readonly Row[], width: number): readonly string[] {
  const cells = rows.map(({ kind, name, id, state, message, ready }) => {
    const paint = (text: string): string => `${ready ? GREEN : YELLOW}${text}${UNCOLOURED}`
    return [{ text: kind }, { text: name }, { text: id || '-' }, { text: state, paint }, { text: message }]
  })
  return linesOf(COLUMNS, cells, width)
}

/** One resource on one line, for output that is not a terminal. */
export function rowLine({ kind, name, id, state, message }: Row): string {
  return [`${kind}/${name}`, id, state, message].filter((part) => part !== '').join('  ')
}
