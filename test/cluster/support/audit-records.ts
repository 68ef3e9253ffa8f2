import { readFile } from 'node:fs/promises'
import type { JournalEntry } from '../../../src/emulator/http/journal.ts'

/** A line of the operator's audit log (docs/telemetry.md). */
export interface AuditRecord {
  readonly audit: true
  readonly time: string
  readonly msg: string
  readonly resource: { readonly kind: string; readonly namespace?: string; readonly name: string; readonly uid: string }
  readonly reason: string
  readonly account: string
  readonly method: string
  readonly collection: string
  readonly objectId?: string
  readonly command?: string
  readonly fields?: readonly string[]
  readonly outcome: 'done' | 'absent' | 'refused' | 'unknown'
  readonly status?: number
  readonly error?: string
  readonly apiErrorCode?: string
  readonly operationId?: string
  readonly durationMs: number
}

export async function readAuditRecords(file: string): Promise<readonly AuditRecord[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
  return lines.map((line): AuditRecord => JSON.parse(line))
}

/** Path and method of a record's request. */
export function requestOf({ method, collection, objectId, command }: AuditRecord): string {
  const id = method === 'POST' && command === undefined ? undefined : objectId
  return [`${method} /${collection}`, id, command].filter((part) => part !== undefined).join('/')
}

/** UID of the CR in the marker of a create; undefined if it has no marker. */
export function markedUid({ body }: JournalEntry): string | undefined {
  const fields = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {}
  const text = fields.metadata ?? fields.name
  if (typeof text !== 'string') return undefined
  return /"uid":"([^"]+)"/.exec(text)?.[1] ?? /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text)?.[0]
}
