import { save } from '../objects/operations.ts'
import { type Services, WriteContext } from '../objects/write-context.ts'
import { type StoredObject, TABLES } from '../store/database.ts'
import { type Store, text } from '../store/emulator-store.ts'
import { isJsonObject, type Json, type JsonObject, parseStoredObject, textOf } from '../values/json.ts'
import { invalid, RequestError } from '../values/request-error.ts'

/** Everything the emulator stores. Objects are raw: as stored, with secrets, without addresses. */
export interface Snapshot extends JsonObject {
  /** Accounts by id: name, and objects by collection, oldest first. */
  accounts: { [account: string]: { name: string; objects: { [collection: string]: JsonObject[] } } }
  /** Hashes of the API tokens. */
  tokens: { account: string; id: string; hash: string }[]
  dns: { name: string; type: string; value: string }[]
  meta: { [key: string]: string }
}

export function takeSnapshot(store: Store): Snapshot {
  const accounts: Snapshot['accounts'] = {}
  for (const row of store.all('SELECT id, name FROM accounts ORDER BY id', [])) {
    accounts[text(row, 'id')] = { name: text(row, 'name'), objects: objectsOf(store, text(row, 'id')) }
  }
  return {
    accounts,
    tokens: store.all('SELECT account, id, hash FROM tokens ORDER BY id', []).map((row) => ({
      account: text(row, 'account'),
      id: text(row, 'id'),
      hash: row.hash instanceof Uint8Array ? Buffer.from(row.hash).toString('hex') : '',
    })),
    dns: store
      .all('SELECT name, type, value FROM dns ORDER BY name, type, value', [])
      .map((row) => ({ name: text(row, 'name'), type: text(row, 'type'), value: text(row, 'value') })),
    meta: Object.fromEntries(
      store.all('SELECT key, value FROM meta ORDER BY key', []).map((row) => [text(row, 'key'), text(row, 'value')]),
    ),
  }
}

function objectsOf(store: Store, account: string): { [collection: string]: JsonObject[] } {
  const collections: { [collection: string]: JsonObject[] } = {}
  for (const row of store.all('SELECT collection, body FROM objects WHERE account = ? ORDER BY collection, id', [
    account,
  ])) {
    const collection = text(row, 'collection')
    collections[collection] ??= []
    collections[collection].push(parseStoredObject(text(row, 'body')))
  }
  return collections
}

/** Empties every table. Must run inside a transaction. */
export function wipe(store: Store): void {
  for (const table of TABLES) store.run(`DELETE FROM ${table}`, [])
  store.changes.clear()
}

/** Replaces everything stored with a result of `takeSnapshot`; nothing changes when it cannot be read. */
export function restoreSnapshot(snapshot: JsonObject, services: Services): void {
  const { store } = services
  store.transaction(() => {
    wipe(store)
    const accounts = Object.entries(requireObject(snapshot.accounts, 'accounts'))
    for (const [account, value] of accounts) {
      const name = requireObject(value, `accounts.${account}`).name
      store.run('INSERT INTO accounts (id, name) VALUES (?, ?)', [account, typeof name === 'string' ? name : ''])
    }
    // Twice: an edge's links are found through the claims of domains and addresses, which may come in any order.
    for (let pass = 0; pass < 2; pass += 1) {
      for (const [account, value] of accounts) restoreObjects(account, requireObject(value, account).objects, services)
    }
    for (const token of requireList(snapshot.tokens, 'tokens')) restoreToken(token, store)
    for (const record of requireList(snapshot.dns, 'dns')) {
      store.run('INSERT INTO dns (name, type, value) VALUES (?, ?, ?)', [
        textOf(record, 'name'),
        textOf(record, 'type'),
        textOf(record, 'value'),
      ])
    }
    for (const [key, value] of Object.entries(requireObject(snapshot.meta, 'meta'))) {
      if (typeof value === 'string') store.setMeta(key, value)
    }
  })
}

function restoreObjects(account: string, objects: Json | undefined, services: Services): void {
  const context = WriteContext.own(services, account)
  for (const [path, list] of Object.entries(requireObject(objects, 'objects'))) {
    const resource = services.resources.byPath(path)
    if (resource === undefined) throw invalid(`objects.${path}`, 'is not a collection')
    for (const object of requireList(list, `objects.${path}`)) save(resource, stored(object), context)
  }
}

function restoreToken(token: JsonObject, store: Store): void {
  const hash = Buffer.from(textOf(token, 'hash'), 'hex')
  store.run('INSERT INTO tokens (prefix, hash, account, id) VALUES (?, ?, ?, ?)', [
    hash.subarray(0, 8),
    hash,
    textOf(token, 'account'),
    textOf(token, 'id'),
  ])
}

function stored(object: JsonObject): StoredObject {
  const { id, created_at } = object
  if (typeof id !== 'string' || typeof created_at !== 'string')
    throw invalid('objects', 'an object has no id or created_at')
  return { ...object, id, created_at }
}

function requireObject(value: Json | undefined, at: string): JsonObject {
  if (!isJsonObject(value)) throw new RequestError('invalidField', `${at} must be an object`, { field: at })
  return value
}

function requireList(value: Json | undefined, at: string): JsonObject[] {
  if (!Array.isArray(value)) throw new RequestError('invalidField', `${at} must be a list`, { field: at })
  return value.map((entry, index) => requireObject(entry, `${at}[${index}]`))
}
