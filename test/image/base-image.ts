import { createHash } from 'node:crypto'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OnProgress } from '../../controlplane/build-progress.ts'
import { type ImageStore, runTool } from './image-store.ts'

/** What the Dockerfile asks for, and what the substitute is tagged as. */
export const BASE_IMAGE = 'docker.io/library/node:24-bookworm-slim'

/** For wherever results are shown. */
export const BASE_REMARK = process.env.CULVERT_TEST_OFFICIAL_BASE
  ? 'Its base is the official image.'
  : 'Its base was made on this machine: it is not the official image of that name.'

const SUITE = 'bookworm'
const NPM = '11'
const RECIPE_LABEL = 'dev.culvert.base-recipe'

/** As the official image has it; its shell entry point, yarn and user `node` are not used and left out. */
const DOCKERFILE = `FROM scratch
ADD base.tar /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
CMD ["node"]
`

/**
 * Sees to it that the store has an image under the name of the official one, made here from Debian's packages, this
 * process's own Node and npm from its registry: the tests need no container registry. About a minute, once. With
 * CULVERT_TEST_OFFICIAL_BASE set, the official image itself is pulled instead: the one that it names by digest, or that
 * of the tag.
 */
export async function ensureBaseImage(store: ImageStore, onProgress: OnProgress): Promise<void> {
  const official = process.env.CULVERT_TEST_OFFICIAL_BASE
  if (official) {
    const image = official.includes('@sha256:') ? official : BASE_IMAGE
    onProgress(`Pulling ${image}`)
    await store.buildah('pull', '--policy', 'always', image)
    if (image !== BASE_IMAGE) await store.buildah('tag', image, BASE_IMAGE)
    return
  }
  const recipe = await recipeHash()
  if ((await labelOf(store)) === recipe) return
  onProgress(`Making ${BASE_IMAGE} from Debian ${SUITE} and Node ${process.versions.node} (once; about a minute)`)
  const work = await mkdtemp(join(store.folder, 'tmp', 'base-'))
  try {
    await makeRootFolder(join(work, 'rootfs'), join(work, 'npm'))
    await runTool('tar', ['-C', join(work, 'rootfs'), '-cf', join(work, 'base.tar'), '.'])
    await rm(join(work, 'rootfs'), { recursive: true })
    await writeFile(join(work, 'Dockerfile'), DOCKERFILE)
    const label = ['--label', `${RECIPE_LABEL}=${recipe}`]
    await store.buildah('bud', '--pull=never', '--isolation=chroot', ...label, '-t', BASE_IMAGE, work)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function makeRootFolder(root: string, npm: string): Promise<void> {
  await runTool('debootstrap', ['--variant=minbase', '--include=ca-certificates', SUITE, root])
  await runTool('npm', ['install', '--prefix', npm, '--ignore-scripts', '--no-audit', '--no-fund', `npm@${NPM}`])
  const local = join(root, 'usr/local')
  await copyFile(process.execPath, join(local, 'bin/node'))
  await runTool('sh', [
    '-euc',
    `mkdir -p "$1/lib/node_modules"
     cp -r "$2/node_modules/npm" "$1/lib/node_modules/npm"
     ln -s ../lib/node_modules/npm/bin/npm-cli.js "$1/bin/npm"
     rm -rf "$3"/var/cache/apt/archives/*.deb "$3"/var/lib/apt/lists/*`,
    ...['script', local, npm, root],
  ])
}

/** A changed recipe, another Node or another machine type make another base. */
async function recipeHash(): Promise<string> {
  const hash = createHash('sha256').update(await readFile(import.meta.filename))
  return hash.update(`${process.version} ${process.arch}`).digest('hex')
}

async function labelOf(store: ImageStore): Promise<string | undefined> {
  if ((await store.idOf(BASE_IMAGE)) === undefined) return undefined
  const format = `{{index .OCIv1.Config.Labels "${RECIPE_LABEL}"}}`
  return (await store.buildah('inspect', '--type', 'image', '--format', format, BASE_IMAGE)).trim()
}
