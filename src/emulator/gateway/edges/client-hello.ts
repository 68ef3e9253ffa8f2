/*
 * Reads the name of the host from the first bytes of a TLS connection (RFC 8446 § 4.1.2, RFC 6066 § 3), without a TLS
 * library, so that connections can be passed through unopened. Pure.
 */

/** What the first bytes of a connection say. */
export type ClientHello =
  /** More bytes are needed. */
  | { readonly kind: 'incomplete' }
  /** Not TLS, or malformed; never changes with more bytes. */
  | { readonly kind: 'malformed' }
  /** `host` is lower-cased; undefined when the client names none. */
  | { readonly kind: 'hello'; readonly host: string | undefined }

/** More is no sensible ClientHello, and is not kept in memory. */
export const LONGEST_HELLO = 16 * 1024

const INCOMPLETE: ClientHello = { kind: 'incomplete' }
const MALFORMED: ClientHello = { kind: 'malformed' }

const HANDSHAKE = 22
const CLIENT_HELLO = 1
const SERVER_NAME = 0
const HOST_NAME = 0
/** Header of a record: type, version, length. */
const RECORD_HEADER = 5
/** Header of a handshake message: type, length. */
const MESSAGE_HEADER = 4
const LONGEST_RECORD = 16_384
/** RFC 6066 wants ASCII names without a final dot. */
const NAME = /^[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?$/

/** Reads as much of a ClientHello as has arrived. It may be divided among several records. Linear in what arrived. */
export function readClientHello(bytes: Buffer): ClientHello {
  const pieces: Buffer[] = []
  let have = 0
  /** Length of the message with its header, once that has arrived. */
  let whole: number | undefined
  for (let at = 0; ; ) {
    if (whole === undefined && have >= MESSAGE_HEADER) {
      const header = Buffer.concat(pieces)
      whole = MESSAGE_HEADER + header.readUIntBE(1, 3)
      if (header[0] !== CLIENT_HELLO || whole > LONGEST_HELLO) return MALFORMED
    }
    if (whole !== undefined && have >= whole) return readMessage(Buffer.concat(pieces).subarray(MESSAGE_HEADER, whole))
    if (bytes.length === at) return INCOMPLETE
    if (bytes[at] !== HANDSHAKE) return MALFORMED
    if (bytes.length > at + 1 && bytes[at + 1] !== 3) return MALFORMED
    if (bytes.length < at + RECORD_HEADER) return INCOMPLETE
    const length = bytes.readUInt16BE(at + 3)
    if (length === 0 || length > LONGEST_RECORD) return MALFORMED
    at += RECORD_HEADER
    if (bytes.length < at + length) return INCOMPLETE
    pieces.push(bytes.subarray(at, at + length))
    have += length
    at += length
  }
}

function readMessage(message: Buffer): ClientHello {
  try {
    const hello = new Fields(message)
    // Version and random bytes.
    hello.skip(2 + 32)
    // Session id, cipher suites, compression methods.
    for (const lengthBytes of [1, 2, 1]) hello.vector(lengthBytes)
    return { kind: 'hello', host: hello.isAtEnd ? undefined : hostIn(hello.vector(2)) }
  } catch (error) {
    if (error instanceof RangeError) return MALFORMED
    throw error
  }
}

/** The host in the extension `server_name`, of which there is at most one. */
function hostIn(extensions: Fields): string | undefined {
  let host: string | undefined
  while (!extensions.isAtEnd) {
    const type = extensions.number(2)
    const content = extensions.vector(2)
    if (type !== SERVER_NAME) continue
    if (host !== undefined) throw new RangeError('two names')
    const names = content.vector(2)
    if (names.number(1) !== HOST_NAME) throw new RangeError('a name of another type')
    host = names.vector(2).text().toLowerCase()
    if (!NAME.test(host)) throw new RangeError('not the name of a host')
  }
  return host
}

/** Reads fields in order; throws a RangeError beyond the end. */
class Fields {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  skip(count: number): void {
    if (this.#at + count > this.#bytes.length) throw new RangeError('beyond the end')
    this.#at += count
  }

  number(bytes: number): number {
    const at = this.#at
    this.skip(bytes)
    return this.#bytes.readUIntBE(at, bytes)
  }

  /** A field that begins with its length. */
  vector(lengthBytes: number): Fields {
    const length = this.number(lengthBytes)
    const at = this.#at
    this.skip(length)
    return new Fields(this.#bytes.subarray(at, at + length))
  }

  text(): string {
    return this.#bytes.toString('latin1')
  }
}
