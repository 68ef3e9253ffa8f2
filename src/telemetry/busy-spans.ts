import type { Context } from '@opentelemetry/api'
import { SpanStatusCode } from '@opentelemetry/api'
import type { ReadableSpan, Span, SpanProcessor } from '@opentelemetry/sdk-trace-base'

/**
 * Passes on only spans that show work. A reconcile that made no calls and succeeded is dropped: otherwise most spans
 * sent would be of resources that were checked and found in order.
 */
export class BusySpans implements SpanProcessor {
  readonly #next: SpanProcessor
  /** Root spans in progress that have a child. */
  readonly #busy = new Set<string>()
  readonly #roots = new Set<string>()

  constructor(next: SpanProcessor) {
    this.#next = next
  }

  onStart(span: Span, parent: Context): void {
    const parentId = span.parentSpanContext?.spanId
    if (parentId === undefined) this.#roots.add(span.spanContext().spanId)
    else if (this.#roots.has(parentId)) this.#busy.add(parentId)
    this.#next.onStart(span, parent)
  }

  onEnd(span: ReadableSpan): void {
    const { spanId } = span.spanContext()
    const isRoot = this.#roots.delete(spanId)
    const isBusy = this.#busy.delete(spanId)
    if (isRoot && !isBusy && span.status.code !== SpanStatusCode.ERROR) return
    this.#next.onEnd(span)
  }

  async forceFlush(): Promise<void> {
    await this.#next.forceFlush()
  }

  async shutdown(): Promise<void> {
    await this.#next.shutdown()
  }
}
