import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

/**
 * Carries bytes between a client and what serves it, in both directions: the end of one direction leaves the other
 * open, a slow reader slows the writer down, and a failure of one side ends the other. Both must allow half-closing.
 *
 * @param onEnd called once, when both sides are closed, with the reason
 */
export function relay(client: Socket, upstream: Duplex, onEnd: (reason: string) => void): void {
  let reason = 'closed'
  let open = 2
  const closed = (): void => {
    open -= 1
    if (open === 0) onEnd(reason)
  }
  client.on('error', (error) => {
    reason = `the connection of the client failed: ${error.message}`
  })
  upstream.on('error', (error) => {
    reason = `the tunnel failed: ${error.message}`
    cut(client)
  })
  // What serves it has closed both directions: nothing more is accepted from the client.
  upstream.once('hangup', () => {
    client.unpipe(upstream)
    client.resume()
    upstream.end()
  })
  client.once('close', () => {
    upstream.destroy()
    closed()
  })
  upstream.once('close', () => {
    // What it has sent is delivered first.
    client.destroySoon()
    closed()
  })
  client.pipe(upstream)
  upstream.pipe(client)
}

/** Ends a connection so that its client cannot take it for the end of the data: by a reset, or without a TLS alert. */
export function cut(client: Socket): void {
  if (client instanceof TLSSocket) client.destroy()
  else client.resetAndDestroy()
}
