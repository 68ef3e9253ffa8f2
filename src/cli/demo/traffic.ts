import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Emulator } from '../../emulator/emulator.ts'
import { DemoError } from './cluster.ts'
import { CulvertProcess } from './culvert-process.ts'

/** Where the traffic of the demo comes from and goes to. */
export interface TrafficStage {
  readonly emulator: Emulator
  /** The program of this process. */
  readonly entryPoint: string
  /** A folder for the log of the agents. */
  readonly folder: string
  /** File with the private key of the agent. */
  readonly keyFile: string
  /** The hostport of the edge, such as `1.tcp.eu.tunnel.example:12345`. */
  readonly hostport: string
  readonly say: (line: string) => void
}

/** How long each thing may take to be seen. */
const PATIENCE_MS = 20_000
/** An address of this machine that the policy of the page does not admit. Not every system has it. */
const STRANGER = '127.0.0.2'
const PAGE = 'Hello from the page, through an agent.\n'

/** A page that an agent serves behind an edge, until it is disposed of. */
export class Traffic implements AsyncDisposable {
  readonly #stage: TrafficStage
  readonly #page: Server
  #agent: CulvertProcess | undefined

  private constructor(stage: TrafficStage, page: Server) {
    this.#stage = stage
    this.#page = page
  }

  static async open(stage: TrafficStage): Promise<Traffic> {
    const page = createServer((_request, response) => response.end(PAGE)).listen(0, '127.0.0.1')
    await once(page, 'listening')
    return new Traffic(stage, page)
  }

  /** The address of the edge for a browser on this machine. */
  get url(): string {
    const { emulator, hostport } = this.#stage
    const listener = emulator.admin.listeners().find((each) => each.hostport === hostport)
    if (listener === undefined) throw new DemoError('NO_TRAFFIC', `Nothing listens for ${hostport}`)
    return `http://${listener.address}:${listener.port}/`
  }

  /**
   * Shows the first request arrive, another source refused, and what answers while there is no agent.
   * @throws DemoError `NO_TRAFFIC` saying what was not seen
   */
  async show(): Promise<void> {
    const { say } = this.#stage
    say(`\nTraffic, by examples/traffic: ${this.url} → Edge/page → Backend/front → agent → the page`)
    await this.#startAgent()
    const first = await this.#until('the page answers', (answer) => answer === PAGE)
    say(`  the first request arrives ${first} after the agent was started: ${PAGE.trim()}`)
    say(`  ${await this.#refusal()}`)
    await this.#agent?.kill()
    const away = await this.#until('Backend/away answers', (answer) => answer?.startsWith('The page is away') ?? false)
    say(`  the agent is killed; ${away} later, Backend/away answers: The page is away. It will be back in a minute.`)
    await this.#startAgent()
    say(
      `  another agent is started; ${await this.#until('the page is back', (answer) => answer === PAGE)} later, the page is back`,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#page.close()
    this.#page.closeAllConnections()
    await this.#agent?.[Symbol.asyncDispose]()
  }

  async #startAgent(): Promise<void> {
    const { emulator, entryPoint, folder, keyFile } = this.#stage
    if (emulator.gateway === undefined) throw new Error('the emulator of the demo has a gateway')
    const { ssh } = emulator.gateway
    const { port } = this.#page.address() as AddressInfo
    this.#agent = await CulvertProcess.start({
      entryPoint,
      command: 'agent',
      args: [
        ...['--gateway', `${ssh.host}:${ssh.port}`, '--host-key', ssh.hostKey, '--key', keyFile],
        ...['--forward', `app=page=127.0.0.1:${port}`, '--listen', '127.0.0.1:0', '--drain', '1s'],
      ],
      logFile: join(folder, 'agent.log'),
    })
  }

  /** Asks for the page until the answer is right. @returns how long that took, as text */
  async #until(what: string, isRight: (answer: string | undefined) => boolean): Promise<string> {
    const began = performance.now()
    for (;;) {
      const answer = await ask(this.url)
      const ms = performance.now() - began
      if (isRight(answer)) return ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`
      if (ms > PATIENCE_MS) {
        const last = answer === undefined ? 'nothing' : JSON.stringify(answer)
        throw new DemoError(
          'NO_TRAFFIC',
          `${this.url}: not seen in ${PATIENCE_MS / 1000} s that ${what}; it last answered ${last}`,
        )
      }
      await sleep(50)
    }
  }

  async #refusal(): Promise<string> {
    try {
      const answer = await ask(this.url, STRANGER)
      if (answer === undefined) return `a request from ${STRANGER} is refused: IPPolicy/visitors admits only 127.0.0.1`
      throw new DemoError('NO_TRAFFIC', `${this.url} answers ${STRANGER}, which IPPolicy/visitors does not admit`)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRNOTAVAIL') throw error
      return `this machine has no address ${STRANGER}, from which a request would be refused`
    }
  }
}

/**
 * The body of the answer; undefined if the connection ends without one. @throws Error if there is no such address here
 */
async function ask(url: string, localAddress?: string): Promise<string | undefined> {
  return await new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, localAddress, timeout: 5_000 }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        body += chunk
      })
      response.on('end', () => resolve(body))
      response.on('error', () => resolve(undefined))
    })
    sent.on('timeout', () => sent.destroy())
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRNOTAVAIL') reject(error)
      else resolve(undefined)
    })
    sent.end()
  })
}
