import { Type } from 'typebox'
import type { RemoteObject } from '../api/types.ts'
import type { Fields } from '../managed/types/descriptor.ts'
import { choice, object } from '../schema/define.ts'
import { objectOf, textOf } from './remote.ts'

/** `certificateManagementPolicy` of a spec (`management-api.md § Domains, addresses, ingress`). */
export interface CertificatePolicy {
  readonly authority?: 'LetsEncrypt'
  readonly privateKeyType?: 'RSA' | 'ECDSA'
}

/** The field of a spec; `more` is what the kind has to say about it beside the common words. */
export function certificateManagementPolicy(more: string) {
  return object(
    {
      authority: Type.Optional(choice(['LetsEncrypt'], { description: 'Who issues. Default: LetsEncrypt.' })),
      privateKeyType: Type.Optional(
        choice(['RSA', 'ECDSA'], { description: 'Type of the private key. Default: RSA.' }),
      ),
    },
    // Whole to server-side apply, which cannot empty an object of parts: it would make null of it.
    { description: `Lets the service issue and renew a certificate. ${more}`, atomic: true },
  )
}

/** The policy as it is sent. */
export function sentCertificatePolicy({
  authority = 'LetsEncrypt',
  privateKeyType = 'RSA',
}: CertificatePolicy): Fields {
  return { authority: authority.toLowerCase(), private_key_type: privateKeyType.toLowerCase() }
}

/** The policy that the object has, in the form in which it is sent; null while automatic management is disabled. */
export function heldCertificatePolicy(remote: RemoteObject): Fields | null {
  const policy = objectOf(remote.certificate_management_policy)
  if (policy === undefined) return null
  return {
    authority: (textOf(policy.authority) ?? 'letsencrypt').toLowerCase(),
    private_key_type: (textOf(policy.private_key_type) ?? 'rsa').toLowerCase(),
  }
}
