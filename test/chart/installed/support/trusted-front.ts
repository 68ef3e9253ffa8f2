import { request } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { selfSigned } from '../../../builders/certificate.ts'

/** A server in front of another, with a certificate of its own authority. */
export class TrustedFront implements AsyncDisposable {
  /** `https://127.0.0.1:PORT`. */
  readonly url: string
  /** The authority, PEM. */
  readonly authority: string
  readonly #server: Server

  private constructor(server: Server, authority: string) {
    this.#server = server
    this.authority = authority
    this.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async of(url: string): Promise<TrustedFront> {
    const { cert, key } = selfSigned()
    const server = createServer({ cert, key }, (incoming, outgoing) => {
      const { method, headers, url: path } = incoming
      const onwards = request(new URL(path ?? '/', url), { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      })
      onwards.on('error', () => outgoing.destroy())
      incoming.pipe(onwards)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new TrustedFront(server, cert)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
