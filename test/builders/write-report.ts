import type { WriteReport } from '../../src/telemetry/write-origin.ts'

/** A report of an update that the API carried out, but for these fields. */
export function writeReport(fields: Partial<WriteReport> = {}): WriteReport {
  return {
    origin: { reason: 'drift', resource: { kind: 'IPPolicy', namespace: 'shop', name: 'office', uid: 'u-1' } },
    method: 'PATCH',
    collection: 'ip_policies',
    objectId: 'ipp_1',
    command: undefined,
    fields: ['description'],
    outcome: 'done',
    status: 200,
    error: undefined,
    apiErrorCode: undefined,
    operationId: 'op_1',
    seconds: 0.0123,
    ...fields,
  }
}
