/** What is wrong with the data file. */
export type StorageProblem =
  | 'full' // no room on the disk, or a limit on the file's size
  | 'unwritable' // a disk or a system that does not take what is written
  | 'readOnly' // the file or its folder may not be written
  | 'locked' // another process has it
  | 'damaged' // not what was written to it
  | 'foreign' // a database, but not one of the emulator's

/** What to do stands in each message: the reader is whoever started the emulator. */
const WORDS: Readonly<Record<StorageProblem, string>> = {
  full: 'the data file cannot grow, since its disk is full: make room',
  unwritable:
    'the data file cannot be read or written: look at its folder, its disk and the limit on the size of files',
  readOnly: 'the data file or its folder may not be written: change their permissions',
  locked: 'another process has locked the data file: end it, or take another file',
  damaged: 'the data file is damaged: take a copy from before, or remove it with its -wal and -shm files to begin anew',
  foreign: 'the data file is a database of another program: take another file',
}

/** The data file failed. What was under way was undone; what was answered before is kept as far as the file is readable. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
  readonly code: StorageProblem

  constructor(code: StorageProblem, options: ErrorOptions & { readonly file?: string } = {}) {
    super(options.file === undefined ? WORDS[code] : `${options.file}: ${WORDS[code]}`, options)
    this.code = code
  }
}

/** Primary result codes of SQLite (https://sqlite.org/rescode.html) that speak of the file and not of the statement. */
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

/** Runs `work`; what SQLite throws about the file comes out as StorageError, everything else as it is. */
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
  // Extended codes have the primary one in their lowest byte.
  return typeof code === 'number' ? PROBLEMS[code & 0xff] : undefined
}
