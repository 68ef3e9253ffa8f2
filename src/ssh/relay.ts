import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

/** Which side failed, and how; undefined when both were closed in order. */
export type RelayFailure = { readonly side: 'socket' | 'tunnel'; readonly message: string } | undefined

/**
 * Carries bytes between a TCP or TLS connection and a stream through a tunnel, in both directions: the end of one
 * direction leaves the other open, a slow reader slows the writer down, and a failure of one side ends the other. Both
 * must allow half-closing.
 *
 * @param onEnd called once, when both sides are closed
 */
export function relay(socket: Socket, tunnel: Duplex, onEnd: (failure: RelayFailure) => void): void {
  let failure: RelayFailure
  let open = 2
  const closed = (): void => {
    open -= 1
    if (open === 0) onEnd(failure)
  }
  socket.on('error', ({ message }) => {
    failure = { side: 'socket', message }
  })
  tunnel.on('error', ({ message }) => {
    failure = { side: 'tunnel', message }
    cut(socket)
  })
  // The far side of the tunnel has closed both directions: nothing more is accepted for it.
  tunnel.once('hangup', () => {
    socket.unpipe(tunnel)
    socket.resume()
    tunnel.end()
  })
  socket.once('close', () => {
    tunnel.destroy()
    closed()
  })
  tunnel.once('close', () => {
    // What it has sent is delivered first.
    socket.destroySoon()
    closed()
  })
  socket.pipe(tunnel)
  tunnel.pipe(socket)
}

/** Ends a connection so that its peer cannot take it for the end of the data: by a reset, or without a TLS alert. */
export function cut(client: Socket): void {
  if (client instanceof TLSSocket) client.destroy()
  else client.resetAndDestroy()
}
