import { createHash, timingSafeEqual } from 'node:crypto'
import type { Random } from '../../util/random.ts'
import { type Store, text } from './emulator-store.ts'

const PREFIX_BYTES = 8

/** A fresh bearer token of 192 random bits. */
export function newToken(random: Random): string {
  return `tk_${random.hex(24)}`
}

/**
 * Makes `token` the token of the API key or tunnel credential `id`, replacing the previous one. Only a hash is stored.
 */
export function storeToken(store: Store, account: string, id: string, token: string): void {
  const hash = hashOf(token)
  store.run('DELETE FROM tokens WHERE account = ? AND id = ?', [account, id])
  store.run('INSERT OR REPLACE INTO tokens (prefix, hash, account, id) VALUES (?, ?, ?, ?)', [
    hash.subarray(0, PREFIX_BYTES),
    hash,
    account,
    id,
  ])
}

/** The object that `token` belongs to, of any collection. The whole hash is compared in constant time. */
export function findToken(store: Store, token: string): { account: string; id: string } | undefined {
  const hash = hashOf(token)
  const candidates = store.all('SELECT hash, account, id FROM tokens WHERE prefix = ?', [
    hash.subarray(0, PREFIX_BYTES),
  ])
  for (const row of candidates) {
    if (row.hash instanceof Uint8Array && timingSafeEqual(row.hash, hash)) {
      return { account: text(row, 'account'), id: text(row, 'id') }
    }
  }
  return undefined
}

/** Whether two secrets are equal, in time that does not depend on where they differ. */
export function sameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(hashOf(given), hashOf(expected))
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
