import type { PrinterColumn } from '../schema/definition.ts'

const ready = (field: 'status' | 'reason' | 'message'): string => `.status.conditions[?(@.type=="Ready")].${field}`

const state: readonly PrinterColumn[] = [
  { name: 'Ready', type: 'string', jsonPath: ready('status'), description: 'Status of the condition Ready.' },
  { name: 'Reason', type: 'string', jsonPath: ready('reason'), description: 'Reason of the condition Ready.' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Age of the resource.' },
  {
    name: 'Message',
    type: 'string',
    jsonPath: ready('message'),
    description: 'Message of the condition Ready.',
    priority: 1,
  },
]

/** Columns of a kind without a remote object: its own, then how it stands. */
export function stateColumns(...own: readonly PrinterColumn[]): readonly PrinterColumn[] {
  return [...own, ...state]
}

/** Columns of a managed kind: its own, the id at the API, then how it stands. */
export function managedColumns(...own: readonly PrinterColumn[]): readonly PrinterColumn[] {
  const id: PrinterColumn = {
    name: 'ID',
    type: 'string',
    jsonPath: '.status.id',
    description: 'Id of the remote object.',
  }
  return stateColumns(...own, id)
}

/** A column of text, shown always. */
export function textColumn(name: string, jsonPath: string, description: string): PrinterColumn {
  return { name, type: 'string', jsonPath, description }
}

/** A column of text, shown with `-o wide`. */
export function wideColumn(name: string, jsonPath: string, description: string): PrinterColumn {
  return { name, type: 'string', jsonPath, description, priority: 1 }
}

/** A column of a condition's status. */
export function conditionColumn(name: string, type: string, description: string): PrinterColumn {
  return { name, type: 'string', jsonPath: `.status.conditions[?(@.type=="${type}")].status`, description }
}
