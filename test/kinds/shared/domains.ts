import fc from 'fast-check'
import { expect } from 'vitest'
import { idOf } from '../../builders/declared/forms.ts'
import type { Declared } from '../../builders/declared/types.ts'
import type { Body, Edit, MakeSample } from '../kind-test-data.ts'
import { patch, quiet } from './edits.ts'
import { refTo, time } from './objects.ts'
import { same } from './texts.ts'

export const POLICY = 'certificate_management_policy'
export const managedECDSA = {
  type: 'Managed',
  managed: { authority: 'LetsEncrypt', privateKeyType: 'ECDSA' },
}
export const rsaPolicy = { authority: 'letsencrypt', private_key_type: 'rsa' }
export const ecdsaPolicy = { authority: 'letsencrypt', private_key_type: 'ecdsa' }
export const issued = { renews_at: time, provisioning_job: null }

/** Fields of an object whose certificate the service manages. */
export const managedPolicy = (policy: Body): Body => ({
  certificate_management_policy: policy,
  // A certificate stays in use while another is issued.
  certificate_management_status: expect.any(Object),
})
export const unmanagedPolicy = { certificate_management_policy: null, certificate_management_status: null }

/** Edits of a certificate policy; `shown` are further fields that the object keeps. */
export function certificatePolicyEdits(shown: Body): readonly Edit[] {
  const rsa = { ...managedPolicy(rsaPolicy), ...shown }
  return [
    patch(POLICY, { certificate: { type: 'Managed' } }, rsa),
    {
      spec: { certificate: { type: 'Managed', managed: { authority: 'LetsEncrypt', privateKeyType: 'RSA' } } },
      sends: [],
      object: () => rsa,
    },
    patch(
      POLICY,
      { certificate: { type: 'Managed', managed: { privateKeyType: 'ECDSA' } } },
      { ...managedPolicy(ecdsaPolicy), ...shown },
    ),
    patch(POLICY, { certificate: { type: 'Managed' } }, rsa),
    // The certificate stays: the one just seen, or one that the service was still issuing for the last policy.
    patch(POLICY, { certificate: undefined }, { ...unmanagedPolicy, ...shown }),
  ]
}

export const certificatePolicySample: MakeSample = (_world, variant) =>
  same(variant === 'first' ? rsaPolicy : ecdsaPolicy)

export function declaredCertificatePolicy({ certificate }: Body, object: Body): Declared {
  const { type, managed = {} } = (certificate ?? {}) as Body
  const { authority = 'LetsEncrypt', privateKeyType = 'RSA' } = managed as Body
  const wanted =
    type === 'Managed'
      ? { authority: String(authority).toLowerCase(), private_key_type: String(privateKeyType).toLowerCase() }
      : null
  return [POLICY, wanted, object.certificate_management_policy ?? null]
}

/** The records of a domain affect only the cluster. */
export const recordEdits = quiet(
  { dns: { endpoint: true } },
  { dns: { endpoint: true, recordTTL: 300 } },
  { dns: { endpoint: true, recordTTL: 60 } },
  { dns: { endpoint: false } },
  { dns: undefined },
)

/** An id of an endpoint configuration: set, changed, removed. */
export function endpointEdits(field: string, name: string): readonly Edit[] {
  return [
    patch(`${name}_id`, { [field]: { id: 'ec_specs1' } }, { [name]: refTo('ec_specs1') }),
    patch(`${name}_id`, { [field]: { id: 'ec_specs2' } }, { [name]: refTo('ec_specs2') }),
    patch(`${name}_id`, { [field]: undefined }, { [name]: null }),
  ]
}

export const endpointSample: MakeSample = async (world, variant) => {
  const id = await world.admin.seedEndpointConfiguration(variant)
  return { sent: id, returned: { id, uri: expect.stringContaining(id) } }
}

export const endpointPlace = fc.constantFrom('ec_a', 'ec_b')
export const regionPlace = fc.constantFrom('us', 'eu', 'ap')

/** Domains of the service and others; no domain's last label is numeric. */
export const domainPlace = fc
  .tuple(
    fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/),
    fc.constantFrom('tunnel.example', 'example.org', 'a.b.example'),
  )
  .map(([label, parent]) => `${label}.${parent}`)

/** Fields that others may set too: theirs unless the spec sets one. */
export function declaredRef(part: string, ref: unknown, object: Body): readonly Declared[] {
  return ref === undefined ? [] : [[part, idOf(ref), idOf(object[part])]]
}
