import { json, startServer, type TestServer } from './http-server.ts'

/** A received span, its attributes as a plain object. */
export interface ReceivedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  /** 1 internal, 3 client. */
  readonly kind: number
  /** 2 for an error. */
  readonly status: { readonly code?: number }
  readonly attributes: Readonly<Record<string, unknown>>
  /** Of the sending process. */
  readonly resource: Readonly<Record<string, unknown>>
}

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface Batch {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'attributes' | 'resource'> & {
        readonly attributes: readonly Attribute[]
      })[]
    }[]
  }[]
}

/** A receiver of traces over OTLP/HTTP in JSON, on a free port. */
export class OtlpReceiver implements AsyncDisposable {
  readonly #server: TestServer
  /** The status of its answers. */
  status = 200

  private constructor(server: TestServer) {
    this.#server = server
  }

  static async start(): Promise<OtlpReceiver> {
    const receiver: OtlpReceiver = new OtlpReceiver(
      await startServer(({ path }, response) => {
        if (path === '/v1/traces') json(response, receiver.status, {})
        else json(response, 404, {})
      }),
    )
    return receiver
  }

  get url(): string {
    return this.#server.url
  }

  get batches(): TestServer['requests'] {
    return this.#server.requests
  }

  /** Every received span, in the order in which they ended. */
  get spans(): readonly ReceivedSpan[] {
    return this.batches.flatMap(({ body }) => {
      const { resourceSpans }: Batch = JSON.parse(body)
      return resourceSpans.flatMap(({ resource, scopeSpans }) => {
        return scopeSpans.flatMap(({ spans }) => {
          return spans.map((span) => ({
            ...span,
            attributes: plain(span.attributes),
            resource: plain(resource.attributes),
          }))
        })
      })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close()
  }
}

function plain(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
