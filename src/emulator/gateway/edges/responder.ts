import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { isJsonObject, type Json, type JsonObject } from '../../values/json.ts'

/** Answers HTTP requests with the fixed content of backends (`management-api.md § Edges and backends`). */
export class Responder {
  readonly #server: Server
  readonly #answers = new WeakMap<Socket, () => JsonObject | undefined>()
  /** Answers that wait for the client to read. */
  readonly #unread = new WeakMap<Socket, number>()

  constructor() {
    this.#server = createServer((request, response) => {
      const { socket } = request
      const backend = socket.destroyed ? undefined : this.#answers.get(socket)?.()
      const unread = (this.#unread.get(socket) ?? 0) + 1
      // The library reads requests for as long as there are any in what has arrived, thousands perhaps.
      if (backend === undefined || unread > MOST_UNREAD) {
        socket.destroy()
        return
      }
      this.#unread.set(socket, unread)
      response.once('finish', () => this.#unread.set(socket, (this.#unread.get(socket) ?? 1) - 1))
      const body = Buffer.from(typeof backend.body === 'string' ? backend.body : '')
      const status = Number(backend.status_code ?? 200)
      // HTTP knows no body, nor a length, of these.
      const length = BODILESS.has(status) ? {} : { 'content-length': body.length }
      response.writeHead(status, { ...headersOf(backend.headers), ...length })
      response.end(body)
      // A body that nobody reads must not hold the connection up.
      request.resume()
    })
    // The other limits of the library hold only for a server that listens itself.
    this.#server.timeout = IDLE_MS
  }

  /**
   * Serves a connection until it is closed.
   *
   * @param read the backend as it is now; undefined when it is gone, and the connection is then closed
   */
  serve(socket: Socket, read: () => JsonObject | undefined): void {
    this.#answers.set(socket, read)
    this.#server.emit('connection', socket)
  }
}

/** A connection that is silent for this long is closed. */
const IDLE_MS = 30_000
/** Requests that a client may send without reading the answers; one more ends the connection. */
const MOST_UNREAD = 16
const BODILESS = new Set([204, 304])

/** Headers that follow from the connection, whatever the backend says of them. */
const OWN = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding', 'upgrade'])

/** The headers as they are sent: texts in UTF-8, and control characters, which HTTP does not allow, as `?`. */
function headersOf(headers: Json | undefined): Record<string, string> {
  const given = Object.entries(isJsonObject(headers) ? headers : {}).filter(([name]) => !OWN.has(name))
  return Object.fromEntries(
    given.map(([name, value]) => [
      name,
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to replace
      Buffer.from(String(value).replaceAll(/[\x00-\x08\x0a-\x1f\x7f]/g, '?')).toString('latin1'),
    ]),
  )
}
