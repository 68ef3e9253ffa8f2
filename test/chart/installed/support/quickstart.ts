import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../../support/paths.ts'
import type { AccountAtEmulator } from './account-at-emulator.ts'

const FOLDER = join(ROOT, 'examples', 'quickstart')

/** Address and key of the service in the manifests. */
const WRITTEN = { url: 'http://127.0.0.1:4040', apiKey: 'demo-key' }

/** The manifests of examples/quickstart, pointed at an emulator. */
export async function quickstartAt({ url, apiKey }: AccountAtEmulator): Promise<string> {
  const files = (await readdir(FOLDER)).sort()
  const texts = await Promise.all(files.map((file) => readFile(join(FOLDER, file), 'utf8')))
  return texts.join('\n---\n').replaceAll(WRITTEN.url, url).replaceAll(WRITTEN.apiKey, apiKey)
}

/** The number of Culvert resources in manifests. */
export function countResources(manifests: string): number {
  return manifests.match(/^apiVersion: culvert\.dev\//gm)?.length ?? 0
}
