import { createHash } from 'node:crypto'

/**
 * The first hexadecimal digits, an even number, of the SHA-256 of a value as JSON. Not for secrets: it can be guessed.
 */
export function digestOf(value: unknown, digits = 32): string {
  // A slice of a string would keep the whole string in memory.
  return createHash('sha256')
    .update(JSON.stringify(value))
    .digest()
    .toString('hex', 0, digits / 2)
}
