import { DatabaseSync } from 'node:sqlite'
import { guarded, StorageError } from './storage-error.ts'

/**
 * Tables of the emulator.
 *
 * - `objects`: one row per API object. The primary key is the order in which lists page (ids are time-ordered and
 *   compare as bytes), so a page is one range scan whatever the size of the collection.
 * - `links`: references from a holder to a target. `restrict` keeps the target from being deleted, `cascade` deletes
 *   the holder with its target.
 * - `claims`: values that must be unique within a scope, and natural keys to look objects up by.
 * - `labels`: the labels of objects, each as `["key","value"]`.
 * - `tokens`: hashes of API tokens; the first 8 bytes find the candidates, the full hash is compared in constant time.
 * - `routes`: which subscription sends events of a type to which destination.
 * - `deliveries`: events as they were delivered, in order.
 * - `due`: when an object next needs attention by the emulated clock (certificate jobs).
 */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS objects (
  account TEXT NOT NULL, collection TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (account, collection, id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS links (
  account TEXT NOT NULL, holder TEXT NOT NULL, target TEXT NOT NULL, on_delete TEXT NOT NULL,
  PRIMARY KEY (account, holder, target)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS links_by_target ON links (account, target);

CREATE TABLE IF NOT EXISTS claims (
  scope TEXT NOT NULL, value TEXT NOT NULL, account TEXT NOT NULL, id TEXT NOT NULL,
  PRIMARY KEY (scope, value)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS claims_by_id ON claims (account, id);

CREATE TABLE IF NOT EXISTS labels (
  account TEXT NOT NULL, label TEXT NOT NULL, id TEXT NOT NULL,
  PRIMARY KEY (account, label, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS labels_by_id ON labels (account, id);

CREATE TABLE IF NOT EXISTS tokens (
  prefix BLOB NOT NULL, hash BLOB NOT NULL, account TEXT NOT NULL, id TEXT NOT NULL,
  PRIMARY KEY (prefix, hash)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tokens_by_id ON tokens (account, id);

CREATE TABLE IF NOT EXISTS routes (
  account TEXT NOT NULL, type TEXT NOT NULL, subscription TEXT NOT NULL, destination TEXT NOT NULL,
  PRIMARY KEY (account, type, subscription, destination)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS routes_by_subscription ON routes (account, subscription);

CREATE TABLE IF NOT EXISTS deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, destination TEXT NOT NULL, subscription TEXT NOT NULL,
  type TEXT NOT NULL, attempt INTEGER NOT NULL, outcome TEXT NOT NULL, at INTEGER NOT NULL, event TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS due (
  account TEXT NOT NULL, collection TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (account, collection, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS due_by_time ON due (at);

CREATE TABLE IF NOT EXISTS dns (
  name TEXT NOT NULL, type TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (name, type, value)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS accounts (id TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`

/** Every table that holds data, for snapshot, restore and reset. */
export const TABLES = [
  'accounts',
  'objects',
  'links',
  'claims',
  'labels',
  'tokens',
  'routes',
  'deliveries',
  'due',
  'dns',
  'meta',
] as const

/**
 * WAL with `synchronous = NORMAL`: a commit has handed its pages to the operating system before the answer is sent, so
 * a killed process (kill -9) loses nothing that was answered. FULL would add an fsync to each write to survive a power
 * failure too, which an emulator does not promise.
 */
const PRAGMAS = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA busy_timeout = 2000;
`

/** `CVRT`, which identifies the file in its header (https://sqlite.org/pragma.html#pragma_application_id). */
const APPLICATION_ID = 0x43565254

/**
 * Opens a data file, or creates a new one. It is read completely once, so that damage shows here and not in some
 * request.
 *
 * @param location `:memory:` or a path
 * @throws StorageError when the file is damaged, foreign, locked, or cannot be written
 */
export function openDatabase(location: string): DatabaseSync {
  const database = guarded(() => new DatabaseSync(location), location)
  try {
    guarded(() => prepare(database, location), location)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function prepare(database: DatabaseSync, file: string): void {
  const owner = numberOf(database, 'PRAGMA application_id')
  const tables = numberOf(database, "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table'")
  // Files from before the id was introduced have the tables but no id.
  const ours = owner === APPLICATION_ID || (owner === 0 && (tables === 0 || hasObjects(database)))
  if (!ours) throw new StorageError('foreign', { file })
  const [check] = database.prepare('PRAGMA quick_check(1)').all()
  if (check?.quick_check !== 'ok') throw new StorageError('damaged', { file, cause: check?.quick_check })
  database.exec(PRAGMAS)
  database.exec(`BEGIN IMMEDIATE; ${SCHEMA}; PRAGMA application_id = ${APPLICATION_ID}; COMMIT`)
}

function hasObjects(database: DatabaseSync): boolean {
  return numberOf(database, "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table' AND name = 'objects'") === 1
}

/** The only value of the only row. */
function numberOf(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0])
}
