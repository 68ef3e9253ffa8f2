import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { assetNames, assetPath } from '../src/cli/ui/assets.ts'
import { frugalModules } from './frugal-modules.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * Escapes characters beyond Latin-1: V8 keeps the source of a running program, and with a single such character in a
 * file each one takes two bytes. Without comments they stand in literals only, where an escape means the same.
 */
const oneByteText: Plugin = {
  name: 'one-byte-text',
  generateBundle: (_, chunks) => {
    for (const chunk of Object.values(chunks)) {
      if (chunk.type === 'chunk') chunk.code = chunk.code.replaceAll(/[^\0-\xff]/g, escaped)
    }
  },
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/**
 * Writes the `culvert` command as one program instead of its sources and 160 packages: `bin/culvert.js`, `dist/`,
 * `page/` with the files of `culvert ui`, and a package.json with what is said of it. Not minified, so that stack traces can be read, but without comments, which
 * would take memory. `folder` is made if need be.
 * @returns the path of the program
 */
export async function bundle(folder: string): Promise<string> {
  await mkdir(join(folder, 'bin'), { recursive: true })
  // Optional native parts of ssh2, which computes in JavaScript without them.
  const external = /\.node$/
  // ssh2 is CommonJS, and names its own folder.
  const transform = { define: { __dirname: 'import.meta.dirname' } }
  // Classes of every kind of Kubernetes, which reading a kubeconfig needs none of: 1.2 MB of code, and 8 MiB of an idle
  // operator.
  const treeshake = { moduleSideEffects: [{ test: /@kubernetes\/client-node\/dist\/gen\//, sideEffects: false }] }
  const input = join(ROOT, 'src/main.ts')
  const build = await rolldown({
    input,
    platform: 'node',
    cwd: ROOT,
    external,
    transform,
    treeshake,
    plugins: [frugalModules],
  })
  await build.write({ dir: join(folder, 'dist'), format: 'esm', comments: false, plugins: [oneByteText] })
  await build.close()
  const { name, version, license, type } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Record<
    string,
    string
  >
  await writeFile(join(folder, 'package.json'), `${JSON.stringify({ name, version, license, type }, null, 2)}\n`)
  await mkdir(join(folder, 'page'), { recursive: true })
  await Promise.all(assetNames.map((name) => copyFile(assetPath(name), join(folder, 'page', name))))
  const program = join(folder, 'bin/culvert.js')
  await copyFile(join(ROOT, 'bin/culvert.js'), program)
  return program
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2)
  if (folder === undefined) throw new Error('usage: node scripts/bundle.ts FOLDER')
  console.log(await bundle(resolve(folder)))
}
