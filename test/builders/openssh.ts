import { pathOfProgram, requirePrograms } from './system-programs.ts'

/** Debian's packages of the programs of OpenSSH that tests hold ours against, and of the one that shows them another time. */
const PACKAGES = {
  'ssh-keygen': 'openssh-client',
  ssh: 'openssh-client',
  sshd: 'openssh-server',
  faketime: 'faketime',
} as const

export type OpenSSHProgram = keyof typeof PACKAGES

/**
 * Sees to it that the programs are there: root on a Debian gets what is missing by apt-get, anybody else an error that says
 * what to install.
 */
export async function requireOpenSSH(...programs: readonly OpenSSHProgram[]): Promise<void> {
  await requirePrograms(Object.fromEntries(programs.map((program) => [program, PACKAGES[program]])))
}

/** The path of a program that `requireOpenSSH` has seen to. */
export async function openSSH(program: OpenSSHProgram): Promise<string> {
  const path = await pathOfProgram(program)
  if (path === undefined) throw new Error(`${program} is missing: install ${PACKAGES[program]}`)
  return path
}
