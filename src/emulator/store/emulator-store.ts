import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { type JsonObject, parseStoredObject } from '../values/json.ts'
import { ChangeLog } from './change-log.ts'
import {
  type Claim,
  guarded,
  type Link,
  type ObjectKey,
  openDatabase,
  StorageError,
  type StoredObject,
} from './database.ts'

/**
 * The tables, with one method per query. Synchronous throughout: a request is decided and committed in one turn of the
 * event loop, so no two requests interleave and no lock is needed.
 */
export class Store {
  readonly database: DatabaseSync
  readonly changes: ChangeLog
  readonly #statements = new Map<string, StatementSync>()
  #depth = 0

  /**
   * @param location `:memory:` or the path of the database file, created when missing
   * @param now the clock with which changes are logged, for lists of the past
   * @throws StorageError when the file cannot be used
   */
  constructor(location: string, now: () => number) {
    this.database = openDatabase(location)
    this.changes = new ChangeLog(now)
  }

  close(): void {
    this.#statements.clear()
    this.database.close()
  }

  /** Runs `work` in one transaction; nested calls join the outer one. Throwing rolls everything back. */
  transaction<T>(work: () => T): T {
    if (this.#depth > 0) return work()
    this.#rollBack()
    guarded(() => this.database.exec('BEGIN IMMEDIATE'))
    this.#depth = 1
    try {
      const result = work()
      guarded(() => this.database.exec('COMMIT'))
      this.changes.commit()
      return result
    } catch (error) {
      this.changes.rollback()
      this.#rollBack()
      throw error
    } finally {
      this.#depth = 0
    }
  }

  /**
   * If the disk does not allow a rollback now, the next transaction does it, or SQLite when the file is opened again.
   */
  #rollBack(): void {
    try {
      if (this.database.isTransaction) this.database.exec('ROLLBACK')
    } catch {
      // The failure that led here is more informative.
    }
  }

  get(account: string, collection: string, id: string): StoredObject | undefined {
    const row = this.one('SELECT body FROM objects WHERE account = ? AND collection = ? AND id = ?', [
      account,
      collection,
      id,
    ])
    return row === undefined ? undefined : toObject(row)
  }

  put(account: string, collection: string, object: StoredObject): void {
    this.changes.record({ account, collection, id: object.id }, this.get(account, collection, object.id), object)
    this.run('INSERT OR REPLACE INTO objects (account, collection, id, body) VALUES (?, ?, ?, ?)', [
      account,
      collection,
      object.id,
      JSON.stringify(object),
    ])
  }

  /** Removes the object and everything recorded under its id, except links from other objects to it. */
  remove(account: string, collection: string, id: string): void {
    this.changes.record({ account, collection, id }, this.get(account, collection, id), undefined)
    this.run('DELETE FROM objects WHERE account = ? AND collection = ? AND id = ?', [account, collection, id])
    this.run('DELETE FROM links WHERE account = ? AND holder = ?', [account, id])
    this.run('DELETE FROM claims WHERE account = ? AND id = ?', [account, id])
    this.run('DELETE FROM labels WHERE account = ? AND id = ?', [account, id])
    this.run('DELETE FROM tokens WHERE account = ? AND id = ?', [account, id])
    this.run('DELETE FROM routes WHERE account = ? AND subscription = ?', [account, id])
    this.run('DELETE FROM due WHERE account = ? AND collection = ? AND id = ?', [account, collection, id])
  }

  /** Up to `limit` objects, newest first, strictly older than `beforeId` when given. */
  page(account: string, collection: string, limit: number, beforeId?: string): StoredObject[] {
    const rows =
      beforeId === undefined
        ? this.all('SELECT body FROM objects WHERE account = ? AND collection = ? ORDER BY id DESC LIMIT ?', [
            account,
            collection,
            limit,
          ])
        : this.all(
            'SELECT body FROM objects WHERE account = ? AND collection = ? AND id < ? ORDER BY id DESC LIMIT ?',
            [account, collection, beforeId, limit],
          )
    return rows.map(toObject)
  }

  /** Up to `limit` objects, oldest first. */
  oldest(account: string, collection: string, limit: number): StoredObject[] {
    const sql = 'SELECT body FROM objects WHERE account = ? AND collection = ? ORDER BY id LIMIT ?'
    return this.all(sql, [account, collection, limit]).map(toObject)
  }

  setLabels(account: string, id: string, labels: JsonObject): void {
    this.run('DELETE FROM labels WHERE account = ? AND id = ?', [account, id])
    for (const label of Object.entries(labels)) {
      this.run('INSERT INTO labels (account, label, id) VALUES (?, ?, ?)', [account, JSON.stringify(label), id])
    }
  }

  /** Ids of the objects that have all of these labels, in order of id; none for no labels. */
  labelled(account: string, labels: JsonObject): string[] {
    const wanted = Object.entries(labels).map((label) => JSON.stringify(label))
    return this.all(
      `SELECT id FROM labels WHERE account = ? AND label IN (SELECT value FROM json_each(?))
       GROUP BY id HAVING COUNT(*) = ? ORDER BY id`,
      [account, JSON.stringify(wanted), wanted.length],
    ).map((row) => text(row, 'id'))
  }

  setLinks(account: string, holder: string, links: readonly Link[]): void {
    this.run('DELETE FROM links WHERE account = ? AND holder = ?', [account, holder])
    for (const link of links) {
      this.run('INSERT OR IGNORE INTO links (account, holder, target, on_delete) VALUES (?, ?, ?, ?)', [
        account,
        holder,
        link.target,
        link.onDelete,
      ])
    }
  }

  /** Ids of the objects with a link of the given kind to `target`, in order of id. */
  holders(account: string, target: string, onDelete: Link['onDelete']): string[] {
    return this.all('SELECT holder FROM links WHERE account = ? AND target = ? AND on_delete = ? ORDER BY holder', [
      account,
      target,
      onDelete,
    ]).map((row) => text(row, 'holder'))
  }

  setClaims(account: string, id: string, claims: readonly Claim[]): void {
    this.run('DELETE FROM claims WHERE account = ? AND id = ?', [account, id])
    for (const claim of claims) {
      this.run('INSERT INTO claims (scope, value, account, id) VALUES (?, ?, ?, ?)', [
        claim.scope,
        claim.value,
        account,
        id,
      ])
    }
  }

  claimant(claim: Claim): { account: string; id: string } | undefined {
    const row = this.one('SELECT account, id FROM claims WHERE scope = ? AND value = ?', [claim.scope, claim.value])
    return row === undefined ? undefined : { account: text(row, 'account'), id: text(row, 'id') }
  }

  /** Sets when an object next needs attention; `undefined` when never. */
  setDue(key: ObjectKey, at: number | undefined): void {
    if (at === undefined) {
      this.run('DELETE FROM due WHERE account = ? AND collection = ? AND id = ?', [key.account, key.collection, key.id])
    } else {
      this.run('INSERT OR REPLACE INTO due (account, collection, id, at) VALUES (?, ?, ?, ?)', [
        key.account,
        key.collection,
        key.id,
        at,
      ])
    }
  }

  /** The object that is due first, if that is not after `now`. */
  firstDue(now: number): (ObjectKey & { at: number }) | undefined {
    const row = this.one('SELECT account, collection, id, at FROM due WHERE at <= ? ORDER BY at, id LIMIT 1', [now])
    if (row === undefined) return undefined
    return {
      account: text(row, 'account'),
      collection: text(row, 'collection'),
      id: text(row, 'id'),
      at: Number(row.at),
    }
  }

  /** The newest id of a collection: one lookup at the end of its range, however large it is. */
  newestId(account: string, collection: string): string | undefined {
    const row = this.one('SELECT id FROM objects WHERE account = ? AND collection = ? ORDER BY id DESC LIMIT 1', [
      account,
      collection,
    ])
    return row === undefined ? undefined : text(row, 'id')
  }

  /** Ids of all accounts. */
  accounts(): string[] {
    return this.all('SELECT id FROM accounts ORDER BY id', []).map((row) => text(row, 'id'))
  }

  getMeta(key: string): string | undefined {
    const row = this.one('SELECT value FROM meta WHERE key = ?', [key])
    return row === undefined ? undefined : text(row, 'value')
  }

  setMeta(key: string, value: string): void {
    this.run('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)', [key, value])
  }

  one(sql: string, values: SQLInputValue[]): Row | undefined {
    return guarded(() => this.#prepare(sql).get(...values))
  }

  all(sql: string, values: SQLInputValue[]): Row[] {
    return guarded(() => this.#prepare(sql).all(...values))
  }

  run(sql: string, values: SQLInputValue[]): void {
    guarded(() => this.#prepare(sql).run(...values))
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

type Row = NonNullable<ReturnType<StatementSync['get']>>

/** A text column of a row; the schema declares it NOT NULL. */
export function text(row: Row, column: string): string {
  return String(row[column])
}

function readBody(row: Row): JsonObject {
  try {
    return parseStoredObject(text(row, 'body'))
  } catch (error) {
    throw new StorageError('damaged', { cause: error })
  }
}

function toObject(row: Row): StoredObject {
  const value = readBody(row)
  if (typeof value.id !== 'string' || typeof value.created_at !== 'string') {
    throw new StorageError('damaged')
  }
  return { ...value, id: value.id, created_at: value.created_at }
}
