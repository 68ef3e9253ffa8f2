import { createHash } from 'node:crypto'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { stringify } from 'yaml'
import { runProgram } from '../controlplane/run-program.ts'
import { bundle } from './bundle.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const ARCHIVE = 'culvert.tar.gz'

/** What a plugin of kubectl is released as. */
export interface KrewOptions {
  /** Where both files go; made if need be. */
  readonly folder: string
  /** Where people download the archive. */
  readonly uri: string
  readonly homepage?: string | undefined
}

/**
 * Writes `kubectl culvert` as Krew, the package manager of kubectl plugins, takes it: `culvert.tar.gz`, the program of
 * the image, and `culvert.yaml`, the manifest with its digest. The program runs on Node 24 or newer, so that one
 * archive serves all platforms whose shells understand its first line.
 */
export async function writeKrewPlugin({ folder, uri, homepage }: KrewOptions): Promise<void> {
  await mkdir(folder, { recursive: true })
  const content = await mkdtemp(join(tmpdir(), 'culvert-krew-'))
  try {
    await chmod(await bundle(content), 0o755)
    await copyFile(join(ROOT, 'LICENSE'), join(content, 'LICENSE'))
    await writeFile(
      join(content, 'THIRD-PARTY-NOTICES'),
      await outputOf(process.execPath, [join(ROOT, 'scripts/notices.ts')]),
    )
    await outputOf('tar', ['-czf', join(folder, ARCHIVE), '-C', content, '.'])
  } finally {
    await rm(content, { recursive: true, force: true })
  }
  const sha256 = createHash('sha256')
    .update(await readFile(join(folder, ARCHIVE)))
    .digest('hex')
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string }
  await writeFile(join(folder, 'culvert.yaml'), stringify(manifest({ version, sha256, uri, homepage })))
}

function manifest({
  version,
  sha256,
  uri,
  homepage,
}: {
  readonly version: string
  readonly sha256: string
  readonly uri: string
  readonly homepage: string | undefined
}) {
  const selector = { matchExpressions: [{ key: 'os', operator: 'In', values: ['darwin', 'linux'] }] }
  return {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'culvert' },
    spec: {
      version: `v${version}`,
      ...(homepage === undefined ? {} : { homepage }),
      shortDescription: 'Plan, explain and inspect Culvert resources',
      description:
        'Previews what manifests would change in an account of a tunnel-and-ingress service, exports existing objects, ' +
        'shows what resources wait for and how to fix it, and sends requests to the Culvert operator.\n',
      caveats: 'Needs Node 24 or newer on the PATH.\n',
      platforms: [{ selector, uri, sha256, bin: 'bin/culvert.js' }],
    },
  }
}

async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, args)
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${stderr}`)
  return stdout
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { folder: { type: 'string' }, uri: { type: 'string' }, homepage: { type: 'string' } },
  })
  const { folder, uri, homepage } = values
  if (folder === undefined || uri === undefined) {
    throw new Error('usage: node scripts/krew.ts --folder FOLDER --uri URI [--homepage URL]')
  }
  await writeKrewPlugin({ folder: resolve(folder), uri, homepage })
}
