import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { defaultCacheFolder } from '../../controlplane/build.ts'
import { acquireBuildLock, type BuildLock } from '../../controlplane/build-lock.ts'
import { runProgram } from '../../controlplane/run-program.ts'
import { requirePrograms } from '../builders/system-programs.ts'

/** Programs that images are built, unpacked and run with, and Debian's packages of them. */
const PROGRAMS = { buildah: 'buildah', runc: 'runc', debootstrap: 'debootstrap' } as const

/** A program of the image tools failed; the message ends with what it said. */
export class ImageError extends Error {
  readonly code = 'IMAGE_TOOL_FAILED'

  constructor(message: string) {
    super(message)
    this.name = 'ImageError'
  }
}

/** Runs a program for its output. @throws ImageError with its last lines. */
export async function runTool(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, args, { env })
  if (code === 0) return stdout
  const said = `${stdout}\n${stderr}`.trim().split('\n').slice(-25).join('\n')
  throw new ImageError(`${program} ${args.join(' ')} ended with ${code}:\n${said}`)
}

/** Images kept in the user's cache, apart from those of any container engine on the machine. */
export class ImageStore {
  /** Everything is in here. */
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  /** Opens the store, installing the programs that are missing. @throws Error naming what cannot be installed. */
  static async open(): Promise<ImageStore> {
    await requirePrograms(PROGRAMS)
    const folder = join(dirname(defaultCacheFolder(process.env, homedir())), 'image')
    await mkdir(join(folder, 'tmp'), { recursive: true })
    return new ImageStore(folder)
  }

  lock(onWait: (holder: number) => void): Promise<BuildLock> {
    return acquireBuildLock(join(this.folder, 'lock'), { onWait })
  }

  buildah(...args: readonly string[]): Promise<string> {
    return this.#inMountNamespace(['buildah', ...this.#storeFlags(), ...args])
  }

  /** Runs a script that finds `buildah` with its flags as a function, and `args` as `$1` and on. */
  script(text: string, ...args: readonly string[]): Promise<string> {
    const flags = this.#storeFlags().map((flag) => `'${flag}'`)
    return this.#inMountNamespace([
      ...['sh', '-euc', `buildah() { command buildah ${flags.join(' ')} "$@"; }\n${text}`, 'script'],
      ...args,
    ])
  }

  /** The id of an image, or undefined: it is not in the store. */
  async idOf(name: string): Promise<string | undefined> {
    const images = await this.buildah('images', '--no-trunc', '--quiet', '--filter', `reference=${name}`)
    return images.trim().split('\n')[0] || undefined
  }

  #storeFlags(): readonly string[] {
    const { folder } = this
    return ['--root', `${folder}/storage`, '--runroot', `${folder}/run`, '--storage-driver', 'overlay']
  }

  /** Whatever is mounted meanwhile is gone with the namespace, however the program ends. */
  #inMountNamespace(command: readonly string[]): Promise<string> {
    return runTool('unshare', ['--mount', '--propagation', 'private', '--', ...command], {
      ...process.env,
      TMPDIR: join(this.folder, 'tmp'),
    })
  }
}
