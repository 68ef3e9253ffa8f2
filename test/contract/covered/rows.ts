import { allCollections } from '../facts/all.ts'
import type { OperatorSide, RuleFact } from '../facts/facts.ts'
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

/** The tests of a rule have its sentence as title; `*` matches anything around it. */
function ruleRow({ id, statement, source, due, operatorDue = due, operator = { tests: [] } }: RuleFact): CoverageRow {
  return { id, statement, source, due, operatorDue, emulator: [`contract/* > ${statement}*`], operator }
}

/** Sessions are read and receive commands. */
function sessionRows(): readonly CoverageRow[] {
  const { path, source, due, operatorDue, listKey, idPrefix } = tunnelSessions
  const row = (id: string, statement: string, title: string, operator: OperatorSide): CoverageRow => {
    const emulator = [`contract/tunnel-sessions.test.ts > ${title}`]
    return { id, statement, source, due, operatorDue, emulator, operator }
  }
  const cluster = (title: string): string => `cluster/tunnel-sessions.test.ts > ${title}`
  const shows = 'a session has every field of the contract, in its list as by its id'
  const mirrored = cluster(
    'online sessions show every field of the contract, and edits and deletions by hand are reverted',
  )
  const inStatus = 'unit/managed/sessions/mirror-plan.test.ts > every field of the contract is in the status'
  return [
    row(`${path}, GET one`, 'answers 200 with the session', shows, { serverOnly: 'the operator lists sessions' }),
    row(`${path}, GET all`, `answers 200 with the list under ${listKey}`, shows, { tests: [mirrored] }),
    row(`${path}, id`, `begins with ${idPrefix}`, shows, { serverOnly: 'the operator takes ids as they come' }),
    row(`${path}, document`, 'is described in the OpenAPI document', 'every answer about sessions is as documented', {
      serverOnly: 'the document is the emulator’s',
    }),
    ...tunnelSessions.fields.map(({ name }) => {
      return row(`${path}.${name}`, 'is in every response', shows, { tests: [inStatus, mirrored] })
    }),
    ...tunnelSessions.commands.map(({ id, path: command, statement }) => {
      return row(id, statement, `${command}: ${statement}`, { tests: [cluster(COMMANDS[command] ?? '')] })
    }),
  ]
}

/** By the path of a command, the test in which the operator sends it to an agent. */
const COMMANDS: Readonly<Record<string, string>> = {
  restart: 'an ended session disappears, a restarted agent shows under its new id, and disabled mirroring removes all',
  stop: 'an ended session disappears, a restarted agent shows under its new id, and disabled mirroring removes all',
  update: 'an agent that is updated and restarted runs the new version: the restart comes ten seconds later',
}
