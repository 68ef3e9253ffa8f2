import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BuiltImage, saveImage } from '../image/build-image.ts'
import { ImageStore } from '../image/image-store.ts'
import { type ContainerRuntime, PAUSE_IMAGE } from './container-runtime.ts'
import type { NodeFolder } from './folder.ts'

const DOCKERFILE = `FROM scratch
COPY pause /pause
USER 65535:65535
ENTRYPOINT ["/pause"]
`

/**
 * Builds the image that every Pod needs from our own program of that name, and imports it into the runtime: nothing is
 * pulled.
 */
export async function importPauseImage(runtime: ContainerRuntime, folder: NodeFolder, pause: string): Promise<void> {
  const store = await ImageStore.open()
  const work = await mkdtemp(join(folder.path, 'pause-'))
  await copyFile(pause, join(work, 'pause'))
  await writeFile(join(work, 'Dockerfile'), DOCKERFILE)
  await using _lock = await store.lock(() => {})
  await store.buildah('bud', '--layers', '--isolation=chroot', '-t', PAUSE_IMAGE, work)
  const file = join(work, 'pause.tar')
  await store.buildah('push', PAUSE_IMAGE, `docker-archive:${file}:${PAUSE_IMAGE}`)
  await runtime.importImage(file)
  await rm(work, { recursive: true })
}

/** Imports an image into the runtime. */
export async function importBuiltImage(
  runtime: ContainerRuntime,
  folder: NodeFolder,
  image: BuiltImage,
): Promise<void> {
  const file = join(folder.path, 'image.tar')
  await saveImage(image, file)
  await runtime.importImage(file)
  await rm(file)
}
