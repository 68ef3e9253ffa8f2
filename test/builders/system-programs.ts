import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { acquireBuildLock } from '../../controlplane/build-lock.ts'

const run = promisify(execFile)

/** System programs are also searched in `sbin`, which is not in everybody's path. */
const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin', '/usr/local/sbin']

/** Serializes apt-get across suites, because it cannot run concurrently. */
const LOCK = join(tmpdir(), 'culvert-apt-get.lock')
const LOCK_TIMEOUT_SECONDS = 300
/** Another apt-get may delete downloaded packages before ours installs them. */
const ATTEMPTS = 3

/**
 * Ensures that programs are installed, given as program and its Debian package: root on Debian installs missing ones
 * with apt-get, others get an error that says what to install.
 */
export async function requirePrograms(packages: Readonly<Record<string, string>>): Promise<void> {
  if ((await missingOf(packages)).length === 0) return
  await using _lock = await acquireBuildLock(LOCK)
  const missing = await missingOf(packages)
  if (missing.length === 0) return
  const wanted = [...new Set(missing.map((program) => packages[program] ?? program))]
  if (process.getuid?.() !== 0 || (await pathOfProgram('apt-get')) === undefined) {
    throw new Error(`${missing.join(', ')} is missing (on Debian, as root: apt-get install ${wanted.join(' ')})`)
  }
  await install(wanted)
  const still = await missingOf(packages)
  if (still.length > 0) throw new Error(`apt-get installed ${wanted.join(', ')}, and ${still.join(', ')} is missing`)
}

/** The path of a program; undefined if it is not installed. */
export async function pathOfProgram(program: string): Promise<string | undefined> {
  for (const folder of FOLDERS) {
    const path = join(folder, program)
    const executable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (folder !== '' && executable) return path
  }
  return undefined
}

async function install(packages: readonly string[]): Promise<void> {
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  const lock = ['-o', `DPkg::Lock::Timeout=${LOCK_TIMEOUT_SECONDS}`]
  await run('apt-get', [...lock, 'update'], options)
  for (let attempt = 1; ; attempt++) {
    try {
      await run('apt-get', [...lock, 'install', '-y', '--no-install-recommends', ...packages], options)
      return
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
    }
  }
}

async function missingOf(packages: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const programs = Object.keys(packages)
  const found = await Promise.all(programs.map(pathOfProgram))
  return programs.filter((_, index) => found[index] === undefined)
}
