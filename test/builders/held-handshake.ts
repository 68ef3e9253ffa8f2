import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { selfSigned } from './certificate.ts'

/** A TLS server that completes no handshake before `removeFinalizer`: it only accepts connections. */
export interface HeldHandshake extends AsyncDisposable {
  readonly url: string
  readonly ca: string
  /** Resolves once a client has connected and waits for the handshake. */
  readonly connected: Promise<void>
  /** Each request that arrived, such as `POST /ip_policies`. */
  readonly requests: readonly string[]
  /** Completes waiting and future handshakes. */
  removeFinalizer(): void
}

/** @param answer body of every answer, JSON. */
export async function holdHandshakes(answer: unknown): Promise<HeldHandshake> {
  const { cert, key } = selfSigned()
  const requests: string[] = []
  const waiting: Socket[] = []
  const connected = Promise.withResolvers<void>()
  let isHeld = true
  const tls = createServer({ cert, key }, (request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  const server = createTcpServer({ pauseOnConnect: true }, (socket) => {
    if (isHeld) waiting.push(socket)
    else tls.emit('connection', socket)
    connected.resolve()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}`,
    ca: cert,
    connected: connected.promise,
    requests,
    removeFinalizer: () => {
      isHeld = false
      for (const socket of waiting.splice(0)) tls.emit('connection', socket)
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of waiting) socket.destroy()
      tls.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
