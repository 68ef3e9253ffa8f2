import { createHmac } from 'node:crypto'

/** What a fingerprint is of. Fingerprints of one value for two purposes have nothing in common. */
export type Purpose = 'account' | 'inputs' | 'ownership' | 'token'

/** Hexadecimal digits that name the salt, and those of the fingerprint itself. */
const SALT_LENGTH = 8
const LENGTH = 16

/**
 * Names secrets where many people may read: in a status, or in an annotation of a resource. Equal values have equal
 * fingerprints, so that a change shows, also after a restart. HMAC-SHA256 with a salt that only the operator can read:
 * nobody else can tell whether a guess is right, however few values there are to guess
 * (docs/decisions/0035-salted-fingerprints.md).
 *
 * A fingerprint begins with the name of its salt: one made with another salt says nothing about a value, neither that
 * it is the same nor that it is not.
 */
export class Fingerprints {
  readonly #salt: Buffer
  readonly #name: string

  /** @param salt 32 random bytes. */
  constructor(salt: Buffer) {
    this.#salt = salt
    this.#name = this.#digest(['name']).slice(0, SALT_LENGTH)
  }

  /** @param parts what is named, and what else is to give another fingerprint. */
  of(purpose: Purpose, ...parts: readonly string[]): string {
    return `${this.#name}-${this.#digest([purpose, ...parts]).slice(0, LENGTH)}`
  }

  #digest(parts: readonly string[]): string {
    return createHmac('sha256', this.#salt).update(JSON.stringify(parts)).digest('hex')
  }
}

/** How a value stands to the one that was noted before; `unknown` where another salt was in use then. */
export type Comparison = 'same' | 'different' | 'unknown'

/** Compares a fingerprint that was noted with that of today's value. Undefined stands for no value. */
export function compareFingerprints(noted: string | undefined, now: string | undefined): Comparison {
  if (noted === now) return 'same'
  if (noted === undefined || now === undefined) return 'different'
  return saltOf(noted) === saltOf(now) ? 'different' : 'unknown'
}

function saltOf(fingerprint: string): string {
  return fingerprint.slice(0, SALT_LENGTH + 1)
}
