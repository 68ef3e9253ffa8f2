import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTLS, type TLSSocket } from 'node:tls'
import { expect } from 'vitest'

/** A TCP server on a free port of loopback, behind the tunnels of a test. */
export class Upstream {
  readonly port: number
  readonly #server: Server
  readonly #sockets: ReadonlySet<Socket>

  private constructor(server: Server, port: number, sockets: ReadonlySet<Socket>) {
    this.#server = server
    this.port = port
    this.#sockets = sockets
  }

  /** Serves each connection, which can be half-closed, with `serve`. */
  static async start(serve: (socket: Socket) => void): Promise<Upstream> {
    const sockets = new Set<Socket>()
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
      serve(socket)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    return new Upstream(server, typeof address === 'object' && address !== null ? address.port : 0, sockets)
  }

  /** Answers when the client has sent everything: its name, a colon, and what it was sent. */
  static named(name: string): Promise<Upstream> {
    return Upstream.start((socket) => {
      const received: Buffer[] = []
      socket.on('data', (chunk: Buffer) => received.push(chunk))
      socket.on('end', () => socket.end(`${name}:${Buffer.concat(received).toString()}`))
    })
  }

  /** How many connections are open. */
  get open(): number {
    return this.#sockets.size
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}

export interface Place {
  readonly address: string
  readonly port: number
}

/** A connection to a place, from an address of loopback. Resolves once it is established. */
export async function dial({ address, port }: Place, source = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ host: address, port, localAddress: source, allowHalfOpen: true })
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  return socket
}

/**
 * Sends a text, ends its half, and resolves to the answer, or to the code of the error. An empty answer means that the
 * connection was closed at once.
 */
export async function ask(place: Place, text: string, source?: string): Promise<string> {
  return await answered(dial(place, source), text)
}

/** A connection with TLS to a place. Resolves once the handshake is complete. */
export async function dialTLS({ address: host, port }: Place, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connectTLS({ host, port, ...options })
  // A refused client may have a second error, after that of the handshake.
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  return socket
}

/** The same as {@link ask}, with TLS. */
export async function askTLS(place: Place, text: string, options: ConnectionOptions): Promise<string> {
  return await answered(dialTLS(place, options), text)
}

async function answered(dialled: Promise<Socket>, text: string): Promise<string> {
  try {
    const socket = await dialled
    socket.end(text)
    return await answerOf(socket)
  } catch (error) {
    // A connection that is reset at once may never seem to be established.
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

/** Resolves when the connection is closed, whether or not by an error. */
export async function closed(socket: Socket): Promise<void> {
  if (socket.closed) return
  await new Promise<void>((resolve) => socket.once('close', () => resolve()))
}

/** Everything that arrives until the end, or the code of the error. */
export async function answerOf(socket: Socket): Promise<string> {
  const received: Buffer[] = []
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  let code: string | undefined
  socket.on('error', (error: NodeJS.ErrnoException) => {
    code = error.code
  })
  socket.once('end', () => socket.end())
  await closed(socket)
  return code ?? Buffer.concat(received).toString()
}

const CHUNK = Buffer.alloc(64 * 1024)

/** Writes for as long as what is written is taken. */
export function flood(socket: Socket): void {
  while (socket.writable && socket.write(CHUNK));
  socket.once('drain', () => flood(socket))
}

/** Resolves to what `count` returns once it has been the same for a second. */
export async function settled(count: () => number): Promise<number> {
  let last = -1
  const change = (): number => {
    const before = last
    last = count()
    return last - before
  }
  await expect.poll(change, { timeout: 60_000, interval: 1000 }).toBe(0)
  return last
}
