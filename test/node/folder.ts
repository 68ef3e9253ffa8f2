import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** The files of one node that outlive its processes. `Cleanup` removes them. */
export interface NodeFolder {
  readonly path: string
  /** Unique to the node: part of names that are visible on the whole machine. */
  readonly id: string
  /** Standard output and error of the components. */
  readonly logFolder: string
  readonly configFolder: string
}

/** Creates a folder in the system's temporary folder. */
export async function createNodeFolder(): Promise<NodeFolder> {
  const path = await mkdtemp(join(tmpdir(), 'culvert-node-'))
  const folder = {
    path,
    id: basename(path),
    logFolder: join(path, 'log'),
    configFolder: join(path, 'config'),
  }
  await mkdir(folder.logFolder)
  await mkdir(folder.configFolder, { mode: 0o700 })
  return folder
}
