import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { OnProgress } from '../../controlplane/build-progress.ts'
import { ensureBaseImage } from './base-image.ts'
import { ImageStore, runTool } from './image-store.ts'

export interface BuildImageOptions {
  readonly onProgress?: OnProgress
  /** Build arguments `VERSION` and `REVISION`; default: the Dockerfile's own. */
  readonly version?: string
  readonly revision?: string
}

/** The image's configuration, by the OCI image specification. */
export interface ImageConfig {
  readonly User?: string
  readonly Env?: readonly string[]
  readonly Entrypoint?: readonly string[]
  readonly Cmd?: readonly string[]
  readonly WorkingDir?: string
  readonly Labels?: Readonly<Record<string, string>>
  readonly Volumes?: unknown
  readonly ExposedPorts?: unknown
}

interface Inspected {
  readonly OCIv1: { readonly config: ImageConfig }
}

/** A built image, in its store. */
export interface BuiltImage {
  readonly store: ImageStore
  /** `localhost/culvert:test`. */
  readonly name: string
  readonly config: ImageConfig
}

const IMAGE = 'localhost/culvert:test'
/** A name for the first stage keeps its layers when those that nobody names are removed. */
const BUILD_STAGE = 'localhost/culvert-build:test'
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Builds the project's own Dockerfile with buildah, on a base made on this machine (`ensureBaseImage`): no container
 * engine and no container registry are needed, and nothing stays mounted. Needs root and Linux. Layers are cached:
 * seconds when only sources changed, some two minutes the first time.
 *
 * @throws ImageError; Error naming programs that cannot be installed
 */
export async function buildImage({
  onProgress = () => {},
  version,
  revision,
}: BuildImageOptions = {}): Promise<BuiltImage> {
  const store = await ImageStore.open()
  await using _lock = await store.lock((holder) => onProgress(`Waiting for process ${holder}, which builds the image`))
  await ensureBaseImage(store, onProgress)
  onProgress('Building the image')
  const flags = [
    ...['bud', '--layers', '--pull=never', '--isolation=chroot', '--network=host'],
    ...(await machineFiles()),
    ...(version === undefined ? [] : ['--build-arg', `VERSION=${version}`]),
    ...(revision === undefined ? [] : ['--build-arg', `REVISION=${revision}`]),
  ]
  await store.buildah(...flags, '--target', 'build', '-t', BUILD_STAGE, ROOT)
  await store.buildah(...flags, '-t', IMAGE, ROOT)
  await store.buildah('rmi', '--prune')
  const inspected = JSON.parse(await store.buildah('inspect', '--type', 'image', IMAGE)) as Inspected
  return { store, name: IMAGE, config: inspected.OCIv1.config }
}

/** Writes the image to a file that `docker load`, `podman load` and `ctr images import` read. */
export async function saveImage({ store, name }: BuiltImage, file: string): Promise<void> {
  await store.buildah('push', name, `docker-archive:${file}:${name}`)
}

/**
 * How this machine reaches npm's registry, for the build alone: its certificate authorities and its configuration of
 * npm.
 */
async function machineFiles(): Promise<readonly string[]> {
  const npmrc = (await runTool('npm', ['config', 'get', 'globalconfig'])).trim()
  const files = {
    '/etc/ssl/certs/ca-certificates.crt': '/etc/ssl/certs/ca-certificates.crt',
    [npmrc]: '/usr/local/etc/npmrc',
  }
  return Object.entries(files).flatMap(([file, inside]) => (existsSync(file) ? ['-v', `${file}:${inside}:ro`] : []))
}
