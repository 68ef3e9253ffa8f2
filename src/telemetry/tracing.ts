import { diag, type Tracer } from '@opentelemetry/api'
import { type Clock, sleep } from '../util/clock.ts'
import { type Logger, Rarely } from '../util/logger.ts'

/** The instrumentation scope of every span. */
const SCOPE = 'culvert'
/** How long sending the last spans may take at shutdown, in milliseconds. */
const FLUSH_MS = 3_000

export interface TracingOptions {
  /** Base URL of an OTLP/HTTP receiver, without `/v1/traces`. Undefined: taken from OTEL_EXPORTER_OTLP_*. */
  readonly endpoint?: string | undefined
  /** `service.version`. */
  readonly version: string
  /** `service.instance.id`: the pod's name. */
  readonly instance: string
  readonly clock: Clock
  readonly logger: Logger
}

export interface Tracing {
  readonly tracer: Tracer
  /** Sends the spans that are still waiting, for at most a few seconds. Never throws. */
  close(): Promise<void>
}

/**
 * Loads the SDK and sends spans from now on. The SDK itself reads sampler, batches, headers, timeouts and resource
 * attributes from the environment (OTEL_*), according to its own standard.
 *
 * @throws TypeError for an endpoint that is not a URL.
 */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  const { clock, logger, endpoint } = options
  const rarely = new Rarely(clock, (error, times) => logger.warn({ ...safe(error), times }, 'spans were not delivered'))
  // The SDK's messages may quote an answer of the receiver, so only their number and kind are logged.
  diag.setLogger({
    error: () => rarely.happened('SDKError'),
    warn: () => rarely.happened('SDKWarning'),
    info: () => undefined,
    debug: () => undefined,
    verbose: () => undefined,
  })
  const { startProvider } = await import('./sdk.ts')
  const provider = startProvider({
    ...options,
    url: endpoint === undefined ? undefined : tracesURL(endpoint),
    failed: (error) => rarely.happened(error),
  })
  return {
    tracer: provider.getTracer(SCOPE, options.version),
    close: async () => {
      const stop = new AbortController()
      const flushed = provider.shutdown().catch((error: unknown) => rarely.happened(error))
      await Promise.race([flushed, sleep(clock, FLUSH_MS, stop.signal).catch(() => undefined)])
      stop.abort()
    },
  }
}

/**
 * `/v1/traces` below the endpoint, as the exporter's specification requires.
 *
 * @throws TypeError
 */
export function tracesURL(endpoint: string): string {
  const url = new URL(endpoint)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`
  return url.href
}

/** What a log line says of an error: nothing that comes from a server. */
function safe(error: unknown): { readonly error: string } {
  if (typeof error === 'string') return { error }
  if (!(error instanceof Error)) return { error: 'unknown' }
  const code = 'code' in error ? error.code : undefined
  return { error: typeof code === 'string' || typeof code === 'number' ? String(code) : error.name }
}
