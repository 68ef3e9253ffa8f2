import { DESCRIBED } from '../fields/common.ts'
import { fixed, optional } from '../fields/field.ts'
import { caPem } from '../fields/pem.ts'
import type { Resource } from './resource.ts'

/**
 * Uploaded certificate authorities, so far as TLS edges need them: seeded through the admin surface and referred to by
 * `mutual_tls`.
 */
export const certificateAuthorities: Resource = {
  path: 'certificate_authorities',
  listKey: 'certificate_authorities',
  idPrefix: 'ca',
  served: false,
  fields: { ...DESCRIBED, ca_pem: fixed(optional(caPem, null)) },
  render: ({ description = '', metadata = '', ca_pem = null }) => ({ description, metadata, ca_pem }),
}
