import { access, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { acquireBuildLock, isAlive } from './build-lock.ts'
import { systemErrorCode } from './errors.ts'

/** A build made once on a machine. */
export interface CachedBuild {
  /** Its folder; there is one for each input. */
  readonly folder: string
  /** Builds into this new, empty folder, which is renamed afterwards. */
  readonly build: (staging: string) => Promise<void>
  /** Called once, if another process is building. */
  readonly onWait?: (holder: number) => void
  /** Stops waiting for another process when aborted. */
  readonly signal?: AbortSignal
}

/** Builds the folder unless it exists. Several processes may call it at the same time. */
export async function buildOnce({ folder, build, onWait, signal }: CachedBuild): Promise<void> {
  if (await exists(folder)) return
  const cacheFolder = dirname(folder)
  await mkdir(cacheFolder, { recursive: true })
  await using _lock = await acquireBuildLock(`${folder}.lock`, {
    ...(onWait && { onWait }),
    ...(signal && { signal }),
  })
  if (await exists(folder)) return
  await removeAbandonedBuilds(cacheFolder)
  const staging = `${folder}.building-${process.pid}`
  try {
    await mkdir(staging)
    await build(staging)
    await moveIntoPlace(staging, folder)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** Renames a finished build into the cache; another one that came first is equivalent. */
async function moveIntoPlace(staging: string, folder: string): Promise<void> {
  try {
    await rename(staging, folder)
  } catch (error) {
    const code = systemErrorCode(error)
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
  }
}

/** Removes what killed builders left in the cache. */
async function removeAbandonedBuilds(cacheFolder: string): Promise<void> {
  for (const name of await readdir(cacheFolder)) {
    const builder = /\.building-(\d+)$/.exec(name)?.[1]
    if (builder !== undefined && !isAlive(Number(builder))) {
      await rm(join(cacheFolder, name), { recursive: true, force: true })
    }
  }
}

/** Whether the path exists. */
export async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false
    throw error
  }
}
