import { type Answer, ApiClient, type Resource } from './api-client.ts'
import type { World } from './world.ts'

type Body = Readonly<Record<string, unknown>>

/** A simulated agent as the admin surface shows it. */
export interface Agent {
  readonly id: string
  readonly state: string
  readonly sessionId: string | null
  readonly agentVersion: string
  readonly update: string
  readonly tunnels: readonly { readonly id: string | null }[]
  readonly warnings: readonly string[]
  readonly refusal: string | null
}

/** Simulates agents through an emulator's admin surface. */
export class Agents {
  readonly #world: World
  readonly #admin: ApiClient

  constructor(world: World) {
    this.#world = world
    this.#admin = new ApiClient(world.url, world.adminToken)
  }

  /** Connects an agent; with a new tunnel credential if the body names none. Fails the test if it is refused. */
  async connect(body: Body = {}): Promise<Agent & { readonly sessionId: string }> {
    const named = ['token', 'sshCredential', 'publicKey'].some((name) => name in body)
    const sent = named ? body : { ...body, token: (await this.#world.api.create('credentials', {})).token }
    const agent: unknown = await this.#admin.object(201, 'POST', '/_emulator/agents', sent)
    return agent as Agent & { sessionId: string }
  }

  /** The answer to connecting an agent, whatever its status. */
  try(body: Body): Promise<Answer> {
    return this.#admin.call('POST', '/_emulator/agents', { body })
  }

  tryMany(body: Body): Promise<Answer> {
    return this.#admin.call('POST', '/_emulator/agents/bulk', { body })
  }

  async connectMany(body: Body): Promise<{ readonly sessions: readonly string[]; readonly disconnected: number }> {
    const done: unknown = await this.#admin.object(201, 'POST', '/_emulator/agents/bulk', body)
    return done as { sessions: string[]; disconnected: number }
  }

  async get(id: string): Promise<Agent> {
    return (await this.#admin.object(200, 'GET', `/_emulator/agents/${id}`)) as unknown as Agent
  }

  async all(): Promise<readonly Agent[]> {
    return (await this.#admin.object(200, 'GET', '/_emulator/agents')).agents as readonly Agent[]
  }

  disconnect(id: string): Promise<void> {
    return this.#admin.remove(`/_emulator/agents/${id}`)
  }

  /** The session of an agent, as the API shows it. */
  async sessionOf({ id }: { readonly id: string }): Promise<Resource> {
    return this.#world.api.get('tunnel_sessions', String((await this.get(id)).sessionId))
  }

  /** The answer to a command to the agent of a session. */
  command(session: string, name: string, body: unknown = {}): Promise<Answer> {
    return this.#world.api.call('POST', `/tunnel_sessions/${session}/${name}`, { body })
  }

  sessions(): Promise<readonly Resource[]> {
    return this.#world.api.all('/tunnel_sessions', 'tunnel_sessions')
  }
}
