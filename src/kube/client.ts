import { isServed, notApiServer } from './discovery.ts'
import { Echoes } from './echoes.ts'
import { KubeError } from './kube-error.ts'
import {
  acceptList,
  acceptObject,
  identified,
  normalise,
  SharedTexts,
  toList,
  withPreconditions,
} from './representation.ts'
import { canBeNamed, collectionPath, type KubeRequest, objectPath, withQuery } from './request.ts'
import { type Reviewer, type ReviewStatus, sendReview } from './reviews.ts'
import { type LogOptions, type PodLogs, readFrames, readPodLog } from './streams.ts'
import { callName, Transport, type TransportOptions } from './transport.ts'
import type {
  CreateOptions,
  DeleteOptions,
  KubeClient,
  KubeList,
  KubeObject,
  ListOptions,
  ObjectKey,
  PatchOptions,
  ResourceType,
  WatchFrame,
  WatchOptions,
} from './types.ts'

const FIELD_MANAGER = 'culvert'
const DRY_RUN = { dryRun: 'All', fieldValidation: 'Strict' }

type Defaulted = 'timeoutMs' | 'writeTimeoutMs' | 'maxRetries' | 'maxConcurrent' | 'userAgent'

/**
 * These may be left out: `timeoutMs` (10 000), `writeTimeoutMs` (`timeoutMs`), `maxRetries` (3), `maxConcurrent` (20)
 * and `userAgent` (`culvert`).
 */
export type KubeClientOptions = Omit<TransportOptions, Defaulted> & Partial<Pick<TransportOptions, Defaulted>>

export interface ClosableKubeClient extends KubeClient, Reviewer, PodLogs {
  /** Aborts requests in flight and closes all connections. Calls fail with `Aborted` from then on. */
  close(): Promise<void>
}

/**
 * A client for one API server.
 *
 * ```ts
 * const client = createKubeClient({ connection: loadKubeConnection(), clock: systemClock, random: systemRandom })
 * const edge = await client.get(edgeType, { namespace: 'default', name: 'shop' })
 * ```
 */
export function createKubeClient(options: KubeClientOptions): ClosableKubeClient {
  const { timeoutMs = 10_000 } = options
  const defaults = { timeoutMs, writeTimeoutMs: timeoutMs, maxRetries: 3, maxConcurrent: 20, userAgent: 'culvert' }
  return new HttpKubeClient(new Transport({ ...defaults, ...options }))
}

class HttpKubeClient implements ClosableKubeClient {
  readonly #transport: Transport
  /** By path, for the types that are watched as whole objects. */
  readonly #echoes = new Map<string, Echoes>()
  readonly #texts = new SharedTexts()

  constructor(transport: Transport) {
    this.#transport = transport
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  async get<T extends KubeObject>(type: ResourceType, key: ObjectKey, signal?: AbortSignal): Promise<T | undefined> {
    // No object can have such a name.
    if (key.name !== '' && !canBeNamed(key)) return undefined
    const request: KubeRequest = {
      verb: 'get',
      method: 'GET',
      resource: type.plural,
      path: objectPath(type, key),
      accept: acceptObject(type),
      signal,
    }
    try {
      return normalise<T>(type, await this.#transport.call(request), this.#texts)
    } catch (error) {
      if (isNotFound(error) && (await this.#isAbsent(type, error, request))) return undefined
      throw error
    }
  }

  serves(type: ResourceType): Promise<boolean> {
    return isServed((request) => this.#transport.call(request), type)
  }

  review(type: ResourceType, spec: Readonly<Record<string, unknown>>): Promise<ReviewStatus> {
    return sendReview((request) => this.#transport.call(request), type, spec)
  }

  podLog(pod: ObjectKey, options: LogOptions): AsyncGenerator<string> {
    return readPodLog((request) => this.#transport.open(request), pod, options)
  }

  async list<T extends KubeObject>(type: ResourceType, options: ListOptions = {}): Promise<KubeList<T>> {
    const firstPageOf = options.continue === undefined ? options.resourceVersion : undefined
    const request: KubeRequest = {
      verb: 'list',
      method: 'GET',
      resource: type.plural,
      path: withQuery(collectionPath(type, options.namespace), {
        limit: options.limit,
        continue: options.continue,
        resourceVersion: firstPageOf,
        resourceVersionMatch: firstPageOf === undefined ? undefined : 'NotOlderThan',
        labelSelector: options.labelSelector,
        fieldSelector: options.fieldSelector,
      }),
      accept: acceptList(type),
      signal: options.signal,
    }
    return toList<T>(type, await this.#transport.call(request), callName(request), this.#texts)
  }

  async *watch<T extends KubeObject>(type: ResourceType, options: WatchOptions): AsyncGenerator<WatchFrame<T>> {
    if (options.signal.aborted) return
    // Aborted when the iteration ends too, so that a consumer that stops early leaves no connection open.
    const ended = new AbortController()
    const signal = AbortSignal.any([options.signal, ended.signal])
    const request: KubeRequest = {
      verb: 'watch',
      method: 'GET',
      resource: type.plural,
      path: withQuery(collectionPath(type, options.namespace), {
        watch: 1,
        allowWatchBookmarks: true,
        labelSelector: options.labelSelector,
        fieldSelector: options.fieldSelector,
        resourceVersion: options.resourceVersion,
        timeoutSeconds: options.timeoutSeconds,
      }),
      accept: acceptObject(type),
      signal,
    }
    const echoes = type.metadataOnly ? undefined : this.#echoesOf(type)
    try {
      const body = await this.#transport.open(request)
      options.onOpen?.()
      yield* readFrames<T>(callName(request), body, signal, {
        normalise: (object) => normalise<T>(type, object, this.#texts),
        echoes,
      })
    } catch (error) {
      if (!options.signal.aborted) throw error
    } finally {
      ended.abort()
    }
  }

  async create<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    object: Readonly<Record<string, unknown>>,
    { dryRun = false }: CreateOptions = {},
  ): Promise<T> {
    // Validates the key like an object's path, although the request goes to the collection.
    objectPath(type, key)
    const created = await this.#transport.call({
      verb: 'create',
      method: 'POST',
      resource: type.plural,
      path: withQuery(collectionPath(type, key.namespace), { fieldManager: FIELD_MANAGER, ...(dryRun ? DRY_RUN : {}) }),
      accept: acceptObject(type),
      body: identified(type, key, object),
    })
    return normalise<T>(type, created, this.#texts)
  }

  async mergePatch<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    patch: Readonly<Record<string, unknown>>,
    options: PatchOptions = {},
  ): Promise<T> {
    const request: KubeRequest = {
      verb: 'patch',
      method: 'PATCH',
      resource: type.plural,
      subresource: options.subresource,
      path: withQuery(objectPath(type, key, options.subresource), {
        fieldManager: FIELD_MANAGER,
        ...(options.dryRun ? DRY_RUN : {}),
      }),
      accept: acceptObject(type),
      contentType: 'application/merge-patch+json',
      body: withPreconditions(patch, options),
    }
    const echoes = type.metadataOnly || options.dryRun ? undefined : this.#echoes.get(collectionPath(type, undefined))
    const send = () =>
      this.#transport.call(request, (text, parse) => {
        const read = () => normalise<T>(type, parse(), this.#texts)
        return echoes === undefined ? read() : echoes.answered(text, read)
      })
    return await (echoes === undefined ? send() : echoes.duringWrite(send))
  }

  async apply<T extends KubeObject>(
    type: ResourceType,
    key: ObjectKey,
    object: Readonly<Record<string, unknown>>,
    options: { readonly force?: boolean } = {},
  ): Promise<T> {
    const applied = await this.#transport.call({
      verb: 'apply',
      method: 'PATCH',
      resource: type.plural,
      path: withQuery(objectPath(type, key), { fieldManager: FIELD_MANAGER, force: options.force }),
      accept: acceptObject(type),
      // JSON is YAML; servers before 1.33 do not accept JSON for apply.
      contentType: 'application/apply-patch+yaml',
      body: identified(type, key, object),
    })
    return normalise<T>(type, applied, this.#texts)
  }

  async delete(type: ResourceType, key: ObjectKey, options: DeleteOptions = {}): Promise<boolean> {
    const preconditions = {
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.resourceVersion === undefined ? {} : { resourceVersion: options.resourceVersion }),
    }
    const request: KubeRequest = {
      verb: 'delete',
      method: 'DELETE',
      resource: type.plural,
      path: objectPath(type, key),
      body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', preconditions },
    }
    try {
      await this.#transport.call(request)
      return true
    } catch (error) {
      if (isNotFound(error) && (await this.#isAbsent(type, error, request))) return false
      throw error
    }
  }

  #echoesOf(type: ResourceType): Echoes {
    const path = collectionPath(type, undefined)
    const echoes = this.#echoes.get(path) ?? new Echoes()
    this.#echoes.set(path, echoes)
    return echoes
  }

  /**
   * Whether a 404 means that the object is absent: it carries a Status of the API server, or its type is not installed.
   *
   * @throws KubeError `Unavailable` for a 404 from a proxy, which proves nothing.
   */
  async #isAbsent(type: ResourceType, { reason }: KubeError, request: KubeRequest): Promise<boolean> {
    if (reason === 'NotFound' || !(await this.serves(type))) return true
    throw notApiServer(callName(request))
  }
}

function isNotFound(error: unknown): error is KubeError {
  return error instanceof KubeError && error.code === 'NotFound'
}
