import { DESCRIBED, SHOWN_TEXTS } from '../fields/conventions.ts'
import { fixed, mandatory } from '../fields/field.ts'
import { TEXT, TEXTS, TIMESTAMP } from '../fields/json-schema.ts'
import { authorityFacts, caPem } from '../fields/pem.ts'
import type { Resource } from '../objects/resource.ts'
import { textOf, textsOf } from '../values/json.ts'

/**
 * Uploaded certificate authorities, to which the `mutual_tls` of TLS edges refers. Everything but the texts is read
 * from the first certificate of the PEM on upload and never changes (`api-decisions.md § Behaviour`).
 */
export const certificateAuthorities: Resource = {
  path: 'certificate_authorities',
  listKey: 'certificate_authorities',
  idPrefix: 'ca',
  eventName: 'certificate_authority',
  updateAnswer: 'unstated',
  served: true,
  fields: { ...DESCRIBED, ca_pem: fixed(mandatory(caPem)) },
  prepare: ({ before, next }) => {
    if (before === undefined) Object.assign(next, authorityFacts(textOf(next, 'ca_pem'), 'ca_pem'))
  },
  shows: {
    ...SHOWN_TEXTS,
    ca_pem: TEXT,
    subject_common_name: TEXT,
    not_before: TIMESTAMP,
    not_after: TIMESTAMP,
    key_usages: TEXTS,
    extended_key_usages: TEXTS,
  },
  render: (authority) => ({
    description: textOf(authority, 'description'),
    metadata: textOf(authority, 'metadata'),
    ca_pem: textOf(authority, 'ca_pem'),
    subject_common_name: textOf(authority, 'subject_common_name'),
    not_before: textOf(authority, 'not_before'),
    not_after: textOf(authority, 'not_after'),
    key_usages: textsOf(authority.key_usages),
    extended_key_usages: textsOf(authority.extended_key_usages),
  }),
}
