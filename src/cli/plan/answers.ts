import type { Collection, RemoteObject, RequestBody } from '../../api/types.ts'
import { KNOWN_AFTER_APPLY } from '../../managed/plan/field-changes.ts'

/**
 * What the service would answer to a write that is only planned: the body to the letter, in the forms of the contract
 * (`management-api.md § Standard operations`), with placeholders for what the service itself decides. Judging such an
 * answer is left to the operator's own code.
 */

type Fields = Readonly<Record<string, unknown>>

/** With this begins, or ends, every value that the service will decide. */
const UNKNOWN = 'known-after-apply'

/** `text` with each value that the service will decide written as such. */
export function withoutPlaceholders(text: string): string {
  return text.replace(PLACEHOLDERS, KNOWN_AFTER_APPLY)
}

const PLACEHOLDERS = new RegExp(`[\\w.@-]*${UNKNOWN}-\\d+[\\w.:-]*`, 'g')

/** Whether a text, or a text in a value, is one that the service will decide. */
export function isPlaceholder(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes(`${UNKNOWN}-`)
}

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

/** The answer to the `number`th create of a plan. */
export function answerToCreate(collection: Collection, body: RequestBody, number: number, now: number): RemoteObject {
  const id = `${UNKNOWN}-${number}`
  return {
    id,
    uri: `https://${id}.invalid/${collection.path}/${id}`,
    created_at: new Date(now).toISOString(),
    ...decided(collection, id, now),
    ...shown(body),
  }
}

/** The object `before` after an update. */
export function answerToUpdate(before: RemoteObject, body: RequestBody): RemoteObject {
  return { ...before, ...shown(body) }
}

/** What the service decides for a new object of the collection. */
function decided({ path, oneTimeFields = [] }: Collection, id: string, now: number): Fields {
  const once = Object.fromEntries(oneTimeFields.map((field) => [field, id]))
  return { ...once, ...DECIDED[path]?.(id, now) }
}

const DECIDED: Readonly<Record<string, (id: string, now: number) => Fields>> = {
  reserved_addrs: (id) => ({ addr: `${id}.invalid:1` }),
  ssh_certificate_authorities: (id) => ({ public_key: sshLine('ssh-ed25519', id) }),
  ssh_user_certificates: (id, now) => ({ certificate: sshLine(CERTIFICATE, id), ...validity(now) }),
  ssh_host_certificates: (id, now) => ({ certificate: sshLine(CERTIFICATE, id), ...validity(now) }),
}

const CERTIFICATE = 'ssh-ed25519-cert-v01@openssh.com'

/** A line in the form of OpenSSH, which says its type twice; the comment names the object. */
function sshLine(type: string, id: string): string {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(type.length)
  return `${type} ${Buffer.concat([length, Buffer.from(type), Buffer.from(id)]).toString('base64')} ${id}`
}

/** The contract's default: from now on, for 90 days (`management-api.md § SSH certificates`). */
function validity(now: number): Fields {
  return { valid_after: new Date(now).toISOString(), valid_until: new Date(now + 90 * 86_400_000).toISOString() }
}

function shown(body: Fields): Fields {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => shownField(name, value)))
}

function shownField(name: string, value: unknown): readonly [string, unknown] {
  const list = LISTS[name]
  if (list !== undefined && Array.isArray(value)) return [list, value.map(ref)]
  if (name.endsWith('_id') && !BARE_IDS.has(name)) return [name.slice(0, -3), value === null ? null : ref(value)]
  if (HIDDEN.has(name)) return [name, null]
  if (MAPS.has(name)) return [name, value]
  if (Array.isArray(value)) return [name, value.map((item) => (isFields(item) ? shown(item) : item))]
  return [name, isFields(value) ? shown(value) : value]
}

function ref(id: unknown): Fields {
  return { id, uri: `https://planned.invalid/${String(id)}` }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
