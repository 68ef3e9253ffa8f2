import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ProgramResult, runProgram } from '../../../controlplane/run-program.ts'
import { openSSH } from '../../builders/openssh.ts'
import { clientFlags, configText, serverProgram } from './sshd.ts'

export interface LoginOptions {
  /** Wall time for both sides, in milliseconds. */
  readonly at: number
  /** Where the login creates its folder. */
  readonly folder: string
  readonly user: string
  /** File with the user's private key, and the text of its certificate. */
  readonly key: string
  readonly certificate: string
  /** File with the host's private key, and the text of its certificate. */
  readonly hostKey: string
  readonly hostCertificate: string
  /** The public key of the authority trusted by both sides. */
  readonly authority: string
}

export interface Login extends ProgramResult {
  /** The server's log. */
  readonly log: string
}

/**
 * Logs in with a real `ssh` at a real `sshd` of its own, both under faketime. Their clocks stand still, so that they
 * judge by exactly that second.
 */
export async function loginAt(options: LoginOptions): Promise<Login> {
  const folder = await mkdtemp(join(options.folder, 'login-'))
  const put = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name)
    await writeFile(path, text)
    return path
  }
  const config = await put(
    'sshd.conf',
    configText({
      hostKey: options.hostKey,
      hostCertificate: await put('host-cert.pub', options.hostCertificate),
      trustedUserCAKeys: await put('ca.pub', `${options.authority}\n`),
    }),
  )
  const log = await put('sshd.log', '')
  const flags = clientFlags({
    UserKnownHostsFile: await put('known_hosts', `@cert-authority localhost ${options.authority}\n`),
    CertificateFile: await put('id-cert.pub', options.certificate),
    IdentityFile: options.key,
    // A server for this one connection, which it gets from the client instead of a port.
    ProxyCommand: `${await serverProgram()} -i -f ${config} -E ${log}`,
  })
  const shown = new Date(options.at).toISOString().slice(0, 19).replace('T', ' ')
  const ssh = [await openSSH('ssh'), ...flags, `${options.user}@localhost`, 'echo let in']
  const result = await runProgram(await openSSH('faketime'), ['-f', '--exclude-monotonic', shown, ...ssh], {
    // faketime parses local times.
    env: { ...process.env, TZ: 'UTC' },
  })
  return { ...result, log: await readFile(log, 'utf8') }
}
