import type { RemoteObject } from '../../../src/api/types.ts'
import type { Fields } from '../../../src/managed/descriptor/common.ts'

/**
 * A simple model of the API: `…_id` and `…_ids` fields are shown as Refs, secrets are hidden, lists that are sets come
 * back in another order, header names in lower case, times in another form, and an update replaces the fields it names.
 */
export function stored(body: Fields, before: RemoteObject = { id: 'x_1' }): RemoteObject {
  return { ...before, ...shown(body) }
}

const HIDDEN: ReadonlySet<string> = new Set(['api_key', 'cloud_secret_access_key'])
const PLAIN_IDS: ReadonlySet<string> = new Set(['cloud_access_key_id', 'owner_id', 'ssh_certificate_authority_id'])
const REORDERED: ReadonlySet<string> = new Set(['hostports', 'sources', 'acl', 'principals'])
const TIMES: ReadonlySet<string> = new Set(['valid_after', 'valid_until'])
const LISTS: Readonly<Record<string, string>> = {
  ip_policy_ids: 'ip_policies',
  certificate_authority_ids: 'certificate_authorities',
  destination_ids: 'destinations',
}

function shown(body: Fields): Fields {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => shownField(name, value)))
}

function shownField(name: string, value: unknown): readonly [string, unknown] {
  const list = LISTS[name]
  if (list !== undefined && Array.isArray(value)) return [list, value.map(ref).reverse()]
  if (name.endsWith('_id') && !PLAIN_IDS.has(name)) return [name.slice(0, -3), value === null ? null : ref(value)]
  if (HIDDEN.has(name)) return [name, null]
  if (TIMES.has(name)) return [name, String(value).replace('Z', '.000+00:00')]
  if (name === 'headers') return [name, lowerCase(value as Fields)]
  if (REORDERED.has(name) && Array.isArray(value)) return [name, [...value].reverse()]
  if (Array.isArray(value)) return [name, value.map((item) => (isObject(item) ? shown(item) : item))]
  return [name, isObject(value) && name !== 'config' && name !== 'labels' ? shown(value) : value]
}

function ref(id: unknown) {
  return { id, uri: `https://api.example.com/things/${String(id)}` }
}

function lowerCase(headers: Fields): Fields {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
