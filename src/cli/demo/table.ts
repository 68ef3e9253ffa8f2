import type { Row } from './rows.ts'

const HEADINGS = { kind: 'KIND', name: 'NAME', id: 'ID', state: 'STATE', message: 'MESSAGE' } as const
const GAP = '  '
/** A narrow terminal shortens ids to no less than this, to leave at least the width below for messages. */
const LEAST_ID = 8
const LEAST_MESSAGE = 24

const GREEN = '\u001b[32m'
const YELLOW = '\u001b[33m'
const UNCOLOURED = '\u001b[39m'

type Cells = Readonly<Record<keyof typeof HEADINGS, string>>

/** Widths of the columns before the message. */
type Widths = Readonly<Record<'kind' | 'name' | 'id' | 'state', number>>

/** Lines of a table for a terminal `width` columns wide: coloured states, no line longer than the terminal. */
export function tableLines(rows: readonly Row[], width: number): readonly string[] {
  const cells = rows.map((row) => ({ ...row, id: row.id || '-' }))
  const widths = widthsFor([HEADINGS, ...cells], width)
  return [
    lineOf(HEADINGS, widths, width).trimEnd(),
    ...cells.map((each) => painted(lineOf(each, widths, width).trimEnd(), widths, each)),
  ]
}

/** One resource on one line, for output that is not a terminal. */
export function rowLine({ kind, name, id, state, message }: Row): string {
  return [`${kind}/${name}`, id, state, message].filter((part) => part !== '').join(GAP)
}

function widthsFor(lines: readonly Cells[], width: number): Widths {
  const widest = (column: keyof Widths): number => Math.max(...lines.map((cells) => cells[column].length))
  const widths = { kind: widest('kind'), name: widest('name'), id: widest('id'), state: widest('state') }
  const missing = stateOffset(widths) + widths.state + GAP.length + LEAST_MESSAGE - width
  return missing <= 0 ? widths : { ...widths, id: Math.max(Math.min(LEAST_ID, widths.id), widths.id - missing) }
}

function lineOf(cells: Cells, widths: Widths, width: number): string {
  const line = [
    cells.kind.padEnd(widths.kind),
    cells.name.padEnd(widths.name),
    cut(cells.id, widths.id).padEnd(widths.id),
    cells.state.padEnd(widths.state),
    cells.message,
  ]
  return cut(line.join(GAP), width)
}

/** Colours the state last, since escape sequences take no width. */
function painted(line: string, widths: Widths, { state, ready }: Pick<Row, 'state' | 'ready'>): string {
  const start = stateOffset(widths)
  const end = start + state.length
  const colour = ready ? GREEN : YELLOW
  return `${line.slice(0, start)}${colour}${line.slice(start, end)}${UNCOLOURED}${line.slice(end)}`
}

function stateOffset({ kind, name, id }: Widths): number {
  return kind + name + id + 3 * GAP.length
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(0, length - 1))}…`
}
