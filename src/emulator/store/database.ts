import { DatabaseSync } from 'node:sqlite'
import type { JsonObject } from '../values/json.ts'

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

/** What is wrong with the data file. */
export type StorageProblem =
  | 'full' // no room on the disk, or a limit on the file's size
  | 'unwritable' // the disk or the operating system refuses writes
  | 'readOnly' // the file or its folder is read-only
  | 'locked' // another process uses it
  | 'damaged' // its content is not what was written
  | 'foreign' // a database, but not the emulator's

/** Each message says what to do, for the person who started the emulator. */
const WORDS: Readonly<Record<StorageProblem, string>> = {
  full: 'the data file cannot grow because its disk is full: free some space',
  unwritable: 'the data file cannot be read or written: check its folder, its disk and the limit on file size',
  readOnly: 'the data file or its folder is not writable: change their permissions',
  locked: 'another process has locked the data file: stop it, or use another file',
  damaged: 'the data file is damaged: restore a backup, or remove it with its -wal and -shm files to start afresh',
  foreign: 'the data file is a database of another program: use another file',
}

/**
 * The data file failed. The transaction in progress was rolled back; earlier answers stay valid as far as the file is
 * readable.
 */
export class StorageError extends Error {
  override readonly name = 'StorageError'
  readonly code: StorageProblem

  constructor(code: StorageProblem, options: ErrorOptions & { readonly file?: string } = {}) {
    super(options.file === undefined ? WORDS[code] : `${options.file}: ${WORDS[code]}`, options)
    this.code = code
  }
}

/** Primary result codes of SQLite (https://sqlite.org/rescode.html) that concern the file and not the statement. */
const PROBLEMS: Readonly<Record<number, StorageProblem>> = {
  5: 'locked', // SQLITE_BUSY
  6: 'locked', // SQLITE_LOCKED
  8: 'readOnly', // SQLITE_READONLY
  10: 'unwritable', // SQLITE_IOERR
  11: 'damaged', // SQLITE_CORRUPT
  13: 'full', // SQLITE_FULL
  14: 'unwritable', // SQLITE_CANTOPEN
  26: 'damaged', // SQLITE_NOTADB
}

/** Runs `work`; SQLite's errors about the file become StorageErrors, all others are unchanged. */
export function guarded<T>(work: () => T, file?: string): T {
  try {
    return work()
  } catch (error) {
    const problem = problemOf(error)
    if (problem === undefined) throw error
    throw new StorageError(problem, { cause: error, ...(file === undefined ? {} : { file }) })
  }
}

function problemOf(error: unknown): StorageProblem | undefined {
  const code = error instanceof Error ? Reflect.get(error, 'errcode') : undefined
  // The lowest byte of an extended code is the primary one.
  return typeof code === 'number' ? PROBLEMS[code & 0xff] : undefined
}

/** An API object as stored: body fields in the form they were sent in, plus internal state. */
export interface StoredObject extends JsonObject {
  id: string
  created_at: string
}

/** A link to another object; see `links` in the schema. */
export interface Link {
  readonly target: string
  readonly onDelete: 'restrict' | 'cascade'
}

/** A value that must be unique within its scope. */
export interface Claim {
  readonly scope: string
  readonly value: string
}

export interface ObjectKey {
  readonly account: string
  readonly collection: string
  readonly id: string
}
