import { Ajv, type ValidateFunction } from 'ajv'
import { ApiError, invalid } from './errors.ts'
import type { KeptObjects, RemoteObject } from './types.ts'

/** Servers refuse longer request lines, and each page may give another address. */
const MAX_URL_LENGTH = 8192

/**
 * The address of the next page. `next` may be absolute or relative; it must stay on the account's own origin and below
 * the path of its base URL, because the key is sent with the request. A path outside the base URL's path, as an API
 * behind a gateway may give it, is taken as relative to the base URL, and so is one without a leading slash, as other
 * addresses are (`management-api.md § Domains, addresses, ingress`); only a query alone belongs to the current page.
 *
 * @throws ApiError HostNotAllowed for another origin or a path outside the base URL's; InvalidResponse for something
 * that is not a URL or is too long.
 */
export function nextPageURL(next: string, current: URL, base: URL, label: string): URL {
  if (next.length > MAX_URL_LENGTH) throw invalid(label, `next_page_uri is longer than ${MAX_URL_LENGTH} characters`)
  const from = /^[?#]/.test(next) ? current.href : `${base.href.replace(/\/+$/, '')}/`
  if (!URL.canParse(next, from)) throw invalid(label, 'next_page_uri is not a URL')
  const url = new URL(next, from)
  const isPath = next.startsWith('/') && !next.startsWith('//')
  const prefix = base.pathname.replace(/\/+$/, '')
  const below = url.pathname === prefix || url.pathname.startsWith(`${prefix}/`)
  if (isPath && !below) url.pathname = `${prefix}${url.pathname}`
  const foreign = foreignPart(url, base, below || isPath)
  if (foreign !== undefined) {
    throw new ApiError('HostNotAllowed', `${label}: next_page_uri points ${foreign}; the key is not sent there`, {
      definite: false,
    })
  }
  url.hash = ''
  return url
}

/**
 * Which part of the address is not the account's. Words only, since the server chooses what the address itself
 * contains.
 */
function foreignPart(url: URL, base: URL, below: boolean): string | undefined {
  if (url.origin !== base.origin) return "to another scheme, host or port than the base URL's"
  if (url.username !== '' || url.password !== '') return 'to the base URL with a user name or password'
  return below ? undefined : 'outside the path of the base URL'
}

/** Whether a page failed because its cursor is no longer valid, so that only starting over helps. */
export function cursorLost(error: unknown): boolean {
  return (
    error instanceof ApiError && (error.code === 'Invalid' || error.code === 'NotFound' || error.code === 'Conflict')
  )
}

/**
 * Ids are strings of a few dozen characters (`management-api.md § Conventions`). They appear in paths, logs and
 * statuses, which take no longer ones.
 */
const MAX_ID_LENGTH = 255

/**
 * A page of a list, read defensively: an absent, null or empty `next_page_uri` ends the list, and null instead of the
 * array is an empty one. Without the key of the collection it is no list, or any object would be an empty one.
 */
export interface ListPage {
  readonly objects: readonly RemoteObject[]
  readonly nextPageURI: string | undefined
}

// The schemas below are constants: checking them against the meta-schema would take a tenth of each start.
const ajv = new Ajv({ strict: true, allErrors: false, meta: false, validateSchema: false })

const objectSchema = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string', minLength: 1, maxLength: MAX_ID_LENGTH } },
} as const

const isObject: ValidateFunction<RemoteObject> = ajv.compile<RemoteObject>(objectSchema)

/** Refused when read: once written to a status, the id would only fail later, on every attempt. */
const UNFIT = 'is not valid in a path'

/** The object if `body` is one; otherwise what is wrong with it, without quoting the body. */
export function readObject(body: unknown): RemoteObject | { readonly problem: string } {
  if (!isObject(body)) return { problem: problemOf(isObject) }
  return fitsPath(body.id) ? body : { problem: `/id ${UNFIT}` }
}

/** Tells the two results of `readObject` and of a page reader apart. */
export function isProblem(result: object): result is { readonly problem: string } {
  return 'problem' in result && !('id' in result)
}

type PageReader = (body: unknown) => ListPage | { readonly problem: string }

/** One per list key: compiled checks are never freed, and sessions come and go. */
const pageReaders = new Map<string, PageReader>()

/** The check for one collection's list envelope (`management-api.md § Conventions`). */
export function pageReader(listKey: string): PageReader {
  const known = pageReaders.get(listKey) ?? compiledReader(listKey)
  pageReaders.set(listKey, known)
  return known
}

function compiledReader(listKey: string): PageReader {
  type Envelope = Readonly<Record<string, unknown>> & { readonly next_page_uri?: string | null }
  const validate = ajv.compile<Envelope>({
    type: 'object',
    required: [listKey],
    properties: {
      [listKey]: { type: 'array', nullable: true, items: objectSchema },
      next_page_uri: { type: 'string', nullable: true },
    },
  })
  return (body) => {
    if (!validate(body)) return { problem: problemOf(validate) }
    const objects = (body[listKey] ?? []) as readonly RemoteObject[]
    if (!objects.every(({ id }) => fitsPath(id))) return { problem: `/${listKey}/*/id ${UNFIT}` }
    return { objects, nextPageURI: body.next_page_uri || undefined }
  }
}

/** Leaves out indices, so that the same defect elsewhere gives the same message. */
function problemOf(validate: ValidateFunction): string {
  const error = validate.errors?.[0]
  const where = (error?.instancePath ?? '').replace(/\/\d+/g, '/*')
  return `${where === '' ? 'the body' : where} ${error?.message ?? 'is not as documented'}`
}

/**
 * Whether an id can be used in a path. A segment of dots would leave the collection, and an empty id would name the
 * collection itself; every other character with a meaning in URLs is encoded.
 */
export function fitsPath(id: string): boolean {
  return id !== '' && id !== '.' && !id.includes('..') && !/[/\\\p{Cc}]/u.test(id) && id.isWellFormed()
}

/** What a list has shown so far. An object that moves to a later page while we read counts once, as last shown. */
export interface Gathered {
  add(object: RemoteObject): void
  /** Objects shown so far. */
  readonly size: number
  /** The objects kept, at the end of the list. */
  objects(): readonly RemoteObject[]
}

/** Keeps every object. */
export class GatheredAll implements Gathered {
  readonly #objects = new Map<string, RemoteObject>()

  add(object: RemoteObject): void {
    this.#objects.set(object.id, object)
  }

  get size(): number {
    return this.#objects.size
  }

  objects(): readonly RemoteObject[] {
    return [...this.#objects.values()]
  }
}

/**
 * Keeps a limited number of objects: preferred ones first, then those with the lowest ids. The order of the list does
 * not matter, and of the other objects only the ids stay in memory.
 */
export class GatheredMost implements Gathered {
  readonly #most: KeptObjects
  readonly #ids = new Set<string>()
  readonly #preferred = new Map<string, RemoteObject>()
  readonly #others = new Map<string, RemoteObject>()

  constructor(most: KeptObjects) {
    this.#most = most
  }

  add(object: RemoteObject): void {
    this.#ids.add(object.id)
    const group = this.#most.prefers(object.id) ? this.#preferred : this.#others
    group.set(object.id, object)
    // Dropping half each time keeps the cost of sorting per object low.
    if (group.size > 2 * this.#most.limit) this.#cut(group)
  }

  get size(): number {
    return this.#ids.size
  }

  objects(): readonly RemoteObject[] {
    return [...inOrder(this.#preferred), ...inOrder(this.#others)].slice(0, this.#most.limit)
  }

  #cut(group: Map<string, RemoteObject>): void {
    for (const { id } of inOrder(group).slice(this.#most.limit)) group.delete(id)
  }
}

function inOrder(group: ReadonlyMap<string, RemoteObject>): readonly RemoteObject[] {
  return [...group.values()].sort((left, right) => (left.id < right.id ? -1 : 1))
}
