import { expect } from 'vitest'
import type { SeedSpec } from '../../../src/emulator/admin/seed.ts'
import { caPem } from './ca-pem.ts'

export interface DnsRecord {
  readonly name: string
  readonly type: string
  readonly value: string
}

/** One event delivered to one destination. */
export interface Delivery {
  readonly destination: string
  readonly subscription: string
  readonly type: string
  readonly attempt: number
  readonly outcome: string
  readonly event: {
    readonly event_id: string
    readonly event_type: string
    readonly event_timestamp: string
    readonly object: Readonly<Record<string, unknown>>
  }
}

/** Changes the emulator behind the API, through its admin surface. */
export class AdminSurface {
  readonly #url: string
  readonly #token: string

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  /** Stores everything of the seed. */
  async seed(spec: SeedSpec): Promise<void> {
    await this.#call('POST', '/seed', spec)
  }

  seedTlsCertificate(description: string): Promise<string> {
    return this.#seed('tls_certificates', { description })
  }

  seedEndpointConfiguration(description: string): Promise<string> {
    return this.#seed('endpoint_configurations', { description })
  }

  seedCertificateAuthority(description: string): Promise<string> {
    return this.#seed('certificate_authorities', { description, ca_pem: caPem })
  }

  seedUser(user: { readonly name: string; readonly admin: boolean }): Promise<string> {
    return this.#seed('users', user)
  }

  /** Creates an API key of that owner. */
  async seedApiKey(ownerId: string): Promise<string> {
    const seeded = await this.#call('POST', '/seed', { apiKeys: [{ ownerId }] })
    return (seeded as { apiKeys: [{ token: string }] }).apiKeys[0].token
  }

  /** The API key of a new account. */
  async seedAccount(name: string): Promise<string> {
    const seeded = await this.#call('POST', '/seed', { accounts: [{ name }] })
    return (seeded as { accounts: [{ apiKey: string }] }).accounts[0].apiKey
  }

  /** Emulated time in milliseconds since the epoch. */
  async now(): Promise<number> {
    return Date.parse(((await this.#call('GET', '/clock')) as { now: string }).now)
  }

  /** Advances emulated time. */
  async advance(seconds: number): Promise<void> {
    await this.#call('POST', '/clock', { advanceSeconds: Math.ceil(seconds) })
  }

  async addDnsRecord(record: DnsRecord): Promise<void> {
    await this.#call('PUT', '/dns', record)
  }

  async clearDns(): Promise<void> {
    await this.#call('DELETE', '/dns')
  }

  /** Lets the next attempts to provision a certificate end in INTERNAL_ERROR. */
  async failNextCertificates(times: number): Promise<void> {
    await this.#call('POST', '/faults', { type: 'certificate', errorCode: 'INTERNAL_ERROR', times })
  }

  /** Deliveries to a destination, oldest first. */
  async deliveriesTo(destination: string): Promise<readonly Delivery[]> {
    const query = new URLSearchParams({ destination, limit: '1000' })
    return ((await this.#call('GET', `/deliveries?${query}`)) as { deliveries: readonly Delivery[] }).deliveries
  }

  async #seed(collection: string, body: unknown): Promise<string> {
    const seeded = (await this.#call('POST', '/seed', { objects: { [collection]: [body] } })) as {
      objects: Readonly<Record<string, readonly string[]>>
    }
    const id = seeded.objects[collection]?.[0]
    if (id === undefined) throw new Error(`the admin surface seeded nothing in ${collection}`)
    return id
  }

  async #call(method: string, path: string, body?: unknown): Promise<unknown> {
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#token}` }
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    const response = await fetch(this.#url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    expect(response.ok, `${method} ${path}: ${response.status} ${text}`).toBe(true)
    return text === '' ? undefined : JSON.parse(text)
  }
}
