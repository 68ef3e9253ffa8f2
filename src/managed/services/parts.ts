import type { KubeObject, ObjectKey } from '../../kube/types.ts'
import type { ObjectSource } from '../../runtime/object-source.ts'
import { keyString } from '../../runtime/store.ts'
import { partKinds } from './objects.ts'
import { serviceOwning } from './service.ts'

const SERVICE_OWNER = 'service'

/** The watches of what a Service may own, by kind. */
interface PartWatches {
  readonly managed: ReadonlyMap<string, ObjectSource<KubeObject>>
  readonly composed: ReadonlyMap<string, ObjectSource<KubeObject>>
}

/** Finds what Services own, by an index of each watch. */
export class ServiceParts {
  readonly #sources: readonly ObjectSource<KubeObject>[]

  constructor({ managed, composed }: PartWatches) {
    this.#sources = partKinds.flatMap((kind) => managed.get(kind) ?? composed.get(kind) ?? [])
    for (const source of this.#sources) {
      source.addIndex(SERVICE_OWNER, (part) => {
        const owner = serviceOwning(part)
        return owner === undefined ? [] : [keyString(owner)]
      })
    }
  }

  /** Everything that a Service of that name owns, or owned under another UID. */
  of(service: ObjectKey): readonly KubeObject[] {
    return this.#sources.flatMap(({ store }) => store.byIndex(SERVICE_OWNER, keyString(service)))
  }

  /** Calls `listener` with the Service of every part that changes. */
  subscribe(listener: (service: ObjectKey) => void): void {
    for (const source of this.#sources) {
      source.subscribe(({ object, previous }) => {
        for (const part of [object, previous]) {
          const owner = part === undefined ? undefined : serviceOwning(part)
          if (owner !== undefined) listener(owner)
        }
      })
    }
  }
}
