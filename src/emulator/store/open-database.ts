import { DatabaseSync } from 'node:sqlite'
import { PRAGMAS, SCHEMA } from './schema.ts'
import { guarded, StorageError } from './storage-error.ts'

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
