import { respell } from '../choices/spelling.ts'
import { TEXT, TIMESTAMP } from '../fields/json-schema.ts'
import type { JsonObject } from '../json.ts'
import type { Resource } from '../resources/resource.ts'
import type { StoredObject } from '../store/stored-object.ts'
import type { View } from './view.ts'

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
