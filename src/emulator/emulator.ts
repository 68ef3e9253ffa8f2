import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { type Clock, systemClock } from '../util/clock.ts'
import { escaped } from '../util/printable.ts'
import { type Random, systemRandom } from '../util/random.ts'
import { Admin, CLOCK_OFFSET } from './admin/admin.ts'
import { bootAccount, followStoredIds } from './admin/bootstrap.ts'
import { adminPlugin } from './admin/routes.ts'
import { DnsTable } from './certificates/dns-table.ts'
import { CertificateIssuer } from './certificates/provisioning.ts'
import { DECIDED, spelledPlainly } from './choices/choices.ts'
import type { EmulatorOptions } from './emulator-options.ts'
import { Faults } from './faults/faults.ts'
import { Gateway, type GatewayAddresses } from './gateway/gateway.ts'
import { parseListen } from './gateway/gateway-options.ts'
import { type ApiOptions, apiPlugin } from './http/api.ts'
import { Journal } from './http/journal.ts'
import { RateLimiter } from './http/rate-limiter.ts'
import { createServer, type FailureLog } from './http/server.ts'
import { ResourceIndex } from './objects/resource.ts'
import { AnswerCount } from './objects/view.ts'
import type { Services } from './objects/write-context.ts'
import { openApiDocument } from './openapi/document.ts'
import { catalogueOf } from './openapi/operation.ts'
import { RESOURCES } from './resources/index.ts'
import { IpRestrictions } from './restrictions/ip-restrictions.ts'
import { KeyHolders } from './ssh/key-holders.ts'
import { Deliveries } from './store/deliveries.ts'
import { Store } from './store/emulator-store.ts'
import { newToken } from './store/tokens.ts'
import { EmulatorClock } from './values/emulator-clock.ts'
import { IdSource } from './values/ids.ts'
import type { JsonObject } from './values/json.ts'
import { RequestError } from './values/request-error.ts'

const STANDARD_VERSION_HEADER = 'Service-Version'
const ADMIN_PREFIX = '/_emulator'

/** An emulator, wherever its requests come from. */
interface EmulatorBase {
  /** Bearer token of the admin surface. */
  readonly adminToken: string
  /** Token of the administrator's API key in the default account. */
  readonly apiKey: string
  /** Id of the default account. */
  readonly account: string
  /** The admin surface without HTTP. */
  readonly admin: Admin
  /** Stops answering, closes open connections and the data file. Calling it again does nothing. */
  close(): Promise<void>
}

/** A running emulator. */
export interface Emulator extends EmulatorBase {
  /** Base address of the API. */
  readonly url: string
  /** Base address of the admin surface: `<url>/_emulator`. */
  readonly adminUrl: string
  /** Where its data plane can be reached, if it was started with one. */
  readonly gateway: GatewayAddresses | undefined
}

/** A request that is passed to an emulator in the same process. */
export interface HandedRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Including the query. */
  readonly path: string
  /** `host` becomes part of the addresses in the answer. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

export interface HandedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** An emulator that does not listen on a port. */
export interface OpenEmulator extends EmulatorBase {
  /** Answers as it would over the network. */
  answer(request: HandedRequest): Promise<HandedAnswer>
  /**
   * The same, but the answer is spelled as decided, whatever was chosen: for tests that check what the service stores.
   */
  answerPlainly(request: HandedRequest): Promise<HandedAnswer>
}

/**
 * Starts an emulator of the management API.
 *
 * @example
 * const emulator = await startEmulator({ certSeconds: 1 })
 * await fetch(`${emulator.url}/ip_policies`, {
 *   headers: { authorization: `Bearer ${emulator.apiKey}`, 'service-version': '2' },
 * })
 * await emulator.close()
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const listen = parseListen(options.listen ?? '127.0.0.1:0')
  const parts = createParts(options)
  await open(parts, options, async (app) => {
    await app.listen(listen)
    await parts.gateway?.start()
  })
  const url = addressOf(parts.app.server.address())
  const gateway = parts.gateway?.addresses
  return Object.assign(baseOf(parts), { url, adminUrl: `${url}${ADMIN_PREFIX}`, gateway })
}

/**
 * Opens an emulator for callers in the same process; faults that cut connections need one that listens.
 *
 * @param ownUrl base address shown in objects that no HTTP request asked for
 */
export async function openEmulator(options: EmulatorOptions, ownUrl: string): Promise<OpenEmulator> {
  const parts = createParts(options, () => ownUrl)
  await open(parts, options, (app) => app.ready())
  const plain = await openPlain(parts, options)
  return Object.assign(baseOf(parts), {
    answer: (request: HandedRequest) => answer(parts.app, request),
    answerPlainly: (request: HandedRequest) => answer(plain, request),
  })
}

/** Another server over the same store. */
async function openPlain(parts: Parts, options: EmulatorOptions): Promise<FastifyInstance> {
  const { services } = parts
  const app = createServer({ newOperationId: () => services.ids.next('op'), logFailure: failureLog(options) })
  const plain = { ...services, choices: spelledPlainly(services.choices) }
  await app.register(apiPlugin(apiOptions({ ...parts, services: plain }, options)))
  await app.ready()
  return app
}

async function answer(app: FastifyInstance, { method, path, headers, body }: HandedRequest): Promise<HandedAnswer> {
  const payload = body === undefined ? {} : { payload: body }
  const answered = await app.inject({ method, url: path, headers: { ...headers }, ...payload })
  const texts = Object.entries(answered.headers).map(([name, value]) => [name, String(value)])
  return { status: answered.statusCode, headers: Object.fromEntries(texts), body: answered.body }
}

async function open(
  parts: Parts,
  options: EmulatorOptions,
  begin: (app: FastifyInstance) => PromiseLike<unknown>,
): Promise<void> {
  try {
    await registerSurfaces(parts, options)
    await begin(parts.app)
  } catch (error) {
    await close(parts)
    throw error
  }
}

async function close({ app, faults, services, stopping, gateway }: Parts): Promise<void> {
  stopping.abort(new RequestError('unavailable', 'the emulator is stopping'))
  await app.close()
  await gateway?.close()
  faults.clear()
  services.store.close()
}

function baseOf(parts: Parts): EmulatorBase {
  const { admin, adminToken, apiKey } = parts
  let closed: Promise<void> | undefined
  return {
    adminToken,
    apiKey,
    get account() {
      return admin.account
    },
    admin,
    close: () => {
      closed ??= close(parts)
      return closed
    },
  }
}

interface Parts {
  readonly app: FastifyInstance
  readonly admin: Admin
  readonly faults: Faults
  readonly journal: Journal
  readonly services: Services
  readonly gateway: Gateway | undefined
  readonly limiter: RateLimiter | undefined
  readonly stopping: AbortController
  /** The machine's clock. */
  readonly clock: Clock
  readonly apiKey: string
  readonly adminToken: string
}

/** All parts of the emulator, including the default account; nothing listens yet. */
function createParts(options: EmulatorOptions, givenUrl?: () => string): Parts {
  const clock = options.clock ?? systemClock
  const random = options.random ?? systemRandom
  const apiKey = options.apiKey ?? newToken(random)
  const faults = new Faults(clock)
  const journal = new Journal()
  const app = createServer({
    newOperationId: () => services.ids.next('op'),
    logFailure: failureLog(options),
  })
  const ownUrl = givenUrl ?? ((): string => addressOf(app.server.address()))
  const services: Services = createServices(options, { clock, random, faults, ownUrl })
  const limiter = options.rateLimit && new RateLimiter(options.rateLimit, () => clock.monotonic())
  bootAccount(services, apiKey)
  const gateway = options.gateway && new Gateway(services, clock, options.gateway)
  return {
    app,
    admin: new Admin({ services, gateway, faults, journal, apiKey, onReset: () => limiter?.reset() }),
    faults,
    journal,
    services,
    gateway,
    limiter,
    stopping: new AbortController(),
    clock,
    apiKey,
    adminToken: options.adminToken ?? newToken(random),
  }
}

interface Surroundings {
  /** The machine's clock. */
  readonly clock: Clock
  readonly random: Random
  readonly faults: Faults
  /** Address that the emulator listens on, once it does. */
  readonly ownUrl: () => string
}

/** Opens the store, and continues with the time and ids of an earlier run on the same data. */
function createServices(
  options: EmulatorOptions,
  { clock: machineClock, random, faults, ownUrl }: Surroundings,
): Services {
  const clock = new EmulatorClock(machineClock)
  const store = new Store(options.data ?? ':memory:', () => clock.now())
  clock.restore(Number(store.getMeta(CLOCK_OFFSET) ?? 0))
  const dns = new DnsTable(store)
  const choices = options.choices ?? DECIDED
  const services: Services = {
    store,
    clock,
    random,
    dns,
    deliveries: new Deliveries(store),
    agentRestrictions: new IpRestrictions(store, 'agent', choices),
    keyHolders: new KeyHolders(store),
    ownUrl,
    ids: new IdSource(
      () => clock.now(),
      random,
      () => choices.ids,
    ),
    choices,
    answers: new AnswerCount(),
    resources: new ResourceIndex(RESOURCES),
    certificates: new CertificateIssuer(dns, faults, options.certSeconds ?? 5),
    serviceDomain: (options.serviceDomain ?? 'tunnel.example').toLowerCase(),
  }
  followStoredIds(services)
  return services
}

async function registerSurfaces(parts: Parts, options: EmulatorOptions): Promise<void> {
  const { app, admin, adminToken, services } = parts
  const entries = catalogueOf(app)
  if (options.admin ?? true) {
    const document = (): JsonObject =>
      openApiDocument({
        entries,
        resources: services.resources.all,
        adminPrefix: ADMIN_PREFIX,
        versionHeaders: versionHeaders(options),
      })
    const surface = adminPlugin({ admin, token: adminToken, remote: options.adminRemote ?? false, document })
    await app.register(surface, { prefix: ADMIN_PREFIX })
  }
  await app.register(apiPlugin(apiOptions(parts, options)))
}

function apiOptions(parts: Parts, options: EmulatorOptions): ApiOptions {
  const { services, journal, faults, clock, limiter, stopping } = parts
  return {
    services,
    journal,
    faults,
    clock,
    versionHeaders: versionHeaders(options).map((name) => name.toLowerCase()),
    latencyMs: options.latencyMs ?? 0,
    rateLimiter: limiter,
    trustForwardedFor: options.trustForwardedFor ?? false,
    logFailure: failureLog(options),
    stopping: stopping.signal,
  }
}

function versionHeaders({ versionHeaders: further = [] }: EmulatorOptions): readonly string[] {
  return [STANDARD_VERSION_HEADER, ...further]
}

function failureLog({ logFailure = logToStandardError }: EmulatorOptions): FailureLog {
  return logFailure
}

function addressOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new Error('the emulator listens on no TCP port')
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}

function logToStandardError(message: string, error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(escaped(`${message}: ${text}\n`, true))
}
