import { parseArgs } from 'node:util'
import { BASE_REMARK } from './base-image.ts'
import { buildImage, saveImage } from './build-image.ts'
import { ImageError } from './image-store.ts'
import { removeUnpacked, unpackImage } from './unpack.ts'

const USAGE = `Builds the image from the project's Dockerfile, without a container engine, on a base made here. As root, on a Debian.

  npx node test/image/main.ts [--version VERSION] [--revision COMMIT] [--save FILE]

  --save FILE  write it for docker load, podman load or ctr images import`

/** Prints what was built, and how large it is. */
async function main(): Promise<void> {
  const options = { version: { type: 'string' }, revision: { type: 'string' }, save: { type: 'string' } } as const
  const { values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } })
  if (values.help) {
    console.log(USAGE)
    return
  }
  const image = await buildImage({
    onProgress: (message) => console.error(message),
    ...(values.version === undefined ? {} : { version: values.version }),
    ...(values.revision === undefined ? {} : { revision: values.revision }),
  })
  const unpacked = await unpackImage(image)
  const { all, added } = unpacked.bytes
  await removeUnpacked(unpacked)
  if (values.save !== undefined) await saveImage(image, values.save)
  console.log(`${image.name}: ${megabytes(all)} unpacked, of which Culvert ${megabytes(added)}`)
  console.log(BASE_REMARK)
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

try {
  await main()
} catch (error) {
  if (!(error instanceof ImageError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
