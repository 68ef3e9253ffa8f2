import type { RemoteObject, RequestBody } from '../../api/types.ts'
import type { KubeObject } from '../../kube/types.ts'
import { equalJSON } from '../../util/json.ts'
import { nameOf } from '../cr.ts'
import { MARK_KEY, type OwnMetadata, objectText, parseObject, sortedEntries } from '../descriptor/metadata.ts'

/**
 * The marker that Culvert writes into the `metadata` of an object that it creates, so that the object can be recognised
 * as its own whatever happens to the answer: `{"culvert": {…}}`, with the user's own keys beside it.
 */
export interface Marker {
  readonly installation: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly nonce: string
}

/** Whether a create with this body can have made the object: the API returns the marker that it was sent. */
export function mayHaveMade(body: RequestBody, object: RemoteObject): boolean {
  const sent = markerOf(body)
  return sent === undefined || equalJSON(markerOf(object), sent)
}

/** Whether the marker names this CR, in any installation and with any UID. */
export function isNamesake(marker: Marker, cr: KubeObject): boolean {
  const { kind, namespace = '', name } = nameOf(cr)
  return marker.kind === kind && marker.namespace === namespace && marker.name === name
}

const FIELDS = ['installation', 'kind', 'namespace', 'name', 'uid', 'nonce'] as const

/**
 * The marker as the `metadata` text of an object, followed by the user's own keys. The order is fixed, so that equal
 * content is equal text.
 */
export function formatMarker(marker: Marker, metadata: OwnMetadata = {}): string {
  const ordered = Object.fromEntries(FIELDS.map((field) => [field, marker[field]]))
  return objectText([[MARK_KEY, ordered], ...sortedEntries(metadata)])
}

/** Nonce in the marker of a placeholder: an object that exists only while another is being replaced. */
export const PLACEHOLDER_NONCE = 'guard'

/** Parses a marker from `metadata` or a name; undefined for any text that is not one. */
export function parseMarker(text: unknown): Marker | undefined {
  // Anywhere in the text: a service may write JSON keys in its own order.
  if (typeof text !== 'string' || !text.includes(`"${MARK_KEY}"`)) return undefined
  const culvert = parseObject(text)?.[MARK_KEY]
  if (typeof culvert !== 'object' || culvert === null) return undefined
  const values = culvert as Record<string, unknown>
  if (!FIELDS.every((field) => typeof values[field] === 'string')) return undefined
  return culvert as Marker
}

/**
 * The marker of a remote object, or of what a create sends. Objects without metadata carry it in their name (bot
 * users), even where the service shows some metadata of its own in them: the contract excludes no further fields.
 *
 * It is parsed each time, in a microsecond: objects are found by keys that are made from it once
 * (`markers/object-keys.ts`), and to keep it would take a sixth of what is kept of a resource.
 */
export function markerOf({ metadata, name }: RemoteObject | RequestBody): Marker | undefined {
  return parseMarker(metadata) ?? parseMarker(name)
}
