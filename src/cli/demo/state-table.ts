import type { KubeObject } from '../../kube/types.ts'
import type { ResourceName } from '../../managed/cr.ts'
import type { Line } from '../terminal/line.ts'
import { type Column, tableLines as linesOf } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

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

/** State of a resource without a condition Ready for its current spec. */
const WAITING = 'Waiting'

/** State of one resource, as text. */
export interface Row {
  readonly kind: string
  readonly name: string
  /** Id at the API; empty while there is none, and for accounts. */
  readonly id: string
  /** Reason of the condition Ready, or `WAITING`. */
  readonly state: string
  readonly message: string
  readonly ready: boolean
}

/** The row of a resource as last seen; undefined: not seen yet. */
export function rowOf({ kind, name }: ResourceName, object: KubeObject | undefined): Row {
  const status = (object?.status ?? {}) as Status
  const ready = status.conditions?.find(({ type }) => type === 'Ready')
  // A condition for an older spec says nothing about this one.
  const current = ready?.observedGeneration === object?.metadata.generation ? ready : undefined
  return {
    kind,
    name,
    id: status.id ?? '',
    state: current?.reason ?? WAITING,
    message: current?.message ?? '',
    ready: current?.status === 'True',
  }
}

/** The parts of a status that are shown. */
interface Status {
  readonly id?: string
  readonly conditions?: readonly {
    readonly type: string
    readonly status: string
    readonly reason: string
    readonly message: string
    readonly observedGeneration?: number
  }[]
}

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
