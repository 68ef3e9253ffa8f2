import type { TestProject } from 'vitest/node'
import { buildImage } from './build-image.ts'
import { removeUnpacked, unpackImage } from './unpack.ts'
import './provided.ts'

/** Build arguments of the suite's image, which its labels must show. */
export const BUILT_AS = { version: '1.2.3', revision: '0123456789abcdef0123456789abcdef01234567' } as const

/** One image for the whole suite. Returns the teardown. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const onProgress = (message: string): void => console.error(message)
  const image = await unpackImage(await buildImage({ onProgress, ...BUILT_AS }))
  project.provide('image', image)
  return () => removeUnpacked(image)
}
