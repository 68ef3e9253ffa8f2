import type { ServerResponse } from 'node:http'
import { type SeenRequest, startServer, type TestServer } from '../../builders/http-server.ts'

/** A proxy to another API that records every request, including keys and bodies. */
export class RecordingProxy implements AsyncDisposable {
  readonly #server: TestServer

  private constructor(server: TestServer) {
    this.#server = server
  }

  static async start(target: string): Promise<RecordingProxy> {
    const server: TestServer = await startServer((request, response) => {
      const failed = (error: unknown): void => {
        response.writeHead(502).end(String(error))
      }
      passOn(request, response, { target, url: server.url }).catch(failed)
    })
    return new RecordingProxy(server)
  }

  get url(): string {
    return this.#server.url
  }

  /** All requests, as text. */
  seen(): string {
    return this.#server.requests.map((request) => JSON.stringify(request)).join('\n')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close()
  }
}

async function passOn(
  { method, path, headers, body }: SeenRequest,
  response: ServerResponse,
  { target, url }: { readonly target: string; readonly url: string },
): Promise<void> {
  const { host: _, connection: __, 'content-length': ___, ...sent } = headers
  const content = body === '' ? {} : { body }
  const answer = await fetch(`${target}${path}`, { method, headers: sent as Record<string, string>, ...content })
  // Further pages are requested here, too.
  const text = (await answer.text()).replaceAll(target, url)
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
  response.end(answer.status === 204 ? undefined : text)
}
