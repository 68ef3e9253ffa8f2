import type { Socket } from 'node:net'
import { Counter, Gauge, type Registry } from '@prometheus-io/client'
import type { FailureCode } from './failure.ts'
import type { Forward } from './forward.ts'

/** Why a connection was refused: the target does not accept it, or the agent carries too many. */
export type Refusal = 'unreachable' | 'limit'

interface Bytes {
  /** From the target to the client. */
  out: number
  /** From the client to the target. */
  in: number
}

/** What an agent reports about itself. */
export class AgentMetrics {
  readonly #bound: Gauge
  readonly #attempts: Counter<'result'>
  readonly #connections: Counter<'forward' | 'result'>
  /** Of connections that have ended, by forward. */
  readonly #ended = new Map<string, Bytes>()
  #sockets: () => ReadonlyMap<Socket, Forward> = () => new Map()

  constructor(registry: Registry, forwards: readonly Forward[]) {
    const registers: [Registry] = [registry]
    this.#bound = new Gauge({
      name: 'culvert_agent_bound',
      help: '1 while all forwards are bound at the gateway.',
      registers,
    })
    this.#attempts = new Counter({
      name: 'culvert_agent_connects_total',
      help: 'Attempts to connect to the gateway, by result: bound, or why it failed.',
      labelNames: ['result'],
      registers,
    })
    this.#connections = new Counter({
      name: 'culvert_agent_connections_total',
      help: 'Connections through a forward, by result: served, unreachable (target), or limit (too many are open).',
      labelNames: ['forward', 'result'],
      registers,
    })
    this.#attempts.inc({ result: 'bound' }, 0)
    for (const { name: forward } of forwards) {
      this.#ended.set(forward, { in: 0, out: 0 })
      for (const result of ['served', 'unreachable', 'limit']) this.#connections.inc({ forward, result }, 0)
    }
    this.#watchTraffic(registers)
  }

  /** @param sockets the connections to targets that are open */
  watchSockets(sockets: () => ReadonlyMap<Socket, Forward>): void {
    this.#sockets = sockets
  }

  setBound(isBound: boolean): void {
    this.#bound.set(isBound ? 1 : 0)
  }

  attempted(result: 'bound' | FailureCode): void {
    this.#attempts.inc({ result })
  }

  served({ name: forward }: Forward): void {
    this.#connections.inc({ forward, result: 'served' })
  }

  refused({ name: forward }: Forward, result: Refusal): void {
    this.#connections.inc({ forward, result })
  }

  /** A connection to a target has ended. */
  ended({ name }: Forward, socket: Socket): void {
    const bytes = this.#ended.get(name)
    if (bytes !== undefined) add(bytes, socket)
  }

  #watchTraffic(registers: [Registry]): void {
    const sockets = (): ReadonlyMap<Socket, Forward> => this.#sockets()
    const ended = this.#ended
    new Gauge({
      name: 'culvert_agent_open_connections',
      help: 'Connections to targets that are open or being opened.',
      labelNames: ['forward'],
      registers,
      collect() {
        for (const forward of ended.keys()) this.set({ forward }, 0)
        for (const { name: forward } of sockets().values()) this.inc({ forward })
      },
    })
    new Counter({
      name: 'culvert_agent_bytes_total',
      help: 'Bytes transferred, by direction: in (from clients to targets) or out.',
      labelNames: ['forward', 'direction'],
      registers,
      collect() {
        this.reset()
        const total = new Map([...ended].map(([forward, bytes]) => [forward, { ...bytes }]))
        for (const [socket, { name }] of sockets()) {
          const bytes = total.get(name)
          if (bytes !== undefined) add(bytes, socket)
        }
        for (const [forward, bytes] of total) {
          this.inc({ forward, direction: 'in' }, bytes.in)
          this.inc({ forward, direction: 'out' }, bytes.out)
        }
      },
    })
  }
}

function add(bytes: Bytes, socket: Socket): void {
  bytes.in += socket.bytesWritten
  bytes.out += socket.bytesRead
}
