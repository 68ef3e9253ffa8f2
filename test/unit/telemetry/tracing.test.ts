import { context, type Tracer } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ApiError } from '../../../src/api/errors.ts'
import { readEnvironment } from '../../../src/config.ts'
import type { ReconcileKey } from '../../../src/runtime/controller.ts'
import { done, type Outcome } from '../../../src/runtime/outcome.ts'
import { tracedReconcile } from '../../../src/runtime/reconcile-spans.ts'
import { BusySpans } from '../../../src/telemetry/sdk.ts'
import { inClientSpan } from '../../../src/telemetry/spans.ts'
import { tracesURL } from '../../../src/telemetry/tracing.ts'

const exporter = new InMemorySpanExporter()
const key: ReconcileKey = { kind: 'Edge', namespace: 'shop', name: 'front' }
const { signal } = new AbortController()
let tracer: Tracer

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const spanProcessors = [new BusySpans(new SimpleSpanProcessor(exporter))]
  tracer = new BasicTracerProvider({ spanProcessors }).getTracer('test')
})

beforeEach(() => exporter.reset())

afterAll(() => context.disable())

async function call(answer: () => Promise<string> = async () => 'stored'): Promise<string> {
  const noted = { attributes: { 'call.answered': true } }
  const failed = () => ({ attributes: {}, error: 'Refused' })
  return await inClientSpan(tracer, () => ({ name: 'call', attributes: {}, answered: () => noted, failed }), answer)
}

async function reconcile(work: () => Promise<Outcome>, traced: Tracer | undefined = tracer): Promise<Outcome> {
  return await tracedReconcile({ tracer: traced, factsOf: () => ({ uid: 'u-1', reason: 'Available' }) }, work)(
    key,
    signal,
  )
}

const spans = () => exporter.getFinishedSpans()
const calling = async (): Promise<Outcome> => {
  await call()
  return done
}

describe('a reconcile', () => {
  test('is the root of a trace, also where another is under way, and what it calls is its child', async () => {
    await reconcile(async () => {
      await reconcile(calling)
      return calling()
    })
    const [, inner, , outer] = spans()
    const [first, , second] = spans()
    expect([inner, outer].map((span) => span?.name)).toEqual(['reconcile Edge', 'reconcile Edge'])
    expect([inner, outer].map((span) => span?.parentSpanContext)).toEqual([undefined, undefined])
    expect(first?.parentSpanContext?.spanId).toBe(inner?.spanContext().spanId)
    expect(second?.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId)
    expect(inner?.spanContext().traceId).not.toBe(outer?.spanContext().traceId)
    expect(outer?.attributes).toEqual({
      'culvert.resource.kind': 'Edge',
      'k8s.namespace.name': 'shop',
      'culvert.resource.name': 'front',
      'culvert.resource.uid': 'u-1',
      'culvert.reconcile.outcome': 'done',
      'culvert.ready.reason': 'Available',
    })
  })

  test('that calls nobody and goes well is not sent; one that fails is, with the code of its error alone', async () => {
    await reconcile(async () => ({ type: 'after', ms: 1, reason: 'resync' }))
    expect(spans()).toEqual([])
    const error = new ApiError('Invalid', 'the API said s3cr3t', { definite: true })
    await reconcile(async () => ({ type: 'terminal', error }))
    await expect(reconcile(() => Promise.reject(new Error('s3cr3t')))).rejects.toThrow()
    expect(spans().map(({ attributes, status }) => [attributes['error.type'], status])).toEqual([
      ['Invalid', { code: 2 }],
      ['unexpected', { code: 2 }],
    ])
    expect(JSON.stringify(spans().map(({ attributes, events, status }) => [attributes, events, status]))).not.toContain(
      's3cr3t',
    )
  })

  test('without a tracer is called as it is', () => {
    const work = async () => done
    expect(tracedReconcile({ tracer: undefined, factsOf: () => undefined }, work)).toBe(work)
  })
})

describe('a call', () => {
  test('outside of any reconcile is not traced', async () => {
    expect(await call()).toBe('stored')
    expect(spans()).toEqual([])
  })

  test('that fails says so, and throws what it would have thrown', async () => {
    const error = new Error('no')
    await reconcile(async () => {
      await expect(call(() => Promise.reject(error))).rejects.toBe(error)
      return done
    })
    expect(spans()[0]).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'Refused' } })
  })
})

describe('where traces go', () => {
  test('is below the endpoint, whatever its path', () => {
    expect(tracesURL('http://collector:4318')).toBe('http://collector:4318/v1/traces')
    expect(tracesURL('https://gw.example/otlp/')).toBe('https://gw.example/otlp/v1/traces')
    expect(() => tracesURL('collector')).toThrow(TypeError)
  })

  test.each([
    [{}, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/v1/traces' }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'true' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_TRACES_EXPORTER: 'none' }, false],
  ])('is configured by %j: %s', (env, configured) => {
    expect(readEnvironment(env).tracesConfigured).toBe(configured)
  })
})
