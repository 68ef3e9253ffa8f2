import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A package that Culvert needs in production, according to the lock file. */
export interface ProductionPackage {
  /** Its folder, below the project's. */
  readonly path: string
  readonly name: string
  readonly version: string
}

interface LockFile {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly name?: string; readonly dev?: true }>
  >
}

const FOLDER = 'node_modules/'

/**
 * The packages that `npm ci --omit=dev` installs: all that the lock file does not mark as needed only for development.
 */
export async function productionPackages(root: string): Promise<readonly ProductionPackage[]> {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as LockFile
  return Object.entries(packages).flatMap(([path, { version, name, dev }]) => {
    if (!path.startsWith(FOLDER) || dev === true || version === undefined) return []
    return [{ path, version, name: name ?? path.slice(path.lastIndexOf(FOLDER) + FOLDER.length) }]
  })
}
