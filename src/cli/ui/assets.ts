import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A file of the page, as it is sent. */
export interface Asset {
  readonly type: string
  readonly body: Buffer
}

/** The files of the page by their paths. The page has no others, and nothing is built. */
const FILES: Readonly<Record<string, string>> = {
  '/': 'page.html',
  '/page.css': 'page.css',
  '/app.js': 'app.js',
  '/model.js': 'model.js',
  '/preact.js': 'preact.js',
  '/htm.js': 'htm.js',
}

const TYPES: Readonly<Record<string, string>> = { html: 'text/html', css: 'text/css', js: 'text/javascript' }

/** Modules of npm packages, in the form that browsers import, and the name under which `app.js` imports each. */
const LIBRARIES: Readonly<Record<string, { readonly name: string; readonly file: string }>> = {
  'preact.js': { name: 'preact', file: 'preact.mjs' },
  'htm.js': { name: 'htm', file: 'htm.module.js' },
}

/** Next to the program of the image, which has no packages (`scripts/bundle.ts`). */
const BUNDLED = fileURLToPath(new URL('../page/', import.meta.url))
/** From `src/cli/ui` as from `dist/cli/ui`. */
const SOURCES = fileURLToPath(new URL('../../../src/cli/ui/page/', import.meta.url))

/** Names of all files, for a program that brings them along. */
export const assetNames: readonly string[] = Object.values(FILES)

/** Reads all files of the page, by path. */
export async function readAssets(): Promise<ReadonlyMap<string, Asset>> {
  const isBundled = existsSync(join(BUNDLED, 'page.html'))
  const entries = Object.entries(FILES).map(async ([path, name]): Promise<[string, Asset]> => {
    const text = await readFile(isBundled ? join(BUNDLED, name) : assetPath(name), 'utf8')
    const type = `${TYPES[name.replace(/.*\./, '')]}; charset=utf-8`
    return [path, { type, body: Buffer.from(withPaths(text)) }]
  })
  return new Map(await Promise.all(entries))
}

/** Where a file of the page is in a clone or an installed package. */
export function assetPath(name: string): string {
  const library = LIBRARIES[name]
  if (library === undefined) return join(SOURCES, name)
  return join(dirname(createRequire(import.meta.url).resolve(library.name)), library.file)
}

/** Browsers import by path: an import map would be an inline script, which the page's policy forbids. */
function withPaths(text: string): string {
  return Object.entries(LIBRARIES).reduce((changed, [file, { name }]) => {
    return changed.replaceAll(`from '${name}'`, `from '/${file}'`)
  }, text)
}
