import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type Choices, DECIDED } from '../choices/choices.ts'
import { StorageError } from '../store/database.ts'
import { ERRORS, type ErrorName, errorAnswer, errorBody, RequestError } from '../values/request-error.ts'
import { acceptJson, BODY_LIMIT } from './route.ts'

/** Where the emulator's own failures are reported; refused requests are not failures. */
export type FailureLog = (message: string, error: unknown) => void

export interface ServerOptions {
  readonly newOperationId: () => string
  readonly logFailure: FailureLog
}

/** An empty HTTP server with the body rules and error answers that all parts of the emulator share. */
export function createServer({ newOperationId, logFailure }: ServerOptions): FastifyInstance {
  // The API has its own handler for refusals.
  const usual: ErrorOptions = { choices: DECIDED, logFailure, now: () => Date.now() }
  const app = Fastify({
    genReqId: newOperationId,
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 1024 },
    // Bytes that are not an HTTP request.
    clientErrorHandler: (_error, socket) => {
      if (socket.writable) socket.end(malformedAnswer(newOperationId()))
    },
    // Requests too malformed to reach a route.
    frameworkErrors: (error, request, reply) => {
      answerError(error, request, reply, usual)
    },
  })
  acceptJson(app)
  app.setErrorHandler((error, request, reply) => {
    answerError(error, request, reply, usual)
  })
  return app
}

/** How refusals are answered. */
export interface ErrorOptions {
  readonly choices: Choices
  readonly logFailure: FailureLog
  /** Wall time in milliseconds. */
  readonly now: () => number
}

/** Answers a request that failed, as chosen. */
export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { choices, logFailure, now }: ErrorOptions,
): void {
  const { code, message, details, headers } = toRefusal(error)
  const operationId = request.id
  if (code === 'internal' || code === 'storage') logFailure(`operation ${operationId} failed`, error)
  const { status, type, text } = errorAnswer(choices, code, { message, operationId, details })
  void reply
    .code(status)
    .headers({ 'operation-id': operationId, ...retryIn(choices['retry-after'], headers, now()) })
    .type(type)
    .send(text)
}

type Headers = RequestError['headers']

function retryIn(form: Choices['retry-after'], headers: Headers, now: number): Headers {
  const { 'retry-after': seconds, ...others } = headers
  if (seconds === undefined) return headers
  switch (form) {
    case 'seconds':
      return headers
    case 'date':
      return { ...others, 'retry-after': new Date(now + Number(seconds) * 1000).toUTCString() }
    case 'none':
      return others
  }
}

/** A complete HTTP answer, for a connection on which no request could be read. */
function malformedAnswer(operationId: string): string {
  const body = JSON.stringify(errorBody('badRequest', ERRORS.badRequest.meaning, operationId))
  return [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `operation-id: ${operationId}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}

/** Fastify's own refusals, mapped to the table of errors. */
const FRAMEWORK_ERRORS: Readonly<Record<string, ErrorName>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'bodyTooLarge',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'mediaType',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'badRequest',
  FST_ERR_BAD_URL: 'badRequest',
  FST_ERR_ASYNC_CONSTRAINT: 'badRequest',
}

function toRefusal(error: unknown): RequestError {
  if (error instanceof RequestError) return error
  if (error instanceof StorageError) {
    return new RequestError('storage', `${error.message}; nothing was changed`, {}, {}, { cause: error })
  }
  const code = error instanceof Error ? Reflect.get(error, 'code') : undefined
  const name = typeof code === 'string' ? FRAMEWORK_ERRORS[code] : undefined
  if (name === undefined) return new RequestError('internal', ERRORS.internal.meaning, {}, {}, { cause: error })
  return new RequestError(name, ERRORS[name].meaning, {}, {}, { cause: error })
}
