import { allCollections } from '../facts/all.ts'
import type { RuleFact } from '../facts/facts.ts'
import { allRules } from '../facts/rules/all.ts'
import { tunnelSessions } from '../facts/tunnel-sessions.ts'
import { collectionRows } from './collection-rows.ts'
import { fieldRows } from './field-rows.ts'
import { objectRows } from './object-rows.ts'
import type { CoverageRow } from './row.ts'

/** Facts under one heading. */
export interface CoverageSection {
  readonly title: string
  readonly rows: readonly CoverageRow[]
}

/** Every row of the table of facts. */
export function coverage(): readonly CoverageSection[] {
  return [
    ...allCollections.map((row) => ({
      title: row.path,
      rows: [...collectionRows(row), ...row.fields.flatMap((field) => fieldRows(row, field))],
    })),
    { title: 'objects inside resources', rows: objectRows() },
    { title: 'rules', rows: allRules.map(ruleRow) },
    { title: tunnelSessions.path, rows: sessionRows() },
  ]
}

/** The tests of a rule bear its sentence; `*` stands for whatever is around it. */
function ruleRow({ id, statement, source, due, operator = { tests: [] } }: RuleFact): CoverageRow {
  return { id, statement, source, due, operatorDue: due, emulator: [`contract/* > ${statement}*`], operator }
}

/** Nobody has agents and tunnels yet. */
function sessionRows(): readonly CoverageRow[] {
  const { path, source, due } = tunnelSessions
  const row = (id: string, statement: string): CoverageRow => {
    return { id, statement, source, due, operatorDue: due, emulator: [], operator: { tests: [] } }
  }
  return [
    ...tunnelSessions.fields.map(({ name }) => row(`${path}.${name}`, 'is in every response')),
    ...tunnelSessions.commands.map(({ id, statement }) => row(id, statement)),
  ]
}
