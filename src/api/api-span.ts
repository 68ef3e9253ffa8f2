import type { Attributes, Tracer } from '@opentelemetry/api'
import { inClientSpan, knownStatus, requestAttributes, responseAttributes, type SpanEnd } from '../telemetry/spans.ts'
import { ApiError } from './errors.ts'
import type { ApiAnswer, OutgoingRequest } from './types.ts'

/** How a request came to be sent. */
export interface Sending {
  /** How many times it was sent before. */
  readonly resends: number
  /** How long it waited for the account's rate budget. */
  readonly waitedSeconds: number
}

/**
 * Sends a request inside a span that follows the semantic conventions for HTTP clients. The only id in it is the
 * object's.
 */
export async function traced(
  tracer: Tracer | undefined,
  outgoing: OutgoingRequest,
  sending: Sending,
  send: () => Promise<ApiAnswer>,
): Promise<ApiAnswer> {
  return await inClientSpan(
    tracer,
    () => ({
      name: `${outgoing.method} ${templateOf(outgoing)}`,
      attributes: sendingAttributes(outgoing, sending),
      answered: ({ status, operationId }) => ({ attributes: answerAttributes(status, operationId) }),
      failed,
    }),
    send,
  )
}

function sendingAttributes(outgoing: OutgoingRequest, { resends, waitedSeconds }: Sending): Attributes {
  const { method, url, collection, id, options } = outgoing
  const { origin } = options
  return {
    ...requestAttributes(method, url),
    'url.template': templateOf(outgoing),
    'culvert.api.collection': collection,
    'culvert.api.rate_limit_wait_seconds': waitedSeconds,
    ...(resends === 0 ? {} : { 'http.request.resend_count': resends }),
    ...(id === undefined ? {} : { 'culvert.api.object_id': id }),
    ...(origin === undefined ? {} : { 'culvert.write.reason': origin.reason }),
  }
}

function answerAttributes(status: number | undefined, operationId: string | undefined): Attributes {
  return {
    ...responseAttributes(status),
    ...(operationId === undefined ? {} : { 'culvert.api.operation_id': operationId }),
  }
}

function failed(error: unknown): SpanEnd {
  if (!(error instanceof ApiError)) return { attributes: {}, error: 'unexpected' }
  const { status, operationId, code } = error
  return { attributes: answerAttributes(status, operationId), error: knownStatus(status ?? code) }
}

/** `/edges/tcp/{id}`: the path with a placeholder for the id, so that spans of the same kind share a name. */
function templateOf({ collection, id, command }: OutgoingRequest): string {
  const object = id === undefined ? '' : '/{id}'
  return `/${collection}${object}${command === undefined ? '' : `/${command}`}`
}
