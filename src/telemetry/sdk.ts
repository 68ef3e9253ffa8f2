import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base'
import { BusySpans } from './busy-spans.ts'

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
