import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { acquireBuildLock } from '../controlplane/build-lock.ts'

const run = promisify(execFile)

/** Debian's packages of the programs of OpenSSH that tests hold ours against, and of the one that shows them another time. */
const PACKAGES = {
  'ssh-keygen': 'openssh-client',
  ssh: 'openssh-client',
  sshd: 'openssh-server',
  faketime: 'faketime',
} as const

export type OpenSSHProgram = keyof typeof PACKAGES

/** Servers are found in `sbin`, which is not on everybody's path. */
const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin', '/usr/local/sbin']

/** What apt-get does not take two of at once, whichever test files run. */
const LOCK = join(tmpdir(), 'culvert-apt-get.lock')

/**
 * Sees to it that the programs are there: root on a Debian gets what is missing by apt-get, anybody else an error that says
 * what to install.
 */
export async function requireOpenSSH(...programs: readonly OpenSSHProgram[]): Promise<void> {
  if ((await missingOf(programs)).length === 0) return
  await using _lock = await acquireBuildLock(LOCK)
  await install(await missingOf(programs))
}

async function install(missing: readonly OpenSSHProgram[]): Promise<void> {
  if (missing.length === 0) return
  const packages = [...new Set(missing.map((program) => PACKAGES[program]))]
  if (process.getuid?.() !== 0 || (await pathOf('apt-get')) === undefined) {
    throw new Error(
      `the tests need ${missing.join(', ')}: install them (on Debian: apt-get install ${packages.join(' ')})`,
    )
  }
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  await run('apt-get', ['update'], options)
  await run('apt-get', ['install', '-y', '--no-install-recommends', ...packages], options)
  const still = await missingOf(missing)
  if (still.length > 0)
    throw new Error(`apt-get installed ${packages.join(', ')}, and ${still.join(', ')} is still missing`)
}

/** The path of a program that `requireOpenSSH` has seen to. */
export async function openSSH(program: OpenSSHProgram): Promise<string> {
  const path = await pathOf(program)
  if (path === undefined) throw new Error(`${program} is missing: install ${PACKAGES[program]}`)
  return path
}

async function missingOf(programs: readonly OpenSSHProgram[]): Promise<readonly OpenSSHProgram[]> {
  const found = await Promise.all(programs.map(pathOf))
  return programs.filter((_, index) => found[index] === undefined)
}

async function pathOf(program: string): Promise<string | undefined> {
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
