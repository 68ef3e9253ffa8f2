import type { Terminal } from '../terminal/terminal.ts'
import { type Row, WAITING } from './rows.ts'
import { rowLine, tableLines } from './table.ts'

/** Shows the state of the resources repeatedly. */
export interface Screen {
  /** `rows`: always the same resources. `elapsedMs`: time since the resources were applied. */
  show(rows: readonly Row[], elapsedMs: number): void
}

/** A table redrawn in place if there is a terminal high enough for it; otherwise a line for each change. */
export function createScreen(output: Terminal, count: number): Screen {
  if (count + 2 > output.height) return new ChangeLines(output)
  return { show: (rows) => output.redraw(tableLines(rows, output.tableWidth)) }
}

class ChangeLines implements Screen {
  readonly #output: Terminal
  /** The last line of each row: two namespaces may have resources of one name. */
  readonly #shown = new Map<number, string>()

  constructor(output: Terminal) {
    this.#output = output
  }

  show(rows: readonly Row[], elapsedMs: number): void {
    const time = `${(elapsedMs / 1000).toFixed(1)} s`.padStart(7)
    for (const [index, row] of rows.entries()) {
      const line = rowLine(row)
      const before = this.#shown.get(index)
      // A resource that is not known yet is not worth a line.
      if (before === line || (before === undefined && row.state === WAITING)) continue
      this.#shown.set(index, line)
      this.#output.print(`${time}  ${line}`)
    }
  }
}
