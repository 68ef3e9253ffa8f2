import { randomUUID } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive } from '../../controlplane/build-lock.ts'
import { BASE_IMAGE } from './base-image.ts'
import type { BuiltImage, ImageConfig } from './build-image.ts'
import { runTool } from './image-store.ts'

/** An image's files in a folder, to look at and to run. */
export interface UnpackedImage {
  readonly config: ImageConfig
  /** The image's root folder. */
  readonly rootfs: string
  /** Absolute paths in the image of what its base does not have. */
  readonly added: readonly string[]
  /** Bytes of all files, and of those that are added. */
  readonly bytes: { readonly all: number; readonly added: number }
}

const PREFIX = 'unpacked-'

/** Copies the files of an image out of the store. `removeUnpacked` removes them. */
export async function unpackImage({ store, name, config }: BuiltImage): Promise<UnpackedImage> {
  await removeAbandoned(store.folder)
  const folder = join(store.folder, `${PREFIX}${process.pid}-${randomUUID()}`)
  const script = `
    mkdir -p "$3/rootfs"
    list() { (cd "$1" && find . -mindepth 1 | sort); }
    base=$(buildah from --pull-never "$1"); image=$(buildah from --pull-never "$2")
    trap 'buildah rm "$base" "$image" >/dev/null' EXIT
    list "$(buildah mount "$base")" > "$3/base.txt"
    mounted=$(buildah mount "$image")
    list "$mounted" > "$3/image.txt"
    cp -a "$mounted/." "$3/rootfs/"`
  await store.script(script, BASE_IMAGE, name, folder)
  const [base, image] = await Promise.all(['base.txt', 'image.txt'].map((file) => linesOf(join(folder, file))))
  const known = new Set(base)
  const added = (image ?? []).filter((path) => !known.has(path)).map((path) => path.slice(1))
  const rootfs = join(folder, 'rootfs')
  const app = join(rootfs, 'usr/local/lib/culvert')
  return { config, rootfs, added, bytes: { all: await bytesOf(rootfs), added: await bytesOf(app) } }
}

export async function removeUnpacked({ rootfs }: UnpackedImage): Promise<void> {
  await rm(join(rootfs, '..'), { recursive: true, force: true })
}

/** What processes that were killed left behind. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, owner] = /^unpacked-(\d+)-/.exec(name) ?? []
    if (owner !== undefined && !isAlive(Number(owner))) await rm(join(folder, name), { recursive: true, force: true })
  }
}

async function linesOf(file: string): Promise<readonly string[]> {
  return (await readFile(file, 'utf8')).trimEnd().split('\n')
}

async function bytesOf(folder: string): Promise<number> {
  return Number((await runTool('du', ['--summarize', '--bytes', folder])).split('\t')[0])
}
