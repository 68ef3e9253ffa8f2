import { STATUS_CODES } from 'node:http'
import { type Attributes, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'

/** What a span records once its work has ended. */
export interface SpanEnd {
  readonly attributes: Attributes
  /** Set when the work failed: one word, for `error.type`. */
  readonly error?: string | undefined
}

export interface ClientSpan<T> {
  readonly name: string
  readonly attributes: Attributes
  /** What to record of the answer. */
  readonly answered: (answer: T) => SpanEnd
  /** What to record of the failure. Error messages never go into a span: they may quote a server. */
  readonly failed: (error: unknown) => SpanEnd
}

/**
 * Does `work` inside a client span, a child of the active span. Without an active span nothing is traced: watches and
 * leader election run forever and belong to no reconcile. `describe` is called only if there is a span.
 */
export async function inClientSpan<T>(
  tracer: Tracer | undefined,
  describe: () => ClientSpan<T>,
  work: () => Promise<T>,
): Promise<T> {
  if (tracer === undefined || trace.getActiveSpan() === undefined) return await work()
  const { name, attributes, answered, failed } = describe()
  return await tracer.startActiveSpan(name, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    try {
      const answer = await work()
      note(span, answered(answer))
      return answer
    } catch (error) {
      note(span, failed(error))
      throw error
    } finally {
      span.end()
    }
  })
}

/** Records on `span` how its work ended. */
export function note(span: Span, { attributes, error }: SpanEnd): void {
  span.setAttributes(attributes)
  if (error === undefined) return
  span.setAttribute('error.type', error)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

/** Replaces an unregistered status. */
const OTHER = 'other'

/**
 * An HTTP status, made safe for a label, or for an attribute that collectors turn into labels: a server chooses its
 * status, but must not decide how many time series there are. Our own codes, such as `Timeout`, are kept.
 */
export function knownStatus(status: number | string): string {
  const text = String(status)
  return /^\d/.test(text) && STATUS_CODES[text] === undefined ? OTHER : text
}

/** What a span says of a request, after the semantic conventions for HTTP clients. */
export function requestAttributes(method: string, { hostname, port, protocol }: URL): Attributes {
  return {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  }
}

/** What a span says of a response; nothing if there was none. */
export function responseAttributes(status: number | undefined): Attributes {
  return status === undefined ? {} : { 'http.response.status_code': status }
}
