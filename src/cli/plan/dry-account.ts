import type { ClosableApiClient } from '../../api/client.ts'
import type {
  ApiClient,
  CallOptions,
  Collection,
  CompleteList,
  ListCallOptions,
  RemoteObject,
  RequestBody,
} from '../../api/types.ts'
import { answerToUpdate } from '../../managed/approval/answer-form.ts'
import type { WriteOrigin } from '../../telemetry/write-origin.ts'
import type { Clock } from '../../util/clock.ts'
import { answerToCreate } from './answers.ts'

/** A request that would have been sent, in the order of sending. */
export interface PlannedWrite {
  readonly method: 'create' | 'update' | 'delete'
  readonly collection: Collection
  /** Of a create: the placeholder of the id that the service would give it. */
  readonly id: string
  /** Empty for a deletion. */
  readonly body: RequestBody
  /** The object before the request; undefined for a create. */
  readonly before: RemoteObject | undefined
  /** The object as the request would leave it; undefined for a deletion. */
  readonly after: RemoteObject | undefined
  /** For which resource, and why. */
  readonly origin: WriteOrigin
}

/**
 * An account that is read live, once, and never written to: a write is noted, and from then on shows in every answer as
 * if the service had carried it out to the letter.
 */
export class DryAccount implements ClosableApiClient {
  readonly writes: PlannedWrite[] = []
  readonly #live: Pick<ApiClient, 'list'>
  readonly #clock: Clock
  readonly #read = new Map<string, Promise<Map<string, RemoteObject>>>()
  /** Number of creates so far. */
  #created = 0

  constructor(live: Pick<ApiClient, 'list'>, clock: Clock) {
    this.#live = live
    this.#clock = clock
  }

  /** Every object of a collection, with what was written. */
  async objects(collection: Collection): Promise<Map<string, RemoteObject>> {
    const known = this.#read.get(collection.path) ?? this.#list(collection)
    this.#read.set(collection.path, known)
    return await known
  }

  async get(collection: Collection, id: string): Promise<RemoteObject | undefined> {
    return (await this.objects(collection)).get(id)
  }

  async list(collection: Collection, _options?: ListCallOptions): Promise<CompleteList> {
    const beganAt = this.#clock.monotonic()
    const objects = [...(await this.objects(collection)).values()]
    return { objects, beganAt, pages: 1, leftOut: 0 }
  }

  async create(collection: Collection, body: RequestBody, options?: CallOptions): Promise<RemoteObject> {
    const objects = await this.objects(collection)
    this.#created += 1
    const answer = answerToCreate(collection, body, this.#created, this.#clock.now())
    const kept = { ...answer, ...Object.fromEntries((collection.oneTimeFields ?? []).map((field) => [field, null])) }
    objects.set(answer.id, kept)
    this.#note({ method: 'create', collection, id: answer.id, body, before: undefined, after: kept }, options)
    return answer
  }

  async update(collection: Collection, id: string, body: RequestBody, options?: CallOptions): Promise<RemoteObject> {
    const objects = await this.objects(collection)
    const before = objects.get(id)
    if (before === undefined) throw new Error(`planned an update of ${id}, which does not exist`)
    const after = answerToUpdate(before, body)
    objects.set(id, after)
    this.#note({ method: 'update', collection, id, body, before, after }, options)
    return after
  }

  async delete(collection: Collection, id: string, options?: CallOptions): Promise<'deleted' | 'absent'> {
    const objects = await this.objects(collection)
    const before = objects.get(id)
    if (!objects.delete(id)) return 'absent'
    this.#note({ method: 'delete', collection, id, body: {}, before, after: undefined }, options)
    return 'deleted'
  }

  command(): Promise<void> {
    return Promise.reject(new Error('a plan gives no commands'))
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  async #list(collection: Collection): Promise<Map<string, RemoteObject>> {
    const { objects } = await this.#live.list(collection)
    return new Map(objects.map((object) => [object.id, object]))
  }

  #note(write: Omit<PlannedWrite, 'origin'>, { origin }: CallOptions = {}): void {
    if (origin === undefined) throw new Error(`planned a ${write.method} of ${write.collection.path} for no one`)
    this.writes.push({ ...write, origin })
  }
}
