import { closeSync, openSync, writeSync } from 'node:fs'
import type { Clock } from '../util/clock.ts'
import { type Logger, Rarely } from '../util/logger.ts'
import { jsonText } from '../util/printable.ts'
import type { WriteReport } from './write-origin.ts'

/** Where audit records go: `-` is standard output, `off` is nowhere, anything else is a file to append to. */
export type AuditDestination = '-' | 'off' | (string & {})

export interface AuditLogOptions {
  readonly destination: AuditDestination
  readonly clock: Clock
  readonly logger: Logger
  /** Called for each failure to write a record. */
  readonly onFailure?: (() => void) | undefined
}

/** Writes one line for each request that changes something at the API: who, why, what and how it ended. */
export interface AuditLog {
  /** `account` as `Account/namespace/name`. */
  record(account: string, report: WriteReport): void
  /** Nothing may be recorded afterwards. */
  close(): void
}

const OFF: AuditLog = { record: () => undefined, close: () => undefined }

/**
 * Opens the audit log. A line that cannot be written later does not stop the work: it is counted, and logged now and
 * then.
 *
 * @throws the system's error when the file cannot be opened.
 */
export function openAuditLog({ destination, clock, logger, onFailure }: AuditLogOptions): AuditLog {
  if (destination === 'off') return OFF
  const rarely = new Rarely(clock, (error, times) => {
    logger.error({ err: error, times }, 'audit records could not be written')
  })
  const failed = (error: unknown): void => {
    onFailure?.()
    rarely.happened(error)
  }
  const { write, close } = destination === '-' ? standardOutput(failed) : file(destination)
  return {
    record: (account, report) => {
      try {
        write(`${jsonText(auditRecord(account, report, clock.now()))}\n`)
      } catch (error) {
        failed(error)
      }
    },
    close,
  }
}

interface Sink {
  readonly write: (line: string) => void
  readonly close: () => void
}

/** Node writes to it synchronously, as `file` does: a crash must not lose the record of a request. */
function standardOutput(failed: (error: unknown) => void): Sink {
  process.stdout.on('error', failed)
  return {
    write: (line) => void process.stdout.write(line),
    close: () => undefined,
  }
}

function file(path: string): Sink {
  const descriptor = openSync(path, 'a')
  return { write: (line) => void writeSync(descriptor, line), close: () => closeSync(descriptor) }
}

/** As in lines of the log, with which records may share a stream. */
const INFO = 30
const WARN = 40

/**
 * A report as a record, with the envelope of a log line: `level`, `time` and `msg`. `at` is when the request ended.
 * Unknown fields are left out.
 */
export function auditRecord(account: string, report: WriteReport, at: number) {
  const { origin, method, collection, command, objectId, fields, outcome, status, error, apiErrorCode, operationId } =
    report
  return {
    audit: true,
    level: outcome === 'done' || outcome === 'absent' ? INFO : WARN,
    time: new Date(at).toISOString(),
    msg: `${method} ${collection} ${outcome}`,
    resource: origin?.resource,
    reason: origin?.reason,
    account,
    method,
    collection,
    objectId,
    command,
    fields: fields.length === 0 ? undefined : fields,
    outcome,
    status,
    error,
    apiErrorCode,
    operationId,
    durationMs: Math.round(report.seconds * 1000),
  }
}
