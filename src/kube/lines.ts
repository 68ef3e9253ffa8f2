const NEWLINE = 0x0a

/** Lines of logs are no longer than this. */
export const LINE_BYTES = 1024 * 1024

/**
 * Splits a byte stream into lines. Lines are joined as bytes before they are decoded, so that a character whose bytes
 * arrive in two chunks stays whole. Empty lines are skipped; a last line without a newline is incomplete and dropped.
 *
 * @throws RangeError once a line exceeds `maxBytes`.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  let pending: Uint8Array[] = []
  let pendingBytes = 0
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE, start); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const length = pendingBytes + end - start
      if (length > maxBytes) throw tooLong(maxBytes)
      if (length > 0) yield Buffer.concat([...pending, chunk.subarray(start, end)], length).toString('utf8')
      pending = []
      pendingBytes = 0
      start = end + 1
    }
    if (start < chunk.length) {
      pending.push(chunk.subarray(start))
      pendingBytes += chunk.length - start
    }
    if (pendingBytes > maxBytes) throw tooLong(maxBytes)
  }
}

function tooLong(maxBytes: number): RangeError {
  return new RangeError(`a line is longer than ${maxBytes} bytes`)
}
