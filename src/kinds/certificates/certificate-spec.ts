import { Type } from 'typebox'
import type { RemoteObject } from '../../api/types.ts'
import { type Fields, objectID } from '../../managed/descriptor/common.ts'
import type { Desired } from '../../managed/descriptor/desired.ts'
import { choice, object } from '../../schema/define.ts'
import { unionOf } from '../../schema/rules.ts'
import { namesOf, objectOf, textOf } from '../building-blocks/remote.ts'

/**
 * `certificate.managed` of a spec (`management-api.md § Domains, addresses, ingress`, `certificate_management_policy`).
 */
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
    // Atomic, because server-side apply cannot empty a granular object: it would set it to null.
    { description: 'How the certificate is issued. Default: the defaults of its fields.', atomic: true },
  ),
)

/** The field of a kind whose certificate the service can only manage. */
export const managedCertificate = object(
  { type: choice(['Managed'], { description: MANAGED }), managed },
  {
    description:
      'The certificate of the domain. Default: no certificate is managed. When these settings change, the current certificate stays in use until the new one is issued.',
  },
)

/** The field of a kind that also takes an uploaded certificate. */
export const managedOrUploadedCertificate = object(
  {
    type: choice(['Managed', 'Uploaded'], {
      description: `${MANAGED} Uploaded: \`uploaded\` names a certificate that was uploaded to the service beforehand.`,
    }),
    managed,
    uploaded: Type.Optional(
      object({ id: objectID('Id of the certificate at the API.') }, { description: 'The uploaded certificate.' }),
    ),
  },
  {
    description:
      'The certificate of the domain. Default: whatever the domain has. Removing this field ends automatic management, leaving the last certificate in use, and detaches a certificate that `uploaded` named.',
    rules: [unionOf('type', { Managed: { field: 'managed', optional: true }, Uploaded: 'uploaded' })],
  },
)

const POLICY = 'certificate_management_policy'
const AUTHORITY = `${POLICY}.authority`
const KEY_TYPE = `${POLICY}.private_key_type`

/** A certificate as the specs of both kinds have it. */
interface ChosenCertificate {
  readonly type: string
  readonly managed?: ManagedCertificate
}

/**
 * API names of the policy and of those of its fields that the spec sets, as in `setBy`: an adopted object keeps the
 * rest.
 */
export function setByCertificate(certificate: ChosenCertificate | undefined): readonly string[] {
  if (certificate === undefined) return []
  const { authority, privateKeyType } = (certificate.type === 'Managed' ? certificate.managed : undefined) ?? {}
  return [POLICY, ...namesOf({ [AUTHORITY]: authority, [KEY_TYPE]: privateKeyType })]
}

/** The policy to send. */
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

/**
 * The certificate of a domain as a spec has it; undefined if the object says nothing about it.
 * @param uploaded id of the certificate that somebody chose
 */
export function writtenCertificate(remote: RemoteObject, uploaded?: string): Fields | undefined {
  const policy = heldCertificatePolicy(remote)
  if (policy === null) return uploaded === undefined ? undefined : { type: 'Uploaded', uploaded: { id: uploaded } }
  return { type: 'Managed', ...(policy.private_key_type === 'ecdsa' ? { managed: { privateKeyType: 'ECDSA' } } : {}) }
}

/** The object's policy in the form in which it is sent; null while automatic management is disabled. */
export function heldCertificatePolicy(remote: RemoteObject): Fields | null {
  const policy = objectOf(remote.certificate_management_policy)
  if (policy === undefined) return null
  return {
    authority: (textOf(policy.authority) ?? 'letsencrypt').toLowerCase(),
    private_key_type: (textOf(policy.private_key_type) ?? 'rsa').toLowerCase(),
  }
}
