import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import ssh2, { type Channel, type Client } from 'ssh2'
import type { SshGateway, SshKeyFile } from './ssh-agent.ts'

/** The protocol of the library, beneath what it lets its users do. */
interface Protocol {
  channelOpenConfirm(remote: number, local: number, window: number, packet: number): void
  ping(): void
  rekey(): void
}

export interface Hostility {
  /** What it lets the gateway send on each connection, in bytes. */
  readonly window?: number
  /** Takes each connection; by default it accepts. */
  readonly take?: (accept: () => Channel, agent: HostileAgent) => void
}

/** A client of the SSH gateway that knows a key and the protocol, and does what no honest agent does. */
export class HostileAgent {
  readonly socket: Socket
  readonly client: Client = new ssh2.Client()
  readonly #closed: Promise<void>

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('error', () => undefined)
    this.#closed = new Promise((resolve) => socket.once('close', () => resolve()))
  }

  /** Connects and binds labels. */
  static async connect(
    { host, port }: SshGateway,
    key: SshKeyFile,
    bind: string,
    { window, take = (accept) => accept() }: Hostility = {},
  ): Promise<HostileAgent> {
    const agent = new HostileAgent(connect({ host, port, noDelay: true }))
    const { client, socket } = agent
    client.on('error', () => undefined)
    client.connect({ sock: socket, username: 'agent', privateKey: await readFile(key.path), readyTimeout: 0 })
    client.on('tcp connection', (_details, accept) => take(accept, agent))
    await once(client, 'ready')
    if (window !== undefined) agent.#grant(window)
    await new Promise<void>((resolve, reject) => {
      client.forwardIn(bind, 1, (error) => (error === undefined ? resolve() : reject(error)))
    })
    return agent
  }

  /** Reads no more of what the gateway sends. */
  stopReading(): void {
    this.socket.pause()
  }

  /** Begins an exchange of keys, of which it reads no answer. */
  beginExchange(): void {
    this.#protocol.rekey()
    this.stopReading()
  }

  /** Sends on a channel for as long as it is connected, whatever the window is. */
  async overrun(channel: Channel): Promise<void> {
    const chunk = Buffer.alloc(32 * 1024)
    Object.assign(channel, { outgoing: { ...Object(channel.outgoing), window: Number.MAX_SAFE_INTEGER } })
    await this.#whileConnected(() => channel.write(chunk))
  }

  /** Asks for answers for as long as it is connected. */
  async askForEver(): Promise<void> {
    await this.#whileConnected(() => {
      for (let count = 0; count < 2000; count += 1) this.#protocol.ping()
    })
  }

  /** Resolves when it was disconnected. */
  async ended(): Promise<void> {
    // What it does not read hides the end from it.
    this.socket.resume()
    await this.#closed
  }

  close(): void {
    this.socket.destroy()
  }

  /** Does it again whenever the kernel has taken what was sent. */
  async #whileConnected(send: () => void): Promise<void> {
    while (!this.socket.destroyed && this.socket.writable) {
      send()
      // `once` of node:events would reject when the gateway resets the connection, which is how this ends.
      if (this.socket.writableNeedDrain) await Promise.race([this.#drained(), this.#closed])
      else await new Promise(setImmediate)
    }
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => this.socket.once('drain', () => resolve()))
  }

  #grant(window: number): void {
    const protocol = this.#protocol
    const confirm = protocol.channelOpenConfirm.bind(protocol)
    protocol.channelOpenConfirm = (remote, local, _window, packet) => confirm(remote, local, window, packet)
  }

  get #protocol(): Protocol {
    return Reflect.get(this.client, '_protocol') as Protocol
  }
}
