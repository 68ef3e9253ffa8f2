import type { Choices } from '../choices/choices.ts'
import { TEXT, TIMESTAMP } from '../fields/json-schema.ts'
import type { StoredObject } from '../store/database.ts'
import type { Store } from '../store/emulator-store.ts'
import { isJsonObject, type Json, type JsonObject } from '../values/json.ts'
import type { Resource, ResourceIndex } from './resource.ts'
import { respell } from './spelling.ts'

interface Sources {
  readonly store: Store
  readonly choices: Choices
  readonly answers: AnswerCount
  readonly resources: ResourceIndex
}

/** Numbers the answers, for values that must differ from one answer to the next. */
export class AnswerCount {
  #count = 0

  next(): number {
    this.#count += 1
    return this.#count
  }
}

/**
 * How objects look to one caller: absolute addresses with the host that the caller used (`api-decisions.md § Lists`).
 */
export class View {
  readonly baseUrl: string
  readonly #sources: Sources
  readonly #account: string

  /** @param account the account that owns the objects */
  constructor(baseUrl: string, sources: Sources, account: string) {
    this.baseUrl = baseUrl
    this.#sources = sources
    this.#account = account
  }

  get choices(): Choices {
    return this.#sources.choices
  }

  nextAnswer(): number {
    return this.#sources.answers.next()
  }

  /** Address of a collection or an object in it. */
  uri(path: string, id?: string): string {
    const base = this.choices.uris === 'path' ? '' : this.baseUrl
    return id === undefined ? `${base}/${path}` : `${base}/${path}/${id}`
  }

  /** The `uri` of an object, in the form of its collection. */
  uriOf(resource: Resource, id: string): string {
    return resource.uriForm === 'path' ? `/${resource.path}/${id}` : this.uri(resource.path, id)
  }

  /** `{id, uri}` of the object with that id, whose collection follows from the id's prefix; null for null. */
  ref(id: Json | undefined): JsonObject | null {
    if (typeof id !== 'string') return null
    return { id, uri: this.uriOf(this.#sources.resources.ofId(id), id) }
  }

  refs(ids: Json | undefined): (JsonObject | null)[] {
    return Array.isArray(ids) ? ids.map((id) => this.ref(id)) : []
  }

  /** References to everything that has all of these labels; none if there are no labels. */
  labelled(labels: Json | undefined): (JsonObject | null)[] {
    return this.refs(isJsonObject(labels) ? this.#sources.store.labelled(this.#account, labels) : [])
  }
}

/** The object with its address and times, as the API returns it. */
export function render(resource: Resource, object: StoredObject, view: View): JsonObject {
  const createdAt = resource.createdAs ?? 'created_at'
  const shown = {
    id: object.id,
    uri: view.uriOf(resource, object.id),
    [createdAt]: object.created_at,
    ...resource.render(object, view),
  }
  const schemas = { id: TEXT, uri: TEXT, [createdAt]: TIMESTAMP, ...resource.shows }
  return respell(shown, schemas, view.choices, view.nextAnswer())
}
