import type { Channel, Client, Connection } from 'ssh2'

/*
 * What the library ssh2 leaves out. It has no public way to do any of it, so this file, and no other, uses its internals;
 * where they are missing, the connection ends without a text.
 */

/** OpenSSH prints no more of a text. */
const LONGEST = 400
const DISCONNECT = 1
const BY_APPLICATION = 11

interface Wire {
  readonly _packetRW: {
    readonly write: {
      readonly allocStartKEX: number
      alloc(length: number, force: boolean): Buffer
      finalize(packet: Buffer, force: boolean): Buffer
    }
  }
  readonly _cipher: { encrypt(packet: Buffer): void }
}

/**
 * Ends a connection with a text that the client shows (RFC 4253 § 11.1): OpenSSH writes it to standard error. The
 * library sends an empty one.
 */
export function disconnect(connection: Connection, reason: string): void {
  const wire: unknown = Reflect.get(connection, '_protocol')
  if (isWire(wire)) {
    const text = Buffer.from(reason.replaceAll(/[^ -~]/g, '?')).subarray(0, LONGEST)
    const { write } = wire._packetRW
    const start = write.allocStartKEX
    const packet = write.alloc(13 + text.length, true)
    packet[start] = DISCONNECT
    packet.writeUInt32BE(BY_APPLICATION, start + 1)
    packet.writeUInt32BE(text.length, start + 5)
    packet.set(text, start + 9)
    packet.writeUInt32BE(0, start + 9 + text.length)
    wire._cipher.encrypt(write.finalize(packet, true))
  }
  connection.end()
}

function isWire(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && '_packetRW' in value && '_cipher' in value
}

/** Whether the peer accepts packets of a sensible size: the library would send empty ones for ever to a size of 0. */
export function takesPackets({ outgoing }: Channel): boolean {
  const size: unknown = typeof outgoing === 'object' && outgoing !== null ? Reflect.get(outgoing, 'packetSize') : 0
  return typeof size === 'number' && size >= 1024
}

/**
 * Calls `told` with the text with which the server ends a connection: the library drops it where the server says that it
 * did so on purpose. To be called after `connect`.
 */
export function onFarewell(client: Client, told: (text: string) => void): void {
  const protocol: unknown = Reflect.get(client, '_protocol')
  const handlers: unknown =
    typeof protocol === 'object' && protocol !== null ? Reflect.get(protocol, '_handlers') : null
  if (typeof handlers !== 'object' || handlers === null) return
  const handle: unknown = Reflect.get(handlers, 'DISCONNECT')
  if (typeof handle !== 'function') return
  Reflect.set(handlers, 'DISCONNECT', (...args: readonly unknown[]) => {
    const text = args[2]
    if (typeof text === 'string' && text !== '') told(text.slice(0, LONGEST))
    Reflect.apply(handle, handlers, args)
  })
}
