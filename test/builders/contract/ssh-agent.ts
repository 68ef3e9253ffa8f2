import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openSSH } from '../openssh.ts'

/** Arguments of `ssh-keygen` for each type of key. */
export const KEY_TYPES = {
  ed25519: ['-t', 'ed25519'],
  rsa: ['-t', 'rsa', '-b', '2048'],
  ecdsa256: ['-t', 'ecdsa', '-b', '256'],
  ecdsa384: ['-t', 'ecdsa', '-b', '384'],
  ecdsa521: ['-t', 'ecdsa', '-b', '521'],
} as const

/** A key pair as `ssh-keygen` writes it. */
export interface SshKeyFile {
  /** Path of the private key. */
  readonly path: string
  readonly publicKey: string
}

/** Where clients of OpenSSH find an SSH gateway. */
export interface SshGateway {
  readonly host: string
  readonly port: number
  readonly hostKey: string
  /** Means nothing to the emulator's; `agent` by default. */
  readonly user?: string
}

/** A folder with keys, and the `ssh` processes that use them. */
export class SshAgents {
  readonly #folder: string
  readonly #running: SshAgent[] = []
  #keys = 0

  private constructor(folder: string) {
    this.#folder = folder
  }

  static async start(): Promise<SshAgents> {
    return new SshAgents(await mkdtemp(join(tmpdir(), 'culvert-ssh-')))
  }

  async newKey(type: keyof typeof KEY_TYPES = 'ed25519'): Promise<SshKeyFile> {
    this.#keys += 1
    const path = join(this.#folder, `key-${this.#keys}`)
    const args = [...KEY_TYPES[type], '-q', '-N', '', '-C', 'agent', '-f', path]
    await promisify(execFile)(await openSSH('ssh-keygen'), args)
    return { path, publicKey: (await readFile(`${path}.pub`, 'utf8')).trim() }
  }

  /**
   * Runs `ssh -N -R …`, which accepts only the gateway's own host key.
   *
   * @param forwards as `-R` takes them, such as `app=shop:1:127.0.0.1:8080`
   */
  async connect(gateway: SshGateway, key: SshKeyFile, ...forwards: readonly string[]): Promise<SshAgent> {
    const known = `${key.path}.known`
    await writeFile(known, `[${gateway.host}]:${gateway.port} ${gateway.hostKey}\n`)
    const options = [
      'IdentitiesOnly=yes',
      'StrictHostKeyChecking=yes',
      `UserKnownHostsFile=${known}`,
      'ExitOnForwardFailure=yes',
      'BatchMode=yes',
    ]
    const args = [
      ...['-N', '-T', '-F', 'none', '-i', key.path, '-p', String(gateway.port)],
      ...options.flatMap((option) => ['-o', option]),
      ...forwards.flatMap((forward) => ['-R', forward]),
      `${gateway.user ?? 'agent'}@${gateway.host}`,
    ]
    const agent = new SshAgent(spawn(await openSSH('ssh'), args, { stdio: ['ignore', 'ignore', 'pipe'] }))
    this.#running.push(agent)
    return agent
  }

  /** Ends every process and removes the folder. */
  async close(): Promise<void> {
    await Promise.all(this.#running.map((agent) => agent.stop('SIGKILL')))
    await rm(this.#folder, { recursive: true })
  }
}

/** One `ssh` process. */
export class SshAgent {
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown>
  #said = ''

  constructor(child: ChildProcess) {
    this.#child = child
    this.#closed = once(child, 'close')
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#said += chunk.toString()
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Resolves, when it has ended by itself, to what it wrote to standard error. */
  async ended(): Promise<string> {
    await this.#closed
    return this.#said
  }

  /** Freezes it, as when its machine loses power. */
  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal)
    await this.#closed
  }
}
