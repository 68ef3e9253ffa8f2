import { type ProxyOptions, proxyFor } from '../http-client/proxies.ts'
import type { Method } from '../http-client/send.ts'
import { createDispatcher, type OpenDispatcher } from './dispatcher.ts'
import { ApiError, invalid, saysAbsent } from './errors.ts'
import { ListRoom, type ListSize } from './list-room.ts'
import {
  cursorLost,
  fitsPath,
  type Gathered,
  GatheredAll,
  GatheredMost,
  isProblem,
  type ListPage,
  nextPageURL,
  pageReader,
  readObject,
} from './paging.ts'
import { Transport, type TransportOptions } from './transport.ts'
import type {
  ApiAnswer,
  ApiClient,
  CallOptions,
  Collection,
  CommandClient,
  CompleteList,
  ListCallOptions,
  RemoteObject,
  RequestBody,
} from './types.ts'

type Defaulted = 'versionHeader' | 'versionValue' | 'requestTimeoutMs' | 'maxResponseBytes'

export interface ApiClientOptions extends Omit<TransportOptions, 'dispatcher' | Defaulted> {
  /** Already checked by `checkBaseURL`. A path is kept. */
  readonly baseURL: string
  /** Default `Service-Version` (`management-api.md § Authentication`). */
  readonly versionHeader?: string | undefined
  /** Default `2`. */
  readonly versionValue?: string | undefined
  /** PEM of the only authorities trusted for the API. Default: those that Node ships with. */
  readonly caBundle?: string | undefined
  readonly proxies?: ProxyOptions | undefined
  /** Opens the connections. Default: real sockets. */
  readonly openDispatcher?: OpenDispatcher | undefined
  /** Limits one request including its whole answer, not the wait for the budget. Default 10 000. */
  readonly requestTimeoutMs?: number | undefined
  /** Default 8 MiB. */
  readonly maxResponseBytes?: number | undefined
  /** Memory that the account's complete lists may take together, estimated from their text. Default 64 MiB. */
  readonly maxListBytes?: number | undefined
}

export interface ClosableApiClient extends ApiClient, CommandClient {
  /**
   * Refuses further calls as `Aborted`; resolves when the calls in flight have ended and their connections are closed.
   */
  close(): Promise<void>
}

const MAX_CONNECT_MS = 5_000
const MAX_PAGES = 2_000
/** A filter may leave pages empty, and objects move while we read; a server with this many in a row is looping. */
const MAX_BARREN_PAGES = 100
const LIST_ATTEMPTS = 3

/**
 * A client for one account.
 *
 * ```ts
 * const [clock, random] = [systemClock, systemRandom]
 * const client = createApiClient({ baseURL, apiKey: () => key, budget, clock, random, userAgent })
 * const policy = await client.create(collections.ipPolicies, { description: 'office' })
 * ```
 */
export function createApiClient(options: ApiClientOptions): ClosableApiClient {
  const requestTimeoutMs = options.requestTimeoutMs ?? 10_000
  const dispatcher = (options.openDispatcher ?? createDispatcher)({
    caBundle: options.caBundle,
    proxy: proxyFor(options.baseURL, options.proxies ?? {}),
    // Shorter than the whole, so that a host that does not answer counts as "not connected": certainly nothing was
    // sent.
    connectTimeoutMs: Math.min(MAX_CONNECT_MS, requestTimeoutMs / 2),
  })
  const transport = new Transport({
    ...options,
    dispatcher,
    versionHeader: options.versionHeader ?? 'Service-Version',
    versionValue: options.versionValue ?? '2',
    requestTimeoutMs,
    maxResponseBytes: options.maxResponseBytes ?? 8 * 1024 * 1024,
  })
  const room = new ListRoom(options.maxListBytes ?? 64 * 1024 * 1024)
  return new HttpApiClient(transport, new URL(options.baseURL), room, () => dispatcher.close())
}

class HttpApiClient implements ClosableApiClient {
  readonly close: () => Promise<void>
  readonly #transport: Transport
  readonly #base: URL
  readonly #room: ListRoom

  constructor(transport: Transport, base: URL, room: ListRoom, close: () => Promise<void>) {
    this.#transport = transport
    this.#base = base
    this.#room = room
    this.close = close
  }

  async get(collection: Collection, id: string, options: CallOptions = {}): Promise<RemoteObject | undefined> {
    const url = this.#url(collection, 'GET', id)
    const answer = await this.#transport.send({
      method: 'GET',
      url,
      collection: collection.path,
      id,
      mayBeAbsent: true,
      options,
    })
    return saysAbsent(answer.status) ? undefined : object(answer, `GET ${collection.path}`, id)
  }

  async list(collection: Collection, options: ListCallOptions = {}): Promise<CompleteList> {
    for (let attempt = 1; ; attempt++) {
      const size = this.#room.begin(collection.path)
      const { keep } = options
      const listing = new Listing(size, keep === undefined ? new GatheredAll() : new GatheredMost(keep))
      try {
        const list = await this.#listOnce(collection, options, listing)
        size.end(true)
        return list
      } catch (error) {
        size.end(false)
        // A list whose first page is refused never began; a lost cursor shows on a later page.
        if (listing.pages === 0 || attempt >= LIST_ATTEMPTS || !cursorLost(error)) throw error
      }
    }
  }

  async create(collection: Collection, body: RequestBody, options: CallOptions = {}): Promise<RemoteObject> {
    const url = this.#url(collection, 'POST')
    const answer = await this.#transport.send({ method: 'POST', url, collection: collection.path, body, options })
    return object(answer, `POST ${collection.path}`)
  }

  async update(
    collection: Collection,
    id: string,
    body: RequestBody,
    options: CallOptions = {},
  ): Promise<RemoteObject> {
    const url = this.#url(collection, 'PATCH', id)
    const outgoing = { method: 'PATCH', url, collection: collection.path, id, body: { ...body, id }, options } as const
    const answer = await this.#transport.send(outgoing)
    if (containsObject(answer.body)) return object(answer, `PATCH ${collection.path}`, id)
    const stored = await this.get(collection, id, options)
    if (stored !== undefined) return stored
    throw new ApiError('NotFound', `PATCH ${collection.path}: the object no longer existed right after its update`, {
      definite: false,
    })
  }

  async delete(collection: Collection, id: string, options: CallOptions = {}): Promise<'deleted' | 'absent'> {
    const url = this.#url(collection, 'DELETE', id)
    const outgoing = { method: 'DELETE', url, collection: collection.path, id, mayBeAbsent: true, options } as const
    const answer = await this.#transport.send(outgoing)
    if (saysAbsent(answer.status)) return 'absent'
    // The answer to a DELETE is empty; one that holds an object answers another request.
    if (containsObject(answer.body)) object(answer, `DELETE ${collection.path}`, id)
    return 'deleted'
  }

  async command(collection: Collection, id: string, command: string, options: CallOptions = {}): Promise<void> {
    const at = this.#url(collection, 'POST', id)
    const url = new URL(`${at.pathname}/${encodeURIComponent(command)}`, at.origin)
    await this.#transport.send({ method: 'POST', url, collection: collection.path, id, command, body: {}, options })
  }

  async #listOnce(collection: Collection, options: CallOptions, listing: Listing): Promise<CompleteList> {
    const label = `GET ${collection.path}`
    const seen = new Set<string>()
    let url: URL | undefined = this.#url(collection, 'GET')
    while (url !== undefined) {
      if (seen.has(url.href)) throw invalid(label, 'next_page_uri points to a page that was already read')
      if (listing.pages >= MAX_PAGES) throw invalid(label, `the list did not end after ${MAX_PAGES} pages`)
      seen.add(url.href)
      const answer: ApiAnswer = await this.#transport.send({ method: 'GET', url, collection: collection.path, options })
      const page: ListPage = this.#page(collection, answer)
      listing.add(page, answer, label)
      url = page.nextPageURI === undefined ? undefined : nextPageURL(page.nextPageURI, url, this.#base, label)
    }
    return listing.complete()
  }

  #page(collection: Collection, answer: ApiAnswer): ListPage {
    const page = pageReader(collection.listKey)(answer.body)
    if (isProblem(page)) throw invalid(`GET ${collection.path}`, `the response is not a list: ${page.problem}`)
    return page
  }

  #url(collection: Collection, method: Method, id?: string): URL {
    const prefix = this.#base.pathname.replace(/\/+$/, '')
    const path = `${prefix}/${collection.path}`
    if (id === undefined) return new URL(path, this.#base.origin)
    if (!fitsPath(id)) {
      throw new ApiError('Invalid', `${method} ${collection.path}: the id is empty or not valid in a path`, {
        definite: true,
      })
    }
    return new URL(`${path}/${encodeURIComponent(id)}`, this.#base.origin)
  }
}

/** Pages as they come in. */
class Listing {
  pages = 0
  #beganAt = 0
  /** Pages in a row without a new object. */
  #barren = 0
  readonly #gathered: Gathered
  readonly #size: ListSize

  constructor(size: ListSize, gathered: Gathered) {
    this.#size = size
    this.#gathered = gathered
  }

  /** @throws ApiError InvalidResponse for a list that loops, or takes more memory than an account may. */
  add(page: ListPage, answer: ApiAnswer, label: string): void {
    if (this.pages === 0) this.#beganAt = answer.sentAt
    this.pages++
    this.#size.add(answer.size, label)
    const before = this.#gathered.size
    for (const object of page.objects) this.#gathered.add(object)
    this.#barren = this.#gathered.size > before ? 0 : this.#barren + 1
    if (this.#barren > MAX_BARREN_PAGES)
      throw invalid(label, `${MAX_BARREN_PAGES} pages in a row contained nothing new`)
  }

  complete(): CompleteList {
    const objects = this.#gathered.objects()
    return { objects, beganAt: this.#beganAt, pages: this.pages, leftOut: this.#gathered.size - objects.length }
  }
}

/**
 * Whether a body holds anything: the contract does not show every answer, and an empty object says no more than no
 * body.
 */
function containsObject(body: unknown): boolean {
  return body !== undefined && body !== null && !(typeof body === 'object' && Object.keys(body).length === 0)
}

function object(answer: ApiAnswer, label: string, id?: string): RemoteObject {
  const read = readObject(answer.body)
  if (isProblem(read)) throw invalid(label, `the response is not an object of the API: ${read.problem}`)
  if (id !== undefined && read.id !== id) throw invalid(label, 'the response is an object other than the requested one')
  return read
}
