import { createHash } from 'node:crypto'

/** The first hexadecimal digits of the SHA-256 of a value as JSON. Not for secrets: it can be guessed. */
export function digestOf(value: unknown, digits = 32): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, digits)
}
