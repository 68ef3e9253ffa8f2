import { DESCRIBED, SHOWN_TEXTS } from '../fields/conventions.ts'
import { optional } from '../fields/field.ts'
import { FLAG, nullable, TEXT } from '../fields/json-schema.ts'
import { boolean, string } from '../fields/readers.ts'
import type { Resource } from '../objects/resource.ts'

/*
 * Collections to which the API only refers (`management-api.md § Gaps in the endpoint set`): without routes; their
 * objects come from the admin surface or, for TLS certificates, from certificate provisioning.
 */

export const tlsCertificates: Resource = {
  path: 'tls_certificates',
  listKey: 'tls_certificates',
  idPrefix: 'cert',
  eventName: null,
  served: false,
  fields: { ...DESCRIBED, domain: optional(string, null) },
  shows: { ...SHOWN_TEXTS, domain: nullable(TEXT) },
  render: ({ description = '', metadata = '', domain = null }) => ({ description, metadata, domain }),
}

export const endpointConfigurations: Resource = {
  path: 'endpoint_configurations',
  listKey: 'endpoint_configurations',
  idPrefix: 'ec',
  eventName: null,
  served: false,
  fields: { ...DESCRIBED, type: optional(string, null) },
  shows: { ...SHOWN_TEXTS, type: nullable(TEXT) },
  render: ({ description = '', metadata = '', type = null }) => ({ description, metadata, type }),
}

/** Users own credentials; an admin's keys may name other owners. */
export const users: Resource = {
  path: 'users',
  listKey: 'users',
  idPrefix: 'usr',
  eventName: null,
  served: false,
  fields: { name: optional(string, ''), admin: optional(boolean, false) },
  shows: { name: TEXT, admin: FLAG },
  render: ({ name = '', admin = false }) => ({ name, admin }),
}
