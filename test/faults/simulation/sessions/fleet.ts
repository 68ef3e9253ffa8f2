import { tunnelSession } from '../../../../src/kinds/tunnel-session.ts'
import { tunnelSessionCommand } from '../../../../src/kinds/tunnel-session-command.ts'
import type { KubeObject } from '../../../../src/kube/types.ts'
import { resourceTypeOf } from '../../../../src/managed/kinds-registry.ts'
import type { CommandResource } from '../../../../src/managed/sessions/command-resource.ts'
import type { MirroredObject } from '../../../../src/managed/sessions/mirrored.ts'
import { equalJSON } from '../../../../src/util/json.ts'
import { Oracle } from '../oracle.ts'
import { type Laboratory, NAMESPACE, type SimulatedWorld, type WorldOptions } from '../world.ts'

type Fields = Readonly<Record<string, unknown>>

const AGENTS = 3
/** How often an account lists its sessions, and longer than that with its jitter. */
const INTERVAL = '5s'
const SHOWN_MS = 30_000

const sessions = resourceTypeOf(tunnelSession)
const commands = resourceTypeOf(tunnelSessionCommand)

/** A world whose account shows its sessions, and agents that accept commands. */
export class Fleet {
  readonly world: SimulatedWorld
  readonly oracle: Oracle
  /** Ids of agents, in the order in which they connected. */
  readonly agents: string[] = []
  /** Commands that the API was asked to carry out, such as `restart ts_1`. */
  readonly posted: string[] = []
  readonly #token: string

  private constructor(world: SimulatedWorld, oracle: Oracle, token: string) {
    this.world = world
    this.oracle = oracle
    this.#token = token
    const { onArrival } = world.network
    world.network.onArrival = (sighting) => {
      onArrival(sighting)
      const [, id, command] = /^\/tunnel_sessions\/([^/]+)\/(\w+)$/.exec(sighting.path) ?? []
      if (sighting.server === 'api' && sighting.method === 'POST') this.posted.push(`${command} ${id}`)
    }
  }

  /**
   * Opens it with agents that are online and shown. `options`: further ones of the world. @throws Error if they are not
   * shown in time
   */
  static async open(laboratory: Laboratory, isShared: boolean, options: WorldOptions = {}): Promise<Fleet> {
    const mirrorSessions = { enabled: true, interval: INTERVAL, ...(isShared ? { namespace: NAMESPACE } : {}) }
    const kinds = new Set([tunnelSession.definition.kind, tunnelSessionCommand.definition.kind])
    const world = laboratory.world({ kinds, isShared, accountSpec: { mirrorSessions }, ...options })
    const { token } = await world.api.ask('POST', '/credentials', {})
    const fleet = new Fleet(world, await Oracle.watch(world), String(token))
    for (let number = 1; number <= AGENTS; number += 1) fleet.connect(`machine ${number}`)
    const isShown = await world.until(() => fleet.shown.length === AGENTS, SHOWN_MS)
    if (!isShown) throw new Error(`${fleet.shown.length} of ${AGENTS} sessions are shown`)
    await world.advance(1_000)
    return fleet
  }

  connect(metadata: string): void {
    const { admin } = this.world.api.emulator
    const { id } = admin.connectAgent({
      token: this.#token,
      metadata,
      restartSeconds: 1,
      availableVersions: ['3.10.0'],
    })
    this.agents.push(String(id))
  }

  disconnect(agent: number): void {
    this.world.api.emulator.admin.disconnectAgent(this.agents[agent] ?? '')
  }

  /** Resources that show sessions, status included. */
  get shown(): readonly MirroredObject[] {
    return this.mirrors.filter(({ status }) => status?.id !== undefined)
  }

  get mirrors(): readonly MirroredObject[] {
    return this.world.kube.list<MirroredObject>(sessions).items
  }

  command(name: string, spec: Fields): void {
    this.world.server.create(commands, { namespace: NAMESPACE, name }, { spec })
  }

  get commands(): readonly CommandResource[] {
    return this.world.kube.list<CommandResource>(commands).items
  }

  edit({ metadata }: KubeObject, patch: Fields, subresource?: 'status'): void {
    const key = { namespace: NAMESPACE, name: metadata.name }
    this.world.server.patch(sessions, key, patch, subresource === undefined ? {} : { subresource })
  }

  remove({ metadata }: KubeObject): void {
    this.world.kube.delete(sessions, { namespace: NAMESPACE, name: metadata.name })
  }

  /** Differences between the sessions shown and those the API lists. */
  async unlike(): Promise<readonly string[]> {
    const { tunnel_sessions: listed } = await this.world.api.ask('GET', '/tunnel_sessions?limit=100')
    const online = new Map((listed as readonly (Fields & { readonly id: string })[]).map((each) => [each.id, each]))
    const account = this.world.account
    const problems = this.mirrors.flatMap(({ metadata, status = {} }) => {
      const session = online.get(String(status.id))
      online.delete(String(status.id))
      if (session === undefined) return [`${metadata.name} shows ${status.id}, which is not online`]
      const wanted = { ...tunnelSession.status(session), accountRef: { kind: account?.kind, name: 'default' } }
      return equalJSON(status, wanted)
        ? []
        : [`${metadata.name} is ${JSON.stringify(status)} in place of ${JSON.stringify(wanted)}`]
    })
    return [...problems, ...[...online.keys()].map((id) => `${id} is not shown`)]
  }
}
