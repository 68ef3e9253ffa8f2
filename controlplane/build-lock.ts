import { randomUUID } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { systemErrorCode } from './errors.ts'

/** A held lock. */
export interface BuildLock extends AsyncDisposable {
  release(): Promise<void>
}

/** How to wait for a lock. */
export interface BuildLockOptions {
  /** Called once, if another process holds the lock. */
  readonly onWait?: (holder: number) => void
  /** How often the lock is polled while another process holds it, in milliseconds. Default 500. */
  readonly pollMilliseconds?: number
  /** Stops waiting when aborted; the returned promise then rejects with an `AbortError`. */
  readonly signal?: AbortSignal
}

/**
 * Takes a lock, a file with the holder's process id; waits while another living process holds it. A lock whose holder
 * has died is taken over.
 *
 * The lock saves work but does not protect data: builds go to separate folders and are renamed into place, so two
 * builders that take over the same dead lock simultaneously only waste time.
 */
export async function acquireBuildLock(path: string, options: BuildLockOptions = {}): Promise<BuildLock> {
  let told = false
  while (!(await tryCreate(path))) {
    const holder = await readHolder(path)
    if (holder === undefined) continue
    if (!isAlive(holder)) {
      await rm(path, { force: true })
      continue
    }
    if (!told) options.onWait?.(holder)
    told = true
    await delay(options.pollMilliseconds ?? 500, undefined, options.signal && { signal: options.signal })
  }
  const release = (): Promise<void> => rm(path, { force: true })
  return { release, [Symbol.asyncDispose]: release }
}

/** Creates the lock with its content in one step, so that no one reads one without a holder. */
async function tryCreate(path: string): Promise<boolean> {
  const draft = `${path}.${process.pid}-${randomUUID()}`
  await writeFile(draft, String(process.pid))
  try {
    await link(draft, path)
    return true
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft)
  }
}

/** The holder's process id; undefined if the lock has just been released. */
async function readHolder(path: string): Promise<number | undefined> {
  try {
    return Number(await readFile(path, 'utf8'))
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Whether a process exists, including processes of other users. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemErrorCode(error) === 'EPERM'
  }
}
