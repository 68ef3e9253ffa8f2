import fc, { type Arbitrary } from 'fast-check'
import type { SeedSpec } from '../../../src/emulator/admin/seed.ts'
import { caPem, partnerCaPem } from '../../builders/contract/ca-pem.ts'
import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import type { Ref } from '../../builders/declared/types.ts'

/** Values of the Secret that specs and edits refer to. */
export const SECRET = {
  name: 'spec-inputs',
  values: {
    apiKey: 'key-1',
    accessKeyID: 'id-1',
    secretAccessKey: 's-1',
    caPEM: caPem,
    otherCAPEM: partnerCaPem,
    publicKey: `${sshKeys.rsa}\n`,
    otherPublicKey: sshKeys.ed25519,
  },
}

/** Values of the ConfigMap that specs and edits refer to. */
export const CONFIG_MAP = {
  name: 'spec-inputs',
  values: {
    caPEM: partnerCaPem,
    otherCAPEM: caPem,
    publicKey: sshKeys.ecdsa521,
    otherPublicKey: sshKeys.ecdsa256,
  },
}

/** Objects that specs and edits refer to by id. */
export const SEED: SeedSpec = {
  objects: {
    certificate_authorities: [
      { id: 'ca_specs1', ca_pem: caPem },
      { id: 'ca_specs2', ca_pem: caPem },
    ],
    'backends/tunnel_group': [{ id: 'bkdtg_specs1' }, { id: 'bkdtg_specs2' }],
    tls_certificates: [{ id: 'cert_specs' }],
    endpoint_configurations: [{ id: 'ec_specs1' }, { id: 'ec_specs2' }],
  },
}

/** The same with what edits alone refer to. */
export const EDIT_SEED: SeedSpec = {
  objects: {
    ...SEED.objects,
    tls_certificates: [{ id: 'cert_specs' }, { id: 'cert_edits' }],
    reserved_domains: [{ id: 'rd_edits', domain: '*.edit-wild.tunnel.example' }],
  },
}

export const secretKeyRef = (key: keyof typeof SECRET.values) => ({ name: SECRET.name, key })
export const fromSecret = (key: keyof typeof SECRET.values) => ({ secretKeyRef: secretKeyRef(key) })
export const fromConfigMap = (key: keyof typeof CONFIG_MAP.values) => ({
  configMapKeyRef: { name: CONFIG_MAP.name, key },
})

/** Objects that generated specs refer to by id, and that no kind makes. */
export const OF_NO_KIND = {
  tls_certificates: [{ id: 'cert_a' }, { id: 'cert_b' }],
  endpoint_configurations: [{ id: 'ec_a' }, { id: 'ec_b' }],
}

/** Texts of the Secrets and ConfigMaps that generated specs refer to, by key; all have the same content. */
export const INPUTS: Readonly<Record<string, string>> = {
  'ca.crt': caPem,
  'partner.crt': `# partner\n${partnerCaPem.replaceAll('\n', '\r\n')}`,
  'id.pub': `${sshKeys.ed25519}\n`,
  'other.pub': sshKeys.ecdsa256,
  one: 'first secret',
  two: 'second secret',
}

/** References by name to some, by id to others. */
export function ref(names: readonly string[], ids: readonly string[]): Arbitrary<Ref> {
  return fc.constantFrom(...names.map((name) => ({ name })), ...ids.map((id) => ({ id })))
}

/** A key of any Secret or ConfigMap. */
export function keyOf(...keys: readonly (keyof typeof INPUTS & string)[]): Arbitrary<unknown> {
  return fc.tuple(fc.constantFrom('inputs', 'others'), fc.constantFrom(...keys)).map(([name, key]) => ({ name, key }))
}
