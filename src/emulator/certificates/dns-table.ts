import { type Store, text } from '../store/emulator-store.ts'

export interface DnsRecord {
  readonly name: string
  readonly type: string
  readonly value: string
}

/**
 * The emulator's view of public DNS: the records an account holder would have to publish, set through the admin
 * surface.
 */
export class DnsTable {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  list(): DnsRecord[] {
    return this.#store
      .all('SELECT name, type, value FROM dns ORDER BY name, type, value', [])
      .map((row) => ({ name: text(row, 'name'), type: text(row, 'type'), value: text(row, 'value') }))
  }

  has(record: DnsRecord): boolean {
    const { name, type, value } = canonical(record)
    return (
      this.#store.one('SELECT 1 FROM dns WHERE name = ? AND type = ? AND value = ?', [name, type, value]) !== undefined
    )
  }

  put(record: DnsRecord): void {
    const { name, type, value } = canonical(record)
    this.#store.run('INSERT OR IGNORE INTO dns (name, type, value) VALUES (?, ?, ?)', [name, type, value])
  }

  /** Removes the records that match all given members; without members, all of them. */
  delete(match: Partial<DnsRecord>): void {
    const wanted = canonical({ name: match.name ?? '', type: match.type ?? '', value: match.value ?? '' })
    for (const record of this.list()) {
      const agrees =
        (match.name === undefined || record.name === wanted.name) &&
        (match.type === undefined || record.type === wanted.type) &&
        (match.value === undefined || record.value === wanted.value)
      if (agrees) {
        this.#store.run('DELETE FROM dns WHERE name = ? AND type = ? AND value = ?', [
          record.name,
          record.type,
          record.value,
        ])
      }
    }
  }
}

/** Names and host values are compared without regard to case or the final dot. */
function canonical(record: DnsRecord): DnsRecord {
  const host = (name: string): string => name.toLowerCase().replace(/\.$/, '')
  return { name: host(record.name), type: record.type.toUpperCase(), value: host(record.value) }
}
