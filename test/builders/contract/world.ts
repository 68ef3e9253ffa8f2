import type { Choices } from '../../../src/emulator/choices/choices.ts'
import { type Emulator, startEmulator } from '../../../src/emulator/emulator.ts'
import { AdminSurface } from './admin-surface.ts'
import { ApiClient } from './api-client.ts'

/** The emulator's default service domain. */
const serviceDomain = 'tunnel.example'

export interface WorldOptions {
  readonly certSeconds?: number
  /** Whether there is an admin surface. Default true. */
  readonly admin?: boolean
  readonly versionHeaders?: readonly string[]
  /** Whether a request may give its origin in X-Forwarded-For. */
  readonly trustForwardedFor?: boolean
  /** Choices where the contract leaves them open. Default: as decided. */
  readonly choices?: Choices
  /** Requests per minute for each key. */
  readonly requestsPerMinute?: number
}

/** What a world needs of its emulator, which may run in another process. */
export type RunningEmulator = Pick<Emulator, 'url' | 'apiKey' | 'adminUrl' | 'adminToken' | 'gateway' | 'close'>

/** An emulator on a free port, with the clients that a test needs. */
export class World {
  readonly url: string
  readonly apiKey: string
  readonly adminToken: string
  /** Authenticated as the administrator whose key the emulator boots with. */
  readonly api: ApiClient
  readonly admin: AdminSurface
  readonly #close: () => Promise<void>
  #names = 0

  constructor(emulator: RunningEmulator) {
    this.url = emulator.url
    this.apiKey = emulator.apiKey
    this.adminToken = emulator.adminToken
    this.api = new ApiClient(emulator.url, emulator.apiKey)
    this.admin = new AdminSurface(emulator.adminUrl, emulator.adminToken)
    this.#close = () => emulator.close()
  }

  /** An unreserved subdomain of the service. */
  serviceDomain(): string {
    this.#names += 1
    return `host-${this.#names}.${serviceDomain}`
  }

  /** An unreserved domain outside the service. */
  customDomain(): string {
    this.#names += 1
    return `www.customer-${this.#names}.example.org`
  }

  /** The id of the user whose key the emulator boots with. */
  async ownUserId(): Promise<string> {
    const [boot] = (await this.api.all('/api_keys', 'keys')).toReversed()
    return String(boot?.owner_id)
  }

  close(): Promise<void> {
    return this.#close()
  }
}

/** Starts an emulator with an empty account, in memory. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const { requestsPerMinute, ...rest } = options
  const emulator = await startEmulator({
    listen: '127.0.0.1:0',
    ...rest,
    ...(requestsPerMinute === undefined ? {} : { rateLimit: { requests: requestsPerMinute, periodMs: 60_000 } }),
  })
  return new World(emulator)
}
