import type { DnsRecord } from '../certificates/dns-table.ts'
import {
  failAttempt,
  finishJob,
  fromJson,
  nextChange,
  renderStatus,
  startJob,
  toJson,
} from '../certificates/provisioning.ts'
import { members } from '../fields/json-schema.ts'
import { object, oneOf } from '../fields/readers.ts'
import type { WriteContext } from '../objects/write-context.ts'
import type { StoredObject } from '../store/database.ts'
import { isJsonObject, type JsonObject, rfc3339, textOf } from '../values/json.ts'

/*
 * Automatic certificate management for objects with a `domain` and a `certificate_management_policy`: reserved domains
 * and agent ingresses. The object stores `certificate_state`, the progress; `certificate_id`, the certificate in use;
 * and `certificate_automatic`, whether the service issued it (`api-decisions.md § Certificate provisioning in the
 * emulator`).
 */

/** Whether a write of `given` sets a policy other than the current one; the same policy again starts nothing. */
export function changesPolicy(given: JsonObject, before: StoredObject | undefined): boolean {
  const policy = given.certificate_management_policy
  return isJsonObject(policy) && JSON.stringify(before?.certificate_management_policy) !== JSON.stringify(policy)
}

/** `certificate_state` of an object whose certificate management starts now. */
export function startManaging(context: WriteContext): JsonObject {
  return toJson(startJob(context.now(), context.services.certificates.seconds))
}

/** Whether a policy is in force. */
export function isManaged(object: StoredObject): boolean {
  return isJsonObject(object.certificate_management_policy)
}

/** `certificate_management_status` as the API returns it: null when automatic management is disabled. */
export function managementStatus(object: StoredObject): JsonObject | null {
  const state = fromJson(object.certificate_state)
  return !isManaged(object) || state === undefined ? null : renderStatus(state)
}

/** When an attempt is decided or a renewal begins, in emulated milliseconds. */
export function managementDueAt(object: StoredObject): number | undefined {
  const state = fromJson(object.certificate_state)
  return state === undefined ? undefined : nextChange(state)
}

/** `onDue` of a resource whose certificates need the records that `needed` returns. */
export function manageCertificate(
  needed: (object: StoredObject) => readonly DnsRecord[],
): (object: StoredObject, at: number, context: WriteContext) => StoredObject {
  return (object, at, context) => {
    const { certificates } = context.services
    const state = fromJson(object.certificate_state)
    if (state === undefined) return object
    if (state.job === null) {
      return { ...object, certificate_state: toJson(startJob(at, certificates.seconds, state.renewsAt)) }
    }
    const failure = certificates.attempt(textOf(object, 'domain'), needed(object))
    if (failure !== undefined) return { ...object, certificate_state: toJson(failAttempt(state, failure, at)) }
    return {
      ...object,
      certificate_id: issueCertificate(object, at, context),
      certificate_automatic: true,
      certificate_state: toJson(finishJob(at)),
    }
  }
}

function issueCertificate(object: StoredObject, at: number, context: WriteContext): string {
  const certificate = context.services.ids.next('cert')
  context.store.put(context.account, 'tls_certificates', {
    id: certificate,
    created_at: rfc3339(at),
    description: 'issued automatically',
    metadata: '',
    domain: textOf(object, 'domain'),
  })
  return certificate
}

const AUTHORITY = oneOf('letsencrypt')
const KEY_TYPE = oneOf('rsa', 'ecdsa')

/** ReservedDomainCertPolicy (`management-api.md § Domains, addresses, ingress`). */
export const certificatePolicy = object({
  authority: { read: AUTHORITY, absent: 'letsencrypt' },
  private_key_type: { read: KEY_TYPE, absent: 'rsa' },
})

/** The policy as responses show it. */
export const SHOWN_POLICY = members({ authority: AUTHORITY.schema, private_key_type: KEY_TYPE.schema })
