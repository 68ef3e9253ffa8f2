import type { JsonObject } from '../json.ts'
import type { Resource } from '../resources/resource.ts'
import type { StoredObject } from '../store/store.ts'
import type { View } from './view.ts'

/** The object with its address and times, as the API returns it. */
export function render(resource: Resource, object: StoredObject, view: View): JsonObject {
  return {
    id: object.id,
    uri: view.uriOf(resource, object.id),
    [resource.createdAs ?? 'created_at']: object.created_at,
    ...resource.render(object, view),
  }
}
