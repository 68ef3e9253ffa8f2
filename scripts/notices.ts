import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { productionPackages } from './production-packages.ts'

/**
 * Prints the licences and notices of Culvert's production packages, as installed: `node scripts/notices.ts`.
 * The image contains them as one program, without their folders, and most licences require their text to be included.
 */
async function main(root: string): Promise<void> {
  for (const { path, name, version } of await productionPackages(root)) {
    const texts = await licenceTexts(join(root, path))
    console.log(`${'='.repeat(80)}\n${name} ${version}\n${'='.repeat(80)}\n\n${texts.join('\n\n')}\n`)
  }
}

const LICENCE_FILE = /^(licen[cs]e|notice|copying|copyright)/i

/** Falls back to package.json: some packages include no text. */
async function licenceTexts(folder: string): Promise<readonly string[]> {
  const files = (await readdir(folder, { withFileTypes: true })).filter((entry) => {
    return entry.isFile() && LICENCE_FILE.test(entry.name)
  })
  if (files.length > 0) return Promise.all(files.map(({ name }) => readFile(join(folder, name), 'utf8')))
  const { license = 'unknown' } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    readonly license?: string
  }
  return [`Licence: ${license}`]
}

await main(fileURLToPath(new URL('..', import.meta.url)))
