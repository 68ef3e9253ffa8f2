import type { Clock } from '../util/clock.ts'
import type { Random } from '../util/random.ts'
import { type Choices, OptionError } from './choices/choices.ts'
import type { GatewayOptions } from './gateway/gateway-options.ts'
import type { RateLimit } from './http/rate-limiter.ts'
import type { FailureLog } from './http/server.ts'

/** How an emulator is started. Everything has a default; the command line has a flag for each value. */
export interface EmulatorOptions {
  /** `host:port`; port 0 picks a free one. Default `127.0.0.1:0`. */
  readonly listen?: string
  /** Token of the administrator's API key that the account starts with. Generated when absent. */
  readonly apiKey?: string
  /** `:memory:` (default) or the path of the data file. */
  readonly data?: string
  /** Names of headers that may carry the API version, besides `Service-Version`. */
  readonly versionHeaders?: readonly string[]
  /** Delay of every request to the API, in milliseconds. Default 0. */
  readonly latencyMs?: number
  /** Requests allowed per API key. Default: no limit. */
  readonly rateLimit?: RateLimit
  /** How long the first attempt to provision a certificate takes. Default 5 s. */
  readonly certSeconds?: number
  /** The service's own domain. Default `tunnel.example`. */
  readonly serviceDomain?: string
  /**
   * Whether IP restrictions use the last address of `X-Forwarded-For` as the source address. Default false: they use
   * the connection's.
   */
  readonly trustForwardedFor?: boolean
  /** Whether there is an admin surface under `/_emulator/`. Default true. */
  readonly admin?: boolean
  /** Bearer token of the admin surface. Generated when absent. */
  readonly adminToken?: string
  /** Whether the admin surface serves other machines too. Default false: loopback only. */
  readonly adminRemote?: boolean
  /** Carries traffic: an SSH gateway for agents, and edges that listen. Default: none. */
  readonly gateway?: GatewayOptions
  /** The behaviour where the contract leaves it open. Default: as `docs/api-decisions.md` decides. */
  readonly choices?: Choices
  /** The machine's clock. Emulated time is this plus what the admin surface adds. */
  readonly clock?: Clock
  readonly random?: Random
  /** Where the emulator's own failures are reported. Default: standard error. */
  readonly logFailure?: FailureLog
}

/** Reads `120/min`, `5/s` or `1000/h`. */
export function parseRateLimit(text: string): RateLimit {
  const match = /^([1-9]\d{0,8})\/(s|sec|min|h)$/.exec(text)
  const period = match?.[2]
  if (match?.[1] === undefined || period === undefined)
    throw new OptionError(`rate limit ${text}`, '120/min, 5/s or 1000/h')
  const periodMs = period === 'min' ? 60_000 : period === 'h' ? 3_600_000 : 1000
  return { requests: Number(match[1]), periodMs }
}
