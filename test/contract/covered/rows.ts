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
function ruleRow({ id, statement, source, due, operatorDue = due, operator = { tests: [] } }: RuleFact): CoverageRow {
  return { id, statement, source, due, operatorDue, emulator: [`contract/* > ${statement}*`], operator }
}

/** Sessions are read and told what to do; no kind of the operator does either yet. */
function sessionRows(): readonly CoverageRow[] {
  const { path, source, due, operatorDue, listKey, idPrefix } = tunnelSessions
  const row = (id: string, statement: string, title: string): CoverageRow => {
    const emulator = [`contract/tunnel-sessions.test.ts > ${title}`]
    return { id, statement, source, due, operatorDue, emulator, operator: { tests: [] } }
  }
  const shows = 'a session has every field of the contract, in its list as by its id'
  return [
    row(`${path}, GET one`, 'answers 200 with the session', shows),
    row(`${path}, GET all`, `answers 200 with the list under ${listKey}`, shows),
    row(`${path}, id`, `begins with ${idPrefix}`, shows),
    row(`${path}, document`, 'is described in the OpenAPI document', 'every answer about sessions is as documented'),
    ...tunnelSessions.fields.map(({ name }) => row(`${path}.${name}`, 'is in every response', shows)),
    ...tunnelSessions.commands.map(({ id, path: command, statement }) =>
      row(id, statement, `${command}: ${statement}`),
    ),
  ]
}
