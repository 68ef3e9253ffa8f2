import { Type } from 'typebox'
import type { RemoteObject } from '../api/types.ts'
import type { Fields } from '../managed/types/descriptor.ts'
import { choice, object, text } from '../schema/define.ts'
import { unionOf } from '../schema/rules.ts'
import { objectOf, textOf } from './remote.ts'

/** `certificate.managed` of a spec (`management-api.md § Domains, addresses, ingress`, `certificate_management_policy`). */
export interface ManagedCertificate {
  readonly authority?: 'LetsEncrypt'
  readonly privateKeyType?: 'RSA' | 'ECDSA'
}

const MANAGED = 'Managed: the service issues a certificate and renews it; `managed` says how.'

const managed = Type.Optional(
  object(
    {
      authority: Type.Optional(
        choice(['LetsEncrypt'], { description: 'Authority that issues the certificate. Default: LetsEncrypt.' }),
      ),
      privateKeyType: Type.Optional(
        choice(['RSA', 'ECDSA'], { description: 'Type of the private key. Default: RSA.' }),
      ),
    },
    // Whole to server-side apply, which cannot empty an object of parts: it would make null of it.
    { description: 'How the certificate is issued. Default: the defaults of its fields.', atomic: true },
  ),
)

/** The field of a kind whose certificate the service can manage, and that takes no other. */
export const managedCertificate = object(
  { type: choice(['Managed'], { description: MANAGED }), managed },
  { description: 'The certificate of the domain. Default: none is managed.' },
)

/** The field of a kind that takes an uploaded certificate, too. */
export const managedOrUploadedCertificate = object(
  {
    type: choice(['Managed', 'Uploaded'], {
      description: `${MANAGED} Uploaded: \`uploaded\` names a certificate that was uploaded to the service before.`,
    }),
    managed,
    uploaded: Type.Optional(
      object(
        { id: text({ description: 'Id of the certificate at the API.', minLength: 1, maxLength: 255 }) },
        { description: 'The uploaded certificate.' },
      ),
    ),
  },
  {
    description: 'The certificate of the domain. Default: none; removing it takes the certificate off the domain.',
    rules: [unionOf('type', { Managed: { field: 'managed', optional: true }, Uploaded: 'uploaded' })],
  },
)

/** The policy as it is sent. */
export function sentCertificatePolicy({
  authority = 'LetsEncrypt',
  privateKeyType = 'RSA',
}: ManagedCertificate = {}): Fields {
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
