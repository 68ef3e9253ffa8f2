import { KubeError } from '../../../src/kube/kube-error.ts'
import type { KubeObject, ObjectKey, PatchOptions, ResourceType } from '../../../src/kube/types.ts'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import type { Change, ModelKube } from '../../builders/model-kube.ts'
import { withDefaults } from './defaults.ts'
import type { WireAnswer } from './faults.ts'
import type { SimulatedServer, WireRequest, WireStream } from './network.ts'
import type { VirtualTime } from './virtual-time.ts'

type Fields = Readonly<Record<string, unknown>>

/** A type that the server serves, with the schema for its defaults. */
export interface ServedType {
  readonly type: ResourceType
  readonly schema?: SchemaNode | undefined
}

interface Place extends ServedType {
  readonly key: ObjectKey
  readonly subresource: string | undefined
}

/** API servers send a bookmark about this often. */
const BOOKMARK_MS = 60_000

/** The model of the Kubernetes API over HTTP: paths, queries, accepted types and patches. */
export class KubeServer implements SimulatedServer {
  readonly #kube: ModelKube
  readonly #time: VirtualTime
  readonly #types: ReadonlyMap<string, ServedType>
  /** Objects on a page of a list, for clients that ask for pages; undefined: all on one. */
  pageSize: number | undefined
  /** Watches cannot start before this revision. */
  #oldest = 0
  /** Unfinished lists, by their continue tokens. */
  readonly #begun = new Map<string, Listing>()
  /** Closes the open watches. */
  readonly #open = new Set<() => void>()
  /** The number of restarts. */
  #restarts = 0

  constructor(kube: ModelKube, time: VirtualTime, types: readonly ServedType[]) {
    this.#kube = kube
    this.#time = time
    this.#types = new Map(types.map((served) => [rootOf(served.type), served]))
  }

  /** Discards its history up to now, as etcd does every few minutes. */
  compact(): void {
    this.#oldest = Number(this.#kube.revision)
    this.#begun.clear()
  }

  /** Restarts as a process that knows only what etcd holds now. */
  restart(): void {
    this.compact()
    this.#restarts += 1
    for (const end of [...this.#open]) end()
  }

  /** Creates an object like `kubectl create`, including defaults of its schema. */
  create<T extends KubeObject>(type: ResourceType, key: ObjectKey, fields: Fields): T {
    return this.#kube.create<T>(type, key, withDefaults(this.#types.get(rootOf(type))?.schema, fields) as Fields)
  }

  /** Patches an object like `kubectl patch --type merge`. */
  patch<T extends KubeObject>(type: ResourceType, key: ObjectKey, patch: Fields, options: PatchOptions = {}): T {
    const { schema } = this.#types.get(rootOf(type)) ?? {}
    return this.#kube.mergePatch<T>(type, key, patch, options, (object) => withDefaults(schema, object) as KubeObject)
  }

  /** Gives an object exactly this spec, like `kubectl replace`. */
  replaceSpec(type: ResourceType, key: ObjectKey, spec: Fields): void {
    const { schema } = this.#types.get(rootOf(type)) ?? {}
    // A merge patch would merge the maps of the former spec with the new ones.
    const fresh = JSON.parse(JSON.stringify(spec)) as Fields
    this.#kube.mergePatch(type, key, {}, {}, (object) => withDefaults(schema, { ...object, spec: fresh }) as KubeObject)
  }

  answer(request: WireRequest): WireAnswer | WireStream {
    const url = new URL(request.path, 'http://server')
    const place = this.#placeOf(url.pathname)
    if (place === undefined)
      return this.#discovered(url.pathname) ?? status(404, 'NotFound', `there is no ${url.pathname}`)
    const isPartial = request.headers.accept?.includes('PartialObjectMetadata') ?? false
    const shown = (object: KubeObject): unknown => (isPartial ? { metadata: object.metadata } : object)
    try {
      if (url.searchParams.has('watch')) return this.#watch(place, url.searchParams, shown)
      const isNew = makesAnew(request, this.#kube.get(place.type, place.key))
      return json(this.#call(request, place, url.searchParams, shown), isNew ? 201 : 200)
    } catch (error) {
      if (error instanceof KubeError) return refusal(error)
      throw error
    }
  }

  #call(
    { method, body, headers }: WireRequest,
    place: Place,
    query: URLSearchParams,
    shown: (o: KubeObject) => unknown,
  ) {
    const { type, key, subresource } = place
    const fields = (body === '' ? {} : JSON.parse(body)) as Fields & { readonly metadata?: Fields }
    const dryRun = query.has('dryRun')
    // Nothing is stored; what is sent is taken for valid.
    if (dryRun && !headers['content-type']?.includes('merge-patch'))
      return { ...fields, metadata: { ...fields.metadata } }
    switch (method) {
      case 'GET': {
        if (key.name === '') return this.#list(place, query, shown)
        const object = this.#kube.get(type, key)
        if (object === undefined) throw notFound(type, key)
        return shown(object)
      }
      case 'POST':
        return this.create(type, { ...key, name: String(fields.metadata?.name) }, fields)
      case 'PATCH': {
        if (headers['content-type']?.includes('apply-patch')) return this.#apply(place, fields)
        const { uid, resourceVersion, ...metadata } = (fields.metadata ?? {}) as Partial<Record<string, string>>
        const preconditions = {
          ...(uid === undefined ? {} : { uid }),
          ...(resourceVersion === undefined ? {} : { resourceVersion }),
          ...(subresource === 'status' ? { subresource: 'status' as const } : {}),
          dryRun,
        }
        return this.patch(type, key, fields.metadata === undefined ? fields : { ...fields, metadata }, preconditions)
      }
      case 'DELETE': {
        const { preconditions = {} } = fields as { readonly preconditions?: PatchOptions }
        if (!this.#kube.delete(type, key, preconditions)) throw notFound(type, key)
        return { kind: 'Status', status: 'Success' }
      }
      default:
        throw new KubeError('Invalid', `${method} is not served`, { status: 405 })
    }
  }

  /** As much of apply as the operator uses: sets the given fields, and removes none that another manager set. */
  #apply({ type, key }: Place, fields: Fields): KubeObject {
    return this.#kube.get(type, key) === undefined ? this.create(type, key, fields) : this.patch(type, key, fields)
  }

  #list({ type, key: { namespace } }: Place, query: URLSearchParams, shown: (object: KubeObject) => unknown): unknown {
    const { items, resourceVersion } = this.#begunBy(query) ?? this.#kube.list(type)
    const wanted = items.filter(filterOf(namespace, query))
    const isPaged = query.has('limit') && this.pageSize !== undefined && wanted.length > this.pageSize
    if (!isPaged) return { metadata: { resourceVersion }, items: wanted.map(shown) }
    const next = `${type.plural} ${this.#begun.size}`
    this.#begun.set(next, { items: wanted.slice(this.pageSize), resourceVersion })
    return { metadata: { resourceVersion, continue: next }, items: wanted.slice(0, this.pageSize).map(shown) }
  }

  /** The rest of a list, as of the request for its first page. */
  #begunBy(query: URLSearchParams): Listing | undefined {
    const token = query.get('continue')
    if (token === null) return undefined
    const listing = this.#begun.get(token)
    if (listing === undefined)
      throw new KubeError('Gone', 'the provided continue parameter is too old', { status: 410 })
    return listing
  }

  #watch({ type, key }: Place, query: URLSearchParams, shown: (object: KubeObject) => unknown): WireStream {
    const from = query.get('resourceVersion') ?? '0'
    if (from !== '0' && Number(from) < this.#oldest)
      throw new KubeError('Gone', 'too old resource version', { status: 410 })
    const isWanted = filterOf(key.namespace, query)
    const begunIn = this.#restarts
    return {
      follow: (line, end) => {
        // The process that answered has ended before the answer arrived, and its connections with it.
        if (begunIn !== this.#restarts) return this.#time.setTimer(0, end)
        const tell = (change: Change): void => {
          const { object } = change
          // A watch that starts at a future revision receives nothing before.
          if (from !== '0' && Number(object.metadata.resourceVersion) <= Number(from)) return
          const seen = seenAs(change, isWanted)
          if (seen !== undefined) line(JSON.stringify({ type: seen.toUpperCase(), object: shown(object) }))
        }
        if (from === '0')
          for (const object of this.#kube.list(type).items) tell({ plural: type.plural, type: 'added', object })
        const stop = this.#kube.listen(type, from === '0' ? this.#kube.revision : from, tell)
        let cancel = (): void => undefined
        const bookmark = (): void => {
          const metadata = { resourceVersion: this.#kube.revision }
          line(JSON.stringify({ type: 'BOOKMARK', object: { metadata } }))
          cancel = this.#time.setTimer(BOOKMARK_MS, bookmark)
        }
        cancel = this.#time.setTimer(BOOKMARK_MS, bookmark)
        const cancelEnd = this.#time.setTimer(1000 * Number(query.get('timeoutSeconds') ?? 300), end)
        this.#open.add(end)
        return () => {
          this.#open.delete(end)
          stop()
          cancel()
          cancelEnd()
        }
      },
    }
  }

  /** Discovery: the server's groups, and the types in a group version. */
  #discovered(path: string): WireAnswer | undefined {
    const types = [...this.#types.values()].map(({ type }) => type)
    if (path === '/apis')
      return json({ groups: [...new Set(types.map(({ group }) => group))].map((name) => ({ name })) })
    const resources = types.filter(({ group, version }) => path === `/apis/${group}/${version}`)
    return resources.length === 0 ? undefined : json({ resources: resources.map(({ plural }) => ({ name: plural })) })
  }

  #placeOf(path: string): Place | undefined {
    const match =
      /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+)(?=\/[^/]))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(
        path,
      )
    if (match === null) return undefined
    const [, root = '', namespace, plural = '', name = '', subresource] = match
    const served = this.#types.get(`${root}/${plural}`)
    if (served === undefined) return undefined
    const inNamespace = namespace === undefined ? {} : { namespace: decodeURIComponent(namespace) }
    return { ...served, key: { ...inNamespace, name: decodeURIComponent(name) }, subresource }
  }
}

/** An unfinished list. */
interface Listing {
  readonly items: readonly KubeObject[]
  readonly resourceVersion: string
}

function rootOf({ group, version, plural }: ResourceType): string {
  return group === '' ? `/api/${version}/${plural}` : `/apis/${group}/${version}/${plural}`
}

function filterOf(namespace: string | undefined, query: URLSearchParams): (object: KubeObject) => boolean {
  const [, part, field = '', value] = /^(metadata|spec)\.(\w+)=(.*)$/.exec(query.get('fieldSelector') ?? '') ?? []
  const label = /^([^=]+)=(.*)$/.exec(query.get('labelSelector') ?? '')
  return ({ metadata, spec }) => {
    if (namespace !== undefined && metadata.namespace !== namespace) return false
    if (label !== null && metadata.labels?.[label[1] ?? ''] !== label[2]) return false
    return part === undefined || Reflect.get((part === 'spec' ? spec : metadata) ?? {}, field) === value
  }
}

/** What a watch reports of a change: to one that selects objects, those that come and go are added and deleted. */
function seenAs(
  { type, object, previous }: Change,
  isWanted: (object: KubeObject) => boolean,
): Change['type'] | undefined {
  if (type !== 'modified') return isWanted(object) ? type : undefined
  const was = previous !== undefined && isWanted(previous)
  if (!isWanted(object)) return was ? 'deleted' : undefined
  return was ? 'modified' : 'added'
}

/** Whether the request creates an object: a create, or an apply of a missing one. */
function makesAnew({ method, headers }: WireRequest, former: KubeObject | undefined): boolean {
  if (method === 'POST') return true
  return former === undefined && (headers['content-type']?.includes('apply-patch') ?? false)
}

function json(value: unknown, code = 200): WireAnswer {
  return { status: code, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}

const STATUS_OF: Partial<Record<KubeError['code'], readonly [status: number, reason: string]>> = {
  NotFound: [404, 'NotFound'],
  AlreadyExists: [409, 'AlreadyExists'],
  Conflict: [409, 'Conflict'],
  Gone: [410, 'Expired'],
  Invalid: [422, 'Invalid'],
}

function refusal(error: KubeError): WireAnswer {
  const [code, reason] = STATUS_OF[error.code] ?? [500, 'InternalError']
  return status(code, reason, error.message)
}

/** A refusal as the apiserver answers it. */
export function status(code: number, reason: string, message: string, more: Fields = {}): WireAnswer {
  const body = { apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason, message, ...more }
  return { status: code, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

function notFound({ plural }: ResourceType, { name }: ObjectKey): KubeError {
  return new KubeError('NotFound', `${plural} "${name}" not found`, { status: 404 })
}
