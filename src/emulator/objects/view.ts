import type { Json, JsonObject } from '../json.ts'
import type { Resource } from '../resources/resource.ts'
import type { ResourceIndex } from '../resources/resource-index.ts'

/** How objects look to one caller: absolute addresses with the host that caller used (`api-decisions.md § Lists`). */
export class View {
  readonly baseUrl: string
  readonly #resources: ResourceIndex

  constructor(baseUrl: string, resources: ResourceIndex) {
    this.baseUrl = baseUrl
    this.#resources = resources
  }

  /** Address of a collection or an object in it. */
  uri(path: string, id?: string): string {
    return id === undefined ? `${this.baseUrl}/${path}` : `${this.baseUrl}/${path}/${id}`
  }

  /** The `uri` of an object, in the form that its collection gives. */
  uriOf(resource: Resource, id: string): string {
    return resource.uriForm === 'path' ? `/${resource.path}/${id}` : this.uri(resource.path, id)
  }

  /** `{id, uri}` of the object with that id, the collection told from the id's prefix; null for null. */
  ref(id: Json | undefined): JsonObject | null {
    if (typeof id !== 'string') return null
    return { id, uri: this.uriOf(this.#resources.ofId(id), id) }
  }

  refs(ids: Json | undefined): (JsonObject | null)[] {
    return Array.isArray(ids) ? ids.map((id) => this.ref(id)) : []
  }
}
