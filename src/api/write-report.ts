import type { WriteOutcome, WriteReport } from '../telemetry/write-origin.ts'
import { ApiError, saysAbsent } from './errors.ts'
import type { ApiAnswer, OutgoingRequest } from './types.ts'

/**
 * What an audit record says of one request, from the answer or error that it ended with. Undefined for a request that
 * changes nothing or was certainly not sent.
 */
export function writeReport(
  outgoing: OutgoingRequest,
  ended: Omit<ApiAnswer, 'sentAt'> | Error | undefined,
  seconds: number,
): WriteReport | undefined {
  const { method, collection, command, options } = outgoing
  if (method === 'GET') return undefined
  const base = { origin: options.origin, method, collection, command, fields: fieldsOf(outgoing), seconds }
  if (ended === undefined || ended instanceof Error) {
    const failure = failureOf(ended)
    return failure === undefined ? undefined : { ...base, objectId: outgoing.id, ...failure }
  }
  const { status, operationId } = ended
  const objectId = outgoing.id ?? idIn(ended.body)
  // A create that was answered without an id may have made something.
  const outcome: WriteOutcome = saysAbsent(status) ? 'absent' : objectId === undefined ? 'unknown' : 'done'
  return { ...base, objectId, outcome, status, operationId, error: undefined, apiErrorCode: undefined }
}

type Ending = Pick<WriteReport, 'outcome' | 'status' | 'error' | 'apiErrorCode' | 'operationId'>

function failureOf(error: Error | undefined): Ending | undefined {
  if (!(error instanceof ApiError)) {
    return {
      outcome: 'unknown',
      status: undefined,
      error: undefined,
      apiErrorCode: undefined,
      operationId: undefined,
    }
  }
  const { definite, status, code, errorCode, operationId } = error
  if (definite && status === undefined) return undefined
  return { outcome: definite ? 'refused' : 'unknown', status, error: code, apiErrorCode: errorCode, operationId }
}

function fieldsOf({ body, id }: OutgoingRequest): readonly string[] {
  const names = Object.keys(body ?? {})
  return (id === undefined ? names : names.filter((name) => name !== 'id')).sort()
}

function idIn(body: unknown): string | undefined {
  const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : undefined
  return typeof id === 'string' && id !== '' ? id : undefined
}
