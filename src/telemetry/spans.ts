import { type Attributes, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'

/** What a span says once its work has ended, beside that it did. */
export interface SpanEnd {
  readonly attributes: Attributes
  /** In one word, for `error.type`: the work failed. */
  readonly error?: string | undefined
}

export interface ClientSpan<T> {
  readonly name: string
  readonly attributes: Attributes
  /** What the answer says. */
  readonly answered: (answer: T) => SpanEnd
  /** What the failure says. No message of an error comes into a span: it may quote what a server said. */
  readonly failed: (error: unknown) => SpanEnd
}

/**
 * Does `work` inside a span of the kind client, as a child of the span under way. Where none is, nothing is traced: what watches and
 * leader election do goes on for ever and belongs to no reconcile.
 */
export async function inClientSpan<T>(
  tracer: Tracer | undefined,
  { name, attributes, answered, failed }: ClientSpan<T>,
  work: () => Promise<T>,
): Promise<T> {
  if (tracer === undefined || trace.getActiveSpan() === undefined) return await work()
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

/** Puts on `span` how its work ended. */
export function note(span: Span, { attributes, error }: SpanEnd): void {
  span.setAttributes(attributes)
  if (error === undefined) return
  span.setAttribute('error.type', error)
  span.setStatus({ code: SpanStatusCode.ERROR })
}
