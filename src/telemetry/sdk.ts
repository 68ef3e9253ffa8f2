import { type Context, context, SpanStatusCode } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  type Span,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base'

export interface ProviderOptions {
  /** Where spans are sent. Undefined: the exporter reads the environment. */
  readonly url: string | undefined
  readonly version: string
  readonly instance: string
  /** Called for each batch that was not delivered. */
  readonly failed: (error: unknown) => void
}

/** Loaded only when traces are wanted: the SDK costs start-up time and memory. Sets the API's context manager. */
export function startProvider({ url, version, instance, failed }: ProviderOptions): BasicTracerProvider {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const own = resourceFromAttributes({
    'service.name': 'culvert',
    'service.version': version,
    'service.instance.id': instance,
  })
  const exporter = new OTLPTraceExporter(url === undefined ? {} : { url })
  return new BasicTracerProvider({
    // Resource attributes from the environment override our own.
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BusySpans(new BatchSpanProcessor(reporting(exporter, failed)))],
  })
}

/** Reports failures itself and hides them from the SDK, which would log what the receiver said. */
function reporting(exporter: SpanExporter, failed: (error: unknown) => void): SpanExporter {
  return {
    export: (spans, done) => {
      exporter.export(spans, (result) => {
        if (result.error !== undefined || result.code !== 0) failed(result.error)
        done({ code: 0 })
      })
    },
    forceFlush: async () => await exporter.forceFlush?.(),
    shutdown: async () => await exporter.shutdown(),
  }
}

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
