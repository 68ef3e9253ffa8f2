import { createHmac } from 'node:crypto'

/** The purpose of a fingerprint. Fingerprints of one value for two purposes are unrelated. */
export type Purpose = 'account' | 'inputs' | 'ownership' | 'token'

/** Number of hexadecimal digits that identify the salt, and of the fingerprint itself. */
const SALT_LENGTH = 8
const LENGTH = 16

/**
 * Identifies secret values where many people may read: in a status, or in an annotation of a resource. Equal values
 * have equal fingerprints, so that a change is noticed, also after a restart. HMAC-SHA256 with a salt that only the
 * operator can read: no one else can check a guess, however few values there are to guess
 * (docs/decisions/0035-salted-fingerprints.md).
 *
 * A fingerprint begins with an identifier of its salt. One made with another salt says nothing about a value: neither
 * that it is the same nor that it differs.
 */
export class Fingerprints {
  readonly #salt: Buffer
  readonly #name: string

  /** @param salt 32 random bytes. */
  constructor(salt: Buffer) {
    this.#salt = salt
    this.#name = this.#digest(['name']).slice(0, SALT_LENGTH)
  }

  /** @param parts the value, and anything else on which the fingerprint depends. */
  of(purpose: Purpose, ...parts: readonly string[]): string {
    return `${this.#name}-${this.#digest([purpose, ...parts]).slice(0, LENGTH)}`
  }

  #digest(parts: readonly string[]): string {
    return createHmac('sha256', this.#salt).update(JSON.stringify(parts)).digest('hex')
  }
}

/** How a value compares with the one recorded before; `unknown` if another salt was in use then. */
export type Comparison = 'same' | 'different' | 'unknown'

/** Compares a recorded fingerprint with that of the current value. Undefined means no value. */
export function compareFingerprints(noted: string | undefined, now: string | undefined): Comparison {
  if (noted === now) return 'same'
  if (noted === undefined || now === undefined) return 'different'
  return saltOf(noted) === saltOf(now) ? 'different' : 'unknown'
}

function saltOf(fingerprint: string): string {
  return fingerprint.slice(0, SALT_LENGTH + 1)
}
