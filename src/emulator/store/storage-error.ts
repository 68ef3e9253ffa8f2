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
