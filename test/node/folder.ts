import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** Where everything of one node is that outlives a process of it. `Cleanup` removes it. */
export interface NodeFolder {
  readonly path: string
  /** Of the node alone: part of names that the whole machine sees. */
  readonly id: string
  /** Standard output and error of the components. */
  readonly logFolder: string
  readonly configFolder: string
}

/** Makes a folder of its own, in the system's temporary folder. */
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
