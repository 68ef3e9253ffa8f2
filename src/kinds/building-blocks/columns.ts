import type { PrinterColumn } from '../../schema/definition.ts'

type ConditionField = 'status' | 'reason' | 'message'

const of = (type: string, field: ConditionField): string => `.status.conditions[?(@.type=="${type}")].${field}`

const ready: PrinterColumn = conditionColumn('Ready', 'Ready', 'Status of the condition Ready.')
const reason: PrinterColumn = textColumn('Reason', of('Ready', 'reason'), 'Reason of the condition Ready.')
const age: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'Age of the resource.',
}
const message: PrinterColumn = wideColumn('Message', of('Ready', 'message'), 'Message of the condition Ready.')

/** Columns of a kind without a remote object: its own, then its state. */
export function stateColumns(...own: readonly PrinterColumn[]): readonly PrinterColumn[] {
  return [...own, ready, reason, age, message]
}

/**
 * Columns of a managed kind: its own, then its state. A refused edit leaves the resource Ready, since its object keeps
 * working as before; only Synced shows the refusal, so it is always shown. The id helps people who also use the API.
 */
export function managedColumns(...own: readonly PrinterColumn[]): readonly PrinterColumn[] {
  const synced = conditionColumn(
    'Synced',
    'Synced',
    'Whether the remote object matches the spec: status of the condition Synced.',
  )
  const id = wideColumn('ID', '.status.id', 'Id of the remote object.')
  const syncMessage = wideColumn('Sync message', of('Synced', 'message'), 'Message of the condition Synced.')
  return [...own, ready, synced, reason, age, id, message, syncMessage]
}

/** A column of text, shown always. */
export function textColumn(name: string, jsonPath: string, description: string): PrinterColumn {
  return { name, type: 'string', jsonPath, description }
}

/** A column of text, shown with `-o wide`. */
export function wideColumn(name: string, jsonPath: string, description: string): PrinterColumn {
  return { ...textColumn(name, jsonPath, description), priority: 1 }
}

/** A column of a condition's status. */
export function conditionColumn(name: string, type: string, description: string): PrinterColumn {
  return textColumn(name, of(type, 'status'), description)
}
