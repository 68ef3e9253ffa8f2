import type { RemoteObject } from '../../api/types.ts'
import type { Fields } from '../descriptor/common.ts'

/**
 * What the API shows of what it was sent, to the letter (`management-api.md § Standard operations`): ids as Refs, and
 * no secrets.
 */

/** Fields with the id of an object that the API shows as a bare id, not as a Ref. */
const BARE_IDS: ReadonlySet<string> = new Set(['cloud_access_key_id', 'owner_id', 'ssh_certificate_authority_id'])
/** Lists of ids, and the lists of Refs that the API shows for them. */
const LISTS: Readonly<Record<string, string>> = {
  ip_policy_ids: 'ip_policies',
  certificate_authority_ids: 'certificate_authorities',
  destination_ids: 'destinations',
}
/** Free-form maps: the names in them are not those of fields. */
const MAPS: ReadonlySet<string> = new Set(['config', 'labels', 'headers', 'backends'])
/** Fields that are never shown (`management-api.md § Events`). */
const HIDDEN: ReadonlySet<string> = new Set(['api_key', 'cloud_secret_access_key'])

/** The object `before` after an update. */
export function answerToUpdate(before: RemoteObject, body: Fields): RemoteObject {
  return { ...before, ...shownBody(body) }
}

/** The fields of a request as the API shows them afterwards. */
export function shownBody(body: Fields): Fields {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => shownField(name, value)))
}

function shownField(name: string, value: unknown): readonly [string, unknown] {
  const list = LISTS[name]
  if (list !== undefined && Array.isArray(value)) return [list, value.map(ref)]
  if (name.endsWith('_id') && !BARE_IDS.has(name)) return [name.slice(0, -3), value === null ? null : ref(value)]
  if (HIDDEN.has(name)) return [name, null]
  if (MAPS.has(name)) return [name, value]
  if (Array.isArray(value)) return [name, value.map((item) => (isFields(item) ? shownBody(item) : item))]
  return [name, isFields(value) ? shownBody(value) : value]
}

function ref(id: unknown): Fields {
  return { id, uri: `https://planned.invalid/${String(id)}` }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
