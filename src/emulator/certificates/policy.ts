import { members } from '../fields/json-schema.ts'
import { object, oneOf } from '../fields/readers.ts'

const AUTHORITY = oneOf('letsencrypt')
const KEY_TYPE = oneOf('rsa', 'ecdsa')

/** ReservedDomainCertPolicy (`management-api.md § Domains, addresses, ingress`). */
export const certificatePolicy = object({
  authority: { read: AUTHORITY, absent: 'letsencrypt' },
  private_key_type: { read: KEY_TYPE, absent: 'rsa' },
})

/** The policy as responses show it. */
export const SHOWN_POLICY = members({ authority: AUTHORITY.schema, private_key_type: KEY_TYPE.schema })
