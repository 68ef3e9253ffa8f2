import { object, oneOf } from '../fields/readers.ts'

/** ReservedDomainCertPolicy (`management-api.md § Domains, addresses, ingress`). */
export const certificatePolicy = object({
  authority: { read: oneOf('letsencrypt'), absent: 'letsencrypt' },
  private_key_type: { read: oneOf('rsa', 'ecdsa'), absent: 'rsa' },
})
