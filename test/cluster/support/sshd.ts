import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { ControlPlaneError } from '../../../controlplane/errors.ts'
import { startOnFreePort } from '../../../controlplane/ports.ts'
import { openSSH } from '../../builders/openssh.ts'
import { until } from './wait.ts'

/** A server's own credentials, and those of the users it accepts. */
export interface HostOptions {
  /** The private host key and its certificate. */
  readonly hostKey: string
  readonly hostCertificate: string
  /** File with the public keys of authorities whose user certificates are accepted: the only way to log in. */
  readonly trustedUserCAKeys: string
}

export interface SSHDOptions extends HostOptions {
  /** A folder of its own. */
  readonly folder: string
}

/** The privilege separation directory that a server run by root needs; an installation without init lacks it. */
const PRIVSEP = '/run/sshd'

/** A real sshd on loopback that accepts certificates of the trusted authorities, as the user who runs it. */
export class SSHD implements AsyncDisposable {
  readonly port: number
  readonly #child: ChildProcess
  #log = ''

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#log += chunk.toString()
    })
  }

  static async start(options: SSHDOptions): Promise<SSHD> {
    const program = await serverProgram()
    return startOnFreePort(async (port) => {
      const config = join(options.folder, `sshd-${port}.conf`)
      await writeFile(config, `Port ${port}\nListenAddress 127.0.0.1\n${configText(options)}`)
      const child = spawn(program, ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] })
      const server = new SSHD(child, port)
      await server.#listening()
      return server
    })
  }

  /** Its log, for messages of failing tests. */
  get log(): string {
    return this.#log
  }

  async #listening(): Promise<void> {
    const answers = await until(
      'sshd listens',
      async () => (this.#child.exitCode === null ? (await accepts(this.port)) || undefined : 'ended'),
      { describe: () => this.#log },
    )
    if (answers !== 'ended') return
    if (this.#log.includes('Address already in use')) throw new ControlPlaneError('PORT_TAKEN', this.#log)
    throw new Error(`sshd ended at once:\n${this.#log}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await exit
  }
}

/** The path of sshd, after its prerequisites on the machine are created. */
export async function serverProgram(): Promise<string> {
  if (process.getuid?.() === 0) await mkdir(PRIVSEP, { recursive: true, mode: 0o755 })
  return openSSH('sshd')
}

/** The configuration of a server, wherever it listens. */
export function configText({ hostKey, hostCertificate, trustedUserCAKeys }: HostOptions): string {
  const lines = {
    HostKey: hostKey,
    HostCertificate: hostCertificate,
    TrustedUserCAKeys: trustedUserCAKeys,
    AuthorizedKeysFile: 'none',
    AuthenticationMethods: 'publickey',
    PermitRootLogin: 'yes',
    UsePAM: 'no',
    StrictModes: 'no',
    PidFile: 'none',
    LogLevel: 'VERBOSE',
  }
  return `${Object.entries(lines)
    .map(([name, value]) => `${name} ${value}`)
    .join('\n')}\n`
}

/** Flags of `ssh` for a client that ignores the machine's configuration, and does not prompt. */
export function clientFlags(settings: Readonly<Record<string, string>>): readonly string[] {
  const all = {
    BatchMode: 'yes',
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    AddressFamily: 'inet',
    StrictHostKeyChecking: 'yes',
    GlobalKnownHostsFile: 'none',
    ...settings,
  }
  return ['-F', 'none', ...Object.entries(all).flatMap(([key, value]) => ['-o', `${key}=${value}`])]
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
