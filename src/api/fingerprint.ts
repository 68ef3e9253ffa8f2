import { createHmac } from 'node:crypto'

const LENGTH = 16

/**
 * A short name for a secret that may stand in a status: equal secrets under one salt give equal fingerprints, so a key
 * that was swapped shows, also after a restart.
 *
 * HMAC-SHA256 cut to 64 bits of hexadecimal. A key of the API is long and random, so trying keys finds nothing; the
 * salt (the installation id) keeps fingerprints of two installations from being compared, and cutting leaves many
 * secrets to each fingerprint. It is no protection for a secret that can be guessed: never use it on a password.
 */
export function fingerprint(secret: string, salt: string): string {
  return createHmac('sha256', salt).update(secret).digest('hex').slice(0, LENGTH)
}
