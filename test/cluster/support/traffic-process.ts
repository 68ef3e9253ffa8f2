import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Listener } from '../../builders/contract/traffic-world.ts'
import { EmulatorClient } from '../../builders/emulator-client.ts'
import { EmulatorProcess } from '../../builders/emulator-process.ts'
import { freePort } from '../../builders/free-port.ts'

export interface TrafficOptions {
  /** Of each request to the API, so that a client that connects every 20 ms meets what holds between two writes. */
  readonly latency?: string
  /** Choices of the API, such as `without-allow=admitted`. */
  readonly choose?: readonly string[]
}

interface Ports {
  readonly api: number
  readonly ssh: number
  readonly tls: number
}

/**
 * `culvert emulator --gateway` in a process of its own. It keeps its data, and can be killed and started again at the
 * same addresses.
 */
export class TrafficProcess implements AsyncDisposable {
  readonly apiKey = randomBytes(16).toString('hex')
  readonly #adminToken = randomBytes(16).toString('hex')
  readonly #folder: string
  readonly #ports: Ports
  readonly #options: TrafficOptions
  readonly #admin: EmulatorClient
  #process: EmulatorProcess | undefined

  private constructor(folder: string, ports: Ports, options: TrafficOptions) {
    this.#folder = folder
    this.#options = options
    this.#ports = ports
    this.#admin = new EmulatorClient(`http://${this.host}/_emulator`, this.#adminToken)
  }

  static async start(options: TrafficOptions = {}): Promise<TrafficProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'culvert-traffic-'))
    const ports = { api: await freePort(), ssh: await freePort(), tls: await freePort() }
    const gateway = new TrafficProcess(folder, ports, options)
    await gateway.startAgain()
    return gateway
  }

  get host(): string {
    return `127.0.0.1:${this.#ports.api}`
  }

  /** `host:port` of its SSH gateway. */
  get sshAddress(): string {
    return `127.0.0.1:${this.#ports.ssh}`
  }

  /** The public key of its SSH gateway. */
  get hostKey(): string {
    return /^SSH gateway listening on \S+ with the host key (.+)$/m.exec(this.#process?.output ?? '')?.[1] ?? ''
  }

  async startAgain(): Promise<void> {
    const { api, ssh, tls } = this.#ports
    const { latency = '50ms', choose = [] } = this.#options
    this.#process = await EmulatorProcess.start([
      ...['--listen', `127.0.0.1:${api}`, '--data', join(this.#folder, 'data'), '--cert-seconds', '0'],
      ...['--latency', latency, ...choose.flatMap((choice) => ['--choose', choice])],
      ...['--gateway', '--ssh-listen', `127.0.0.1:${ssh}`, '--tls-listen', `127.0.0.1:${tls}`],
      ...['--api-key', this.apiKey, '--admin-token', this.#adminToken],
    ])
  }

  async kill(): Promise<void> {
    await this.#process?.stop('SIGKILL')
  }

  /** Where the hostport can be reached; undefined while it cannot. */
  async listener(hostport: string): Promise<Listener | undefined> {
    const { listeners } = (await this.#admin.get('/listeners')).body as { readonly listeners: readonly Listener[] }
    return listeners.find((each) => each.hostport === hostport && each.error === null)
  }

  /** The root of the certificates that its TLS edges present, in PEM. */
  async rootPem(): Promise<string> {
    return String((await this.#admin.get('/authority')).body.pem)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    await rm(this.#folder, { recursive: true })
  }
}
