import { access, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { acquireBuildLock, isAlive } from './build-lock.ts'
import { systemErrorCode } from './errors.ts'

/** What is built once on a machine. */
export interface CachedBuild {
  /** Where it is kept; there is one for each input. */
  readonly folder: string
  /** Builds into this folder, which is new and empty. It takes the final name afterwards. */
  readonly build: (staging: string) => Promise<void>
  /** Called once, when another process is at it. */
  readonly onWait?: (holder: number) => void
}

/** Makes the folder unless it is there already. Safe for several processes at a time. */
export async function buildOnce({ folder, build, onWait }: CachedBuild): Promise<void> {
  if (await exists(folder)) return
  const cacheFolder = dirname(folder)
  await mkdir(cacheFolder, { recursive: true })
  await using _lock = await acquireBuildLock(`${folder}.lock`, onWait === undefined ? {} : { onWait })
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

/** Renames a finished build into the cache; one that came first is as good. */
async function moveIntoPlace(staging: string, folder: string): Promise<void> {
  try {
    await rename(staging, folder)
  } catch (error) {
    const code = systemErrorCode(error)
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
  }
}

/** Removes what builders that were killed left in the cache. */
async function removeAbandonedBuilds(cacheFolder: string): Promise<void> {
  for (const name of await readdir(cacheFolder)) {
    const builder = /\.building-(\d+)$/.exec(name)?.[1]
    if (builder !== undefined && !isAlive(Number(builder))) {
      await rm(join(cacheFolder, name), { recursive: true, force: true })
    }
  }
}

/** Whether there is something at the path. */
export async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false
    throw error
  }
}
