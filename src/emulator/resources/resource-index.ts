import { idPrefix } from '../ids.ts'
import type { Resource } from './resource.ts'

/** Finds collections by path and by id prefix. */
export class ResourceIndex {
  readonly all: readonly Resource[]
  readonly #byPath: ReadonlyMap<string, Resource>
  readonly #byPrefix: ReadonlyMap<string, Resource>

  constructor(resources: readonly Resource[]) {
    this.all = resources
    this.#byPath = new Map(resources.map((resource) => [resource.path, resource]))
    this.#byPrefix = new Map(resources.map((resource) => [resource.idPrefix, resource]))
  }

  byPath(path: string): Resource | undefined {
    return this.#byPath.get(path)
  }

  /** The collection to which one of our ids belongs. */
  ofId(id: string): Resource {
    const resource = this.#byPrefix.get(idPrefix(id))
    if (resource === undefined) throw new Error(`no collection has ids like ${id}`)
    return resource
  }
}
