import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts'
import type { EmulatorOptions } from '../../../src/emulator/options.ts'
import { ApiClient, type Resource } from './api-client.ts'
import { type SshAgent, SshAgents, type SshKeyFile } from './ssh-agent.ts'
import { World } from './world.ts'

type Limits = NonNullable<NonNullable<EmulatorOptions['gateway']>['limits']>

/** An emulator that carries traffic, on free ports, with OpenSSH clients as agents. */
export class TrafficWorld extends World {
  readonly gateway: NonNullable<Emulator['gateway']>
  readonly agents: SshAgents
  /** What the gateway has logged. */
  readonly log: readonly string[]

  constructor(emulator: Emulator, agents: SshAgents, log: readonly string[]) {
    super(emulator)
    if (emulator.gateway === undefined) throw new Error('the emulator has no gateway')
    this.gateway = emulator.gateway
    this.agents = agents
    this.log = log
  }

  /** A new key, and the SSH credential that has it. */
  async newCredential(
    body: Readonly<Record<string, unknown>> = {},
  ): Promise<{ key: SshKeyFile; credential: Resource }> {
    const key = await this.agents.newKey()
    const credential = await this.api.create('ssh_credentials', { public_key: key.publicKey, ...body })
    return { key, credential }
  }

  /** Another account gets an SSH credential with that key. */
  async strangerWithKey({ publicKey }: SshKeyFile): Promise<void> {
    const stranger = new ApiClient(this.url, await this.admin.seedAccount('stranger'))
    await stranger.create('ssh_credentials', { public_key: publicKey })
  }

  /** Runs `ssh -N -R …` with that key. */
  connect(key: SshKeyFile, ...forwards: readonly string[]): Promise<SshAgent> {
    return this.agents.connect(this.gateway.ssh, key, ...forwards)
  }

  sessions(): Promise<readonly Resource[]> {
    return this.api.all('/tunnel_sessions', 'tunnel_sessions')
  }

  override async close(): Promise<void> {
    await this.agents.close()
    await super.close()
  }
}

/**
 * Starts an emulator that carries traffic, with an empty account.
 *
 * @param data the data file; in memory by default
 */
export async function startTrafficWorld(limits: Limits = {}, data?: string): Promise<TrafficWorld> {
  const log: string[] = []
  const gateway = {
    sshListen: '127.0.0.1:0',
    tlsListen: '127.0.0.1:0',
    log: (line: string) => log.push(line),
    limits,
  }
  const emulator = await startEmulator({ gateway, ...(data === undefined ? {} : { data }) })
  return new TrafficWorld(emulator, await SshAgents.start(), log)
}
