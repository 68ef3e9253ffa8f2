import { readFile } from 'node:fs/promises'
import type { ParsedKey } from 'ssh2'
import { abortable, type Clock, sleep } from '../util/clock.ts'
import type { Logger } from '../util/logger.ts'
import { jitter, type Random } from '../util/random.ts'
import { AgentError, isRefusal } from './failure.ts'
import { GatewayConnection, type GatewayOptions } from './gateway-connection.ts'
import { parsePrivateKey } from './keys.ts'
import type { AgentMetrics } from './metrics.ts'
import type { Upstreams } from './upstreams.ts'

export interface AgentOptions extends GatewayOptions {
  /** File of the private key. It is read anew for each connection to the gateway, because a Secret may be replaced. */
  readonly keyFile: string
  /** How long, in milliseconds, open connections may go on after a stop was requested. */
  readonly drainMs: number
  /** How long, in milliseconds, the gateway may refuse the agent before it gives up. Undefined: for ever. */
  readonly giveUpMs: number | undefined
}

export interface AgentParts {
  readonly upstreams: Upstreams
  readonly metrics: AgentMetrics
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** Keeps one connection to the gateway with all its forwards, for as long as it is not stopped. */
export class Agent {
  readonly #options: AgentOptions
  readonly #parts: AgentParts
  #isBound = false

  constructor(options: AgentOptions, parts: AgentParts) {
    this.#options = options
    this.#parts = parts
  }

  /** Whether all forwards are bound, and it is not draining. */
  get isBound(): boolean {
    return this.#isBound
  }

  /**
   * Runs until `stop` is aborted and what is open then has ended or was given up; or until the gateway has refused the
   * agent for too long, and then resolves to the reason.
   */
  async run(stop: AbortSignal): Promise<AgentError | undefined> {
    const { clock, random, logger } = this.#parts
    const { giveUpMs = Number.POSITIVE_INFINITY } = this.#options
    const backoff = new Backoff(random)
    let refusedSince: number | undefined
    while (!stop.aborted) {
      const begun = clock.monotonic()
      const { failure, boundMs } = await this.#connectOnce(stop)
      if (failure === undefined) return undefined
      refusedSince = isRefusal(failure.code) && boundMs === 0 ? (refusedSince ?? begun) : undefined
      if (refusedSince !== undefined && clock.monotonic() - refusedSince >= giveUpMs) return failure
      const waitMs = Math.round(backoff.next(boundMs))
      logger.warn({ code: failure.code, waitMs, lastedMs: Math.round(clock.monotonic() - begun) }, failure.message)
      await sleep(clock, waitMs, stop).catch(() => undefined)
    }
    return undefined
  }

  /** One connection from start to end; without a failure, it was stopped. */
  async #connectOnce(
    stop: AbortSignal,
  ): Promise<{ readonly failure: AgentError | undefined; readonly boundMs: number }> {
    const { clock, logger, metrics, upstreams } = this.#parts
    let boundAt: number | undefined
    const boundMs = (): number => (boundAt === undefined ? 0 : clock.monotonic() - boundAt)
    let connection: GatewayConnection | undefined
    try {
      connection = new GatewayConnection(await readKey(this.#options.keyFile), this.#options, upstreams, clock)
      await until(connection.bound, stop)
      boundAt = clock.monotonic()
      metrics.attempted('bound')
      logger.info({ forwards: this.#options.forwards.map(({ name }) => name) }, 'all forwards are bound')
      this.#setBound(true)
      return { failure: await until(connection.closed, stop), boundMs: boundMs() }
    } catch (error) {
      if (stop.aborted) {
        this.#setBound(false)
        if (boundAt !== undefined && connection !== undefined) await this.#drain(connection)
        return { failure: undefined, boundMs: boundMs() }
      }
      if (!(error instanceof AgentError)) throw error
      metrics.attempted(error.code)
      return { failure: error, boundMs: 0 }
    } finally {
      this.#setBound(false)
      connection?.end()
      await connection?.closed
    }
  }

  /** Asks for no further connections, and lets those that are open end. */
  async #drain(connection: GatewayConnection): Promise<void> {
    const { clock, logger, upstreams } = this.#parts
    const { drainMs } = this.#options
    logger.info({ open: upstreams.open, drainMs }, 'stopping: open connections may end')
    const drained = connection.unbind().then(() => upstreams.idle())
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const cancel = clock.setTimer(drainMs, resolve)
    await Promise.race([drained, late, connection.closed])
    cancel()
    if (upstreams.open > 0) logger.warn({ open: upstreams.open }, 'gave up on connections that are still open')
  }

  #setBound(isBound: boolean): void {
    this.#isBound = isBound
    this.#parts.metrics.setBound(isBound)
  }
}

async function readKey(file: string): Promise<ParsedKey> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new AgentError('KeyUnreadable', `the key file ${file} cannot be read (${error.code})`, { cause: error })
  })
  const key = parsePrivateKey(text)
  if (key !== undefined) return key
  throw new AgentError('KeyUnreadable', `the key file ${file} holds no private key without a passphrase`)
}

/** What `promise` settles to; rejects when `stop` is aborted first. */
function until<T>(promise: Promise<T>, stop: AbortSignal): Promise<T> {
  return abortable(stop, (resolve, reject) => {
    promise.then(resolve, reject)
    return () => undefined
  })
}

const FIRST_MS = 500
const LONGEST_MS = 30_000
/** Many agents lose the same gateway at once. */
const SPREAD = 0.5
/** A connection that lasted this long, in milliseconds, did work: the next failure is the first one. */
const WORKED_MS = 10_000

/** How often connecting has failed in a row. */
export class Backoff {
  readonly #random: Random
  #failures = 0

  constructor(random: Random) {
    this.#random = random
  }

  /**
   * How long to wait before the next attempt, in milliseconds: about 0.5 s after the first failure, then double each
   * time, up to about 30 s, spread by half.
   *
   * @param boundMs how long the tunnels were there before they were lost; 0 if they never were
   */
  next(boundMs: number): number {
    if (boundMs >= WORKED_MS) this.#failures = 0
    const wait = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(this.#failures, 16))
    this.#failures += 1
    return jitter(this.#random, wait, SPREAD)
  }
}
