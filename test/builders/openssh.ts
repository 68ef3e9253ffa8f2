import { pathOfProgram, requirePrograms } from './system-programs.ts'

/** Debian's packages of the OpenSSH programs that tests compare ours with, and of faketime. */
const PACKAGES = {
  'ssh-keygen': 'openssh-client',
  ssh: 'openssh-client',
  sshd: 'openssh-server',
  faketime: 'faketime',
} as const

export type OpenSSHProgram = keyof typeof PACKAGES

/**
 * Ensures that the programs are installed: root on Debian installs missing ones with apt-get, others get an error that
 * says what to install.
 */
export async function requireOpenSSH(...programs: readonly OpenSSHProgram[]): Promise<void> {
  await requirePrograms(Object.fromEntries(programs.map((program) => [program, PACKAGES[program]])))
}

/** The path of a program that `requireOpenSSH` has checked. */
export async function openSSH(program: OpenSSHProgram): Promise<string> {
  const path = await pathOfProgram(program)
  if (path === undefined) throw new Error(`${program} is missing: install ${PACKAGES[program]}`)
  return path
}
