import { createSecretKey } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Channel, Client, Connection } from 'ssh2'

/*
 * What the library ssh2 leaves out. It has no public way to do any of it, so this file, and no other, uses its
 * internals. Where those of texts are missing, the connection ends without one; where those of flow control are,
 * nothing begins.
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
 * Calls `told` with the text with which the server ends a connection: the library drops it where the server says that
 * it did so on purpose. To be called after `connect`.
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

/** What the receiving side of a connection's channels calls and is called by. */
export interface ChannelData {
  /** Lets the far side of a channel send more (RFC 4254 § 5.2). */
  grant(channel: Channel, bytes: number): void
  /** Whether keys are being exchanged again: what is written then waits in memory, however much it is. */
  isExchangingKeys(): boolean
  /** How many packets wait for the end of that exchange. */
  packetsHeld(): number
}

/**
 * Takes over what arrives for the channels of a connection. The library lets a channel hold 4 MiB, and a peer that
 * ignores its window any number of bytes. To be called before the first channel is opened, and after `connect`.
 *
 * @param window what each far side may send at first, in bytes
 * @param arrived gets data with the local number of its channel; false leaves it to the library
 */
export function takeOverData(
  connection: Client | Connection,
  window: number,
  arrived: (channel: number, data: Buffer) => boolean,
): ChannelData {
  const protocol = objectIn(connection, '_protocol')
  const handlers = objectIn(protocol, '_handlers')
  const handle = functionIn(handlers, 'CHANNEL_DATA')
  const open = functionIn(protocol, 'forwardedTcpip')
  const confirm = functionIn(protocol, 'channelOpenConfirm')
  const adjust = functionIn(protocol, 'channelWindowAdjust')
  Reflect.set(handlers, 'CHANNEL_DATA', (...args: readonly unknown[]) => {
    const [, channel, data] = args
    if (typeof channel === 'number' && Buffer.isBuffer(data) && arrived(channel, data)) return
    handle(...args)
  })
  Reflect.set(protocol, 'forwardedTcpip', (channel: number, _window: number, packet: number, given: unknown) =>
    open(channel, window, packet, given),
  )
  Reflect.set(protocol, 'channelOpenConfirm', (remote: number, local: number, _window: number, packet: number) =>
    confirm(remote, local, window, packet),
  )
  return {
    grant: ({ outgoing }, bytes) => {
      const { id, state } = outgoing as { readonly id?: unknown; readonly state?: unknown }
      if (state !== 'closed') adjust(id, bytes)
    },
    isExchangingKeys: () => Reflect.get(protocol, '_kexinit') !== undefined,
    packetsHeld: () => {
      const held: unknown = Reflect.get(protocol, '_queue')
      return Array.isArray(held) ? held.length : 0
    },
  }
}

/**
 * Hands all that is sent in one turn of the event loop to the kernel at once. Without its native part, which the image
 * does not have, the library writes length, content and tag of each packet by themselves: three packets of TCP. To be
 * called before the first exchange of keys has ended, and after `connect`.
 */
export function batchWrites(connection: Client | Connection, socket: Socket): void {
  const protocol = objectIn(connection, '_protocol')
  const write = functionIn(protocol, '_onWrite')
  let isCorked = false
  const uncork = (): void => {
    isCorked = false
    socket.uncork()
  }
  Reflect.set(protocol, '_onWrite', (data: unknown) => {
    if (!isCorked) {
      isCorked = true
      socket.cork()
      process.nextTick(uncork)
    }
    write(data)
  })
}

/**
 * Prepares the keys of AES-GCM for Node: without its native part, the library makes a cipher for each packet, and to
 * look at a key in bytes takes Node longer than to encrypt with it. To be called after each exchange of keys; without
 * effect where the library keeps keys otherwise.
 */
export function prepareKeys(connection: Client | Connection): void {
  const protocol = objectIn(connection, '_protocol')
  for (const [name, field] of [
    ['_cipher', '_encKey'],
    ['_decipher', '_decipherKey'],
  ] as const) {
    const holder: unknown = Reflect.get(protocol, name)
    const key: unknown = typeof holder === 'object' && holder !== null ? Reflect.get(holder, field) : undefined
    if (Buffer.isBuffer(key)) Object.assign(Object(holder), { [field]: createSecretKey(key) })
  }
}

/** The number by which the far side names a channel. */
export function numberOf({ incoming }: Channel): number {
  const id: unknown = typeof incoming === 'object' && incoming !== null ? Reflect.get(incoming, 'id') : undefined
  if (typeof id !== 'number') throw new LibraryChanged('incoming.id')
  return id
}

/** The library has no longer what flow control needs. */
class LibraryChanged extends Error {
  readonly code = 'SSH_LIBRARY_CHANGED'
  override readonly name = 'LibraryChanged'

  constructor(what: string) {
    super(`ssh2 has no ${what}: src/ssh/wire-gaps.ts does not fit its version`)
  }
}

function objectIn(holder: object, name: string): object {
  const found: unknown = Reflect.get(holder, name)
  if (typeof found !== 'object' || found === null) throw new LibraryChanged(name)
  return found
}

function functionIn(holder: object, name: string): (...args: readonly unknown[]) => unknown {
  const found: unknown = Reflect.get(holder, name)
  if (typeof found !== 'function') throw new LibraryChanged(name)
  return (...args) => Reflect.apply(found, holder, args)
}
