/** Bytes that do not follow the wire format of SSH. */
export class WireFormatError extends Error {
  readonly code = 'SSH_WIRE_FORMAT'

  constructor(message: string) {
    super(message)
    this.name = 'WireFormatError'
  }
}

/** Reads the data types of SSH (RFC 4251 § 5) in sequence; throws a WireFormatError for bytes that do not hold one. */
export class SshReader {
  readonly #bytes: Buffer
  #position = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Whether everything has been read. */
  get atEnd(): boolean {
    return this.#position === this.#bytes.length
  }

  /** The next `count` bytes, unchanged. */
  raw(count: number): Buffer {
    if (count > this.#bytes.length - this.#position) throw new WireFormatError('the data ends too early')
    this.#position += count
    return this.#bytes.subarray(this.#position - count, this.#position)
  }

  uint32(): number {
    return this.raw(4).readUInt32BE()
  }

  uint64(): bigint {
    return this.raw(8).readBigUInt64BE()
  }

  /** Bytes preceded by their length. */
  string(): Buffer {
    return this.raw(this.uint32())
  }

  /** A string of UTF-8. */
  text(): string {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.string())
    } catch (error) {
      if (error instanceof WireFormatError) throw error
      throw new WireFormatError('a text is not UTF-8')
    }
  }

  /**
   * A whole number of any size. Keys contain no negative numbers, so those are refused, as are needless leading zeros.
   */
  mpint(): bigint {
    const bytes = this.string()
    const [first, second] = bytes
    if (first === undefined) return 0n
    if (first >= 0x80) throw new WireFormatError('a number is negative')
    if (first === 0 && (second ?? 0) < 0x80) throw new WireFormatError('a number has needless leading zeros')
    return BigInt(`0x${bytes.toString('hex')}`)
  }

  /** Refuses any remaining bytes. */
  end(): void {
    if (!this.atEnd) throw new WireFormatError('there is data behind the end')
  }
}

/**
 * Writes the data types of SSH (RFC 4251 § 5); the counterpart of `SshReader`.
 *
 * @example
 * new SshWriter().string('ssh-ed25519').string(publicKeyBytes).bytes()
 */
export class SshWriter {
  readonly #parts: Buffer[] = []

  raw(bytes: Uint8Array): this {
    this.#parts.push(Buffer.from(bytes))
    return this
  }

  uint32(value: number): this {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return this.raw(bytes)
  }

  uint64(value: bigint): this {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64BE(value)
    return this.raw(bytes)
  }

  /** Bytes, or a text in UTF-8, preceded by their length. */
  string(value: Uint8Array | string): this {
    const bytes = typeof value === 'string' ? Buffer.from(value) : value
    return this.uint32(bytes.length).raw(bytes)
  }

  /** A non-negative whole number, in as few bytes as possible. */
  mpint(value: bigint): this {
    if (value < 0n) throw new RangeError('numbers below zero have no use in keys')
    if (value === 0n) return this.string('')
    const digits = value.toString(16)
    const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')
    // The top bit is the sign.
    return this.string((bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes)
  }

  /** Everything written so far. */
  bytes(): Buffer {
    return Buffer.concat(this.#parts)
  }
}
