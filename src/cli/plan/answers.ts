import type { Collection, RemoteObject, RequestBody } from '../../api/types.ts'
import { shownBody } from '../../managed/approval/answer-form.ts'
import { KNOWN_AFTER_APPLY } from '../../managed/approval/field-changes.ts'
import { sshString } from '../../ssh/key-formats.ts'

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

/** The answer to the `number`th create of a plan. */
export function answerToCreate(collection: Collection, body: RequestBody, number: number, now: number): RemoteObject {
  const id = `${UNKNOWN}-${number}`
  return {
    id,
    uri: `https://${id}.invalid/${collection.path}/${id}`,
    created_at: new Date(now).toISOString(),
    ...decided(collection, id, now),
    ...shownBody(body),
  }
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
  return `${type} ${Buffer.concat([sshString(Buffer.from(type)), Buffer.from(id)]).toString('base64')} ${id}`
}

/** The contract's default: from now on, for 90 days (`management-api.md § SSH certificates`). */
function validity(now: number): Fields {
  return { valid_after: new Date(now).toISOString(), valid_until: new Date(now + 90 * 86_400_000).toISOString() }
}
