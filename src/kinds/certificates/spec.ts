import { Type } from 'typebox'
import type { RemoteObject } from '../../api/types.ts'
import type { Desired } from '../../managed/descriptor/descriptor.ts'
import type { Fields } from '../../managed/descriptor/fields.ts'
import { choice, object, text } from '../../schema/define.ts'
import { unionOf } from '../../schema/rules.ts'
import { namesOf, objectOf, textOf } from '../shared/remote.ts'

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
  {
    description:
      'The certificate of the domain. Default: none is managed. A change of how it is issued leaves the present one in use until the next is there.',
  },
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
    description:
      'The certificate of the domain. Default: what the domain has. Removing it ends the automatic management, with the last certificate left in use, and takes off a certificate that `uploaded` named.',
    rules: [unionOf('type', { Managed: { field: 'managed', optional: true }, Uploaded: 'uploaded' })],
  },
)

const POLICY = 'certificate_management_policy'
const AUTHORITY = `${POLICY}.authority`
const KEY_TYPE = `${POLICY}.private_key_type`

/** A certificate as the spec of either kind has it. */
interface ChosenCertificate {
  readonly type: string
  readonly managed?: ManagedCertificate
}

/** The policy, and what of it a spec sets, as `setBy` names them: an adopted object keeps the rest. */
export function setByCertificate(certificate: ChosenCertificate | undefined): readonly string[] {
  if (certificate === undefined) return []
  const { authority, privateKeyType } = (certificate.type === 'Managed' ? certificate.managed : undefined) ?? {}
  return [POLICY, ...namesOf({ [AUTHORITY]: authority, [KEY_TYPE]: privateKeyType })]
}

/** The policy as it is sent. */
export function sentCertificatePolicy(
  { decides }: Pick<Desired<unknown>, 'decides'>,
  { authority, privateKeyType }: ManagedCertificate = {},
  remote: RemoteObject | undefined,
): Fields {
  const held = remote === undefined ? null : heldCertificatePolicy(remote)
  const left = (field: string, value: unknown): unknown => (decides(field) ? undefined : value)
  return {
    authority: authority?.toLowerCase() ?? left(AUTHORITY, held?.authority) ?? 'letsencrypt',
    private_key_type: privateKeyType?.toLowerCase() ?? left(KEY_TYPE, held?.private_key_type) ?? 'rsa',
  }
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
