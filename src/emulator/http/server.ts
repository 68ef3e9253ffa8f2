import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { ERRORS, type ErrorName, errorBody, RequestError } from '../errors.ts'
import { StorageError } from '../store/storage-error.ts'
import { acceptJson, BODY_LIMIT } from './body.ts'

/** Where failures of the emulator itself are reported; refusals of requests are not failures. */
export type FailureLog = (message: string, error: unknown) => void

export interface ServerOptions {
  readonly newOperationId: () => string
  readonly logFailure: FailureLog
}

/** An empty HTTP server with the body rules and the error answers that all of the emulator shares. */
export function createServer({ newOperationId, logFailure }: ServerOptions): FastifyInstance {
  const app = Fastify({
    genReqId: newOperationId,
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 1024 },
    // Bytes that are no HTTP request at all.
    clientErrorHandler: (_error, socket) => {
      if (socket.writable) socket.end(malformedAnswer(newOperationId()))
    },
    // Requests that are too broken to reach a route.
    frameworkErrors: (error, request, reply) => {
      answerError(error, request, reply, logFailure)
    },
  })
  acceptJson(app)
  app.setErrorHandler((error, request, reply) => {
    answerError(error, request, reply, logFailure)
  })
  return app
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, logFailure: FailureLog): void {
  const refusal = toRefusal(error)
  const operationId = request.id
  if (refusal.code === 'internal' || refusal.code === 'storage') logFailure(`operation ${operationId} failed`, error)
  void reply
    .code(ERRORS[refusal.code].status)
    .headers({ 'operation-id': operationId, ...refusal.headers })
    .type('application/json')
    .send(JSON.stringify(errorBody(refusal.code, refusal.message, operationId, refusal.details)))
}

/** A whole HTTP answer, for a connection on which no request could be read. */
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

/** What fastify refuses by itself, in the terms of the table of errors. */
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
