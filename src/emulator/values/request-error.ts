import type { Choices } from '../choices/choices.ts'
import type { JsonObject } from './json.ts'

interface ErrorKind {
  /** Value of `error_code` in the body. Never reused for another meaning. */
  readonly code: string
  /** HTTP status of the answer, repeated as `status_code` in the body. */
  readonly status: number
  /** When it is answered; the reference page of the errors is generated from this. */
  readonly meaning: string
}

/**
 * Every error that the emulator answers, in one place. `docs/emulator.md` lists the same table (a test keeps the two
 * equal). The contract shows neither bodies nor codes; `api-decisions.md § Errors` decides them.
 */
export const ERRORS = {
  malformedJson: { code: 'ERR_1001', status: 400, meaning: 'The request body is not valid JSON in UTF-8.' },
  notAnObject: { code: 'ERR_1002', status: 400, meaning: 'The request body is JSON, but not an object.' },
  bodyTooLarge: { code: 'ERR_1003', status: 413, meaning: 'The request body is larger than 1 MiB.' },
  mediaType: { code: 'ERR_1004', status: 415, meaning: 'A body was sent without Content-Type application/json.' },
  version: { code: 'ERR_1005', status: 400, meaning: 'The version header is missing or names another version than 2.' },
  query: { code: 'ERR_1006', status: 400, meaning: 'A query parameter of a list is invalid (limit, before_id).' },
  badRequest: {
    code: 'ERR_1007',
    status: 400,
    meaning: 'The request line or the framing of the request is malformed.',
  },

  unauthenticated: { code: 'ERR_2001', status: 401, meaning: 'The bearer token is missing, malformed or unknown.' },
  inactive: {
    code: 'ERR_2002',
    status: 403,
    meaning: 'The bot user that owns the API key or credential is not active.',
  },
  ownerForbidden: { code: 'ERR_2003', status: 403, meaning: 'Only an admin may name another owner than themselves.' },
  rateLimited: { code: 'ERR_2004', status: 429, meaning: 'Too many requests with this API key; see Retry-After.' },
  sourceRefused: {
    code: 'ERR_2005',
    status: 403,
    meaning: 'An enforced IP restriction of the account does not admit the source address.',
  },

  bindForbidden: {
    code: 'ERR_2006',
    status: 403,
    meaning: 'The ACL of the credential does not permit what the agent would bind.',
  },

  unknownRoute: { code: 'ERR_3001', status: 404, meaning: 'No such path.' },
  methodNotAllowed: { code: 'ERR_3002', status: 405, meaning: 'The path exists, but not with this method; see Allow.' },
  notFound: { code: 'ERR_3004', status: 404, meaning: 'The id in the path names nothing in this account.' },

  unknownField: { code: 'ERR_4001', status: 400, meaning: 'The body has a field that the operation does not know.' },
  missingField: { code: 'ERR_4002', status: 400, meaning: 'A mandatory field is missing or null.' },
  invalidField: { code: 'ERR_4003', status: 400, meaning: 'The value of a field is not allowed.' },
  fixedField: { code: 'ERR_4004', status: 400, meaning: 'The field is fixed when the object is created.' },
  unknownReference: { code: 'ERR_4005', status: 400, meaning: 'An id in the body names nothing in this account.' },
  exclusiveFields: { code: 'ERR_4006', status: 400, meaning: 'Two fields of the body exclude each other.' },
  cycle: { code: 'ERR_4007', status: 400, meaning: 'A backend would contain itself.' },

  taken: { code: 'ERR_5001', status: 409, meaning: 'The value must be unique and is taken.' },
  inUse: { code: 'ERR_5002', status: 409, meaning: 'The object is still in use by the objects named.' },

  restartUnsupported: {
    code: 'ERR_5003',
    status: 409,
    meaning: 'The agent cannot restart itself: it runs on Windows, or is an SSH client.',
  },
  noUpdate: { code: 'ERR_5004', status: 409, meaning: 'There is no update for the agent in its major version.' },
  updateChecksDisabled: {
    code: 'ERR_5005',
    status: 409,
    meaning: 'The configuration of the agent disables update checks.',
  },
  updateRunning: { code: 'ERR_5006', status: 409, meaning: 'The agent is already updating itself.' },
  updateInstalled: {
    code: 'ERR_5007',
    status: 409,
    meaning: 'The agent has updated itself and was not restarted yet.',
  },

  internal: { code: 'ERR_9001', status: 500, meaning: 'The emulator failed; the operation id is in its log.' },
  unavailable: { code: 'ERR_9002', status: 503, meaning: 'The service is temporarily unavailable.' },
  injected: { code: 'ERR_9003', status: 500, meaning: 'Injected by a fault with a status that no other code has.' },
  storage: {
    code: 'ERR_9004',
    status: 503,
    meaning: 'The data file cannot be used now: its disk is full, or it is locked, damaged or not writable.',
  },
} as const satisfies Record<string, ErrorKind>

export type ErrorName = keyof typeof ERRORS

/** A refusal by the emulated API: thrown anywhere below a route, answered in one place. */
export class RequestError extends Error {
  readonly code: ErrorName
  /** Facts for the caller's program, all strings: `field`, `id`, `ids`, … */
  readonly details: Readonly<Record<string, string>>
  /** Response headers that belong to the refusal, such as `retry-after`. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorName,
    message: string,
    details: Record<string, string> = {},
    headers: Record<string, string> = {},
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = 'RequestError'
    this.code = code
    this.details = details
    this.headers = headers
  }
}

/** Refuses the value of the body field at path `at` (dots between levels, `[n]` for list items). */
export function invalid(at: string, reason: string): RequestError {
  return new RequestError('invalidField', `${at}: ${reason}`, { field: at })
}

/** Refuses an id in a body that does not exist (`api-decisions.md § Requests`). */
export function unknownReference(at: string, id: string): RequestError {
  return new RequestError('unknownReference', `${at}: nothing in this account has the id ${JSON.stringify(id)}`, {
    field: at,
    id,
  })
}

/** A refusal as it is sent. */
export interface ErrorAnswer {
  readonly status: number
  readonly type: string
  readonly text: string
}

interface Said {
  readonly message: string
  readonly operationId: string
  readonly details?: Readonly<Record<string, string>>
}

/** The answer to a refused request, in the chosen shape. */
export function errorAnswer(choices: Choices, name: ErrorName, { message, operationId, details }: Said): ErrorAnswer {
  const status = statusOf(choices, name)
  const json = (body: JsonObject, type = 'application/json'): ErrorAnswer => ({
    status,
    type,
    text: JSON.stringify(body),
  })
  switch (choices['error-body']) {
    case 'documented':
      return json({ ...errorBody(name, message, operationId, details), status_code: status })
    case 'error':
      return json({ error: message })
    case 'message':
      return json({ message })
    case 'nested':
      return json({ error: { message, type: name } })
    case 'problem':
      return json({ type: 'about:blank', title: name, status, detail: message }, 'application/problem+json')
    case 'text':
      return { status, type: 'text/plain; charset=utf-8', text: message }
    case 'none':
      return { status, type: 'text/plain; charset=utf-8', text: '' }
  }
}

function statusOf(choices: Choices, name: ErrorName): number {
  const { status, code } = ERRORS[name]
  if (name === 'notFound') return choices['unknown-id'] === 'gone' ? 410 : status
  if (name === 'unknownReference' && choices['unknown-reference'] !== 'invalid') {
    return choices['unknown-reference'] === 'conflict' ? 409 : 404
  }
  switch (choices['refusal-status']) {
    case 'by-class':
      return status
    case 'unprocessable':
      return status === 400 && code.startsWith('ERR_4') ? 422 : status
    case 'bad-request':
      return status === 409 ? 400 : status
    case 'precondition-failed':
      return status === 409 || (status === 400 && code.startsWith('ERR_4')) ? 412 : status
  }
}

/** The body of every non-2xx answer (`api-decisions.md § Errors`). */
export function errorBody(
  name: ErrorName,
  message: string,
  operationId: string,
  details: Readonly<Record<string, string>> = {},
): JsonObject {
  const kind = ERRORS[name]
  return {
    error_code: kind.code,
    status_code: kind.status,
    msg: message,
    details: { operation_id: operationId, ...details },
  }
}
