import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { defaultCacheFolder } from './build.ts'
import { buildOnce } from './cached-build.ts'
import { goIn, requireGo } from './go-toolchain.ts'
import { readModule, sourceHash } from './source-hash.ts'

const FLAGS = ['-trimpath', '-buildvcs=false', '-mod=readonly']

/**
 * Path of the program of a Go module of the tests, built first if this machine has not built this state of it: a minute
 * or more.
 *
 * @param more further arguments of `go build`
 * @param source the program's package. Default: the module's own
 */
export async function goProgram(module: string, more: readonly string[] = [], source = '.'): Promise<string> {
  const name = basename(module)
  const target = `${process.platform}/${process.arch}`
  const flags = [...FLAGS, ...more]
  const hash = sourceHash({ files: await readModule(module), target, flags })
  const folder = join(dirname(defaultCacheFolder(process.env, homedir())), 'tools', `${name}-${hash}`)
  await buildOnce({ folder, build: (staging) => build(module, [...flags, '-o', join(staging, name), source]) })
  return join(folder, name)
}

async function build(module: string, args: readonly string[]): Promise<void> {
  await requireGo(goIn(module))
  const { code, stderr } = await goIn(module)(['build', ...args])
  if (code !== 0) throw new Error(`${basename(module)} does not build: ${stderr}`)
}
