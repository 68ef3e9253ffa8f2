import { Type } from 'typebox'
import { collections } from '../api/collections.ts'
import { commonSpec, commonSpecRules, commonStatus, outputStatus } from '../managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../managed/descriptor/descriptor.ts'
import { sharing } from '../managed/descriptor/grant.ts'
import { choice, integer, object, text } from '../schema/define.ts'
import { defineKind, type SpecOf } from '../schema/definition.ts'
import { fixedField, type Rule } from '../schema/rules.ts'
import { managedColumns, textColumn } from './building-blocks/columns.ts'
import { available, inCollection, managedKind, plain, plainFields } from './building-blocks/plain-kind.ts'
import { given, namesOf, textOf, wholeText } from './building-blocks/remote.ts'
import { configMapPlace, outputProblems, placeOf, templateOf } from './credentials/output-place.ts'
import { answeredKey, curveNamed, type KeyFacts, keyFacts, knownHostsLine, PUBLIC_KEY_LENGTH } from './ssh/key-lines.ts'

/** Key type of an authority that names none, by the contract. */
const KEY_TYPE = 'Ed25519'
/** Problem with a response. */
const KEY_PROBLEM = 'a public_key that is not one line in authorized-keys format'
const another = 'delete this resource and create it again, which creates another authority with another key'

/** Rule of the spec: `field` applies to keys of one type only. */
function onlyFor(field: string, type: string): Rule {
  return {
    rule: `!has(self.${field}) || (has(self.privateKeyType) && self.privateKeyType == '${type}')`,
    message: `${field} goes with privateKeyType: ${type} only: remove ${field}, or choose ${type}`,
    fieldPath: `.${field}`,
  }
}

const definition = defineKind({
  ...managedKind,
  kind: 'SSHCertificateAuthority',
  plural: 'sshcertificateauthorities',
  singular: 'sshcertificateauthority',
  shortNames: ['sshca'],
  scope: 'Namespaced',
  description:
    'An authority that signs SSH certificates. The service creates its key pair and keeps the private key. Hosts and clients that trust the public key, `status.publicKey`, accept the certificates. Its deletion waits while certificates that it signed are valid.',
  spec: object(
    {
      ...commonSpec('bytes'),
      ...sharing,
      privateKeyType: Type.Optional(
        choice(['RSA', 'ECDSA', 'Ed25519'], {
          description: `Type of the private key. Immutable. Default: ${KEY_TYPE}.`,
        }),
      ),
      ellipticCurve: Type.Optional(
        text({
          description:
            'Curve of the key, for privateKeyType ECDSA only: `P-256`, `P-384` or `P-521`, or another name that the service knows; 1 to 63 printable ASCII characters. Immutable. Default: the service chooses.',
          minLength: 1,
          maxLength: 63,
          mustBe: 'the name of a curve, such as P-256',
          pattern: '^[!-~]+$',
        }),
      ),
      keySize: Type.Optional(
        integer({
          description:
            'Size of the key in bits, 2048 or 4096, for privateKeyType RSA only. Immutable. Default: the service chooses.',
          minimum: 2048,
          maximum: 4096,
          rules: [{ rule: 'self == 2048 || self == 4096', message: 'keySize is 2048 or 4096: choose one of them' }],
        }),
      ),
      output: configMapPlace({
        subject: 'public key',
        keys: '`ca.pub` is a file for TrustedUserCAKeys, which makes hosts trust user certificates. `known_hosts` is a line that makes clients trust host certificates, for any host.',
      }),
    },
    {
      description: 'Desired state of the authority.',
      rules: [
        ...commonSpecRules,
        fixedField('privateKeyType', { remedy: another, absent: KEY_TYPE }),
        fixedField('ellipticCurve', { remedy: another }),
        fixedField('keySize', { remedy: another }),
        onlyFor('ellipticCurve', 'ECDSA'),
        onlyFor('keySize', 'RSA'),
      ],
    },
  ),
  status: object(
    {
      ...commonStatus,
      ...outputStatus,
      publicKey: Type.Optional(
        text({
          description: 'Public key of the authority, for hosts and clients to trust, in authorized-keys format.',
          maxLength: PUBLIC_KEY_LENGTH,
        }),
      ),
      keyType: Type.Optional(text({ description: 'Type of the private key, as the API names it.', maxLength: 64 })),
    },
    { description: 'Observed state of the authority.' },
  ),
  printerColumns: managedColumns(textColumn('Key', '.status.keyType', 'Type of the private key.')),
})

export type SSHCertificateAuthoritySpec = SpecOf<typeof definition>

/** Only the type, from the API's own field, in case the key does not reveal it. */
function typeFacts(type: unknown): KeyFacts {
  const [found] = /rsa|ecdsa|ed25519/.exec(textOf(type)?.toLowerCase() ?? '') ?? []
  return found === undefined ? {} : { private_key_type: found }
}

/** SSH certificate authorities (`management-api.md § SSH certificates`). The key is fixed at create. */
export const sshCertificateAuthority: ManagedDescriptor<SSHCertificateAuthoritySpec> = {
  ...plain,
  role: 'managed',
  reach: 'account',
  definition,
  identity: inCollection(collections.sshCertificateAuthorities),
  problems: outputProblems,
  fields: {
    ...plainFields,
    createOnly: ['private_key_type', 'elliptic_curve', 'key_size'],
    setBy: ({ privateKeyType, ellipticCurve, keySize }) =>
      namesOf({ private_key_type: privateKeyType, elliptic_curve: ellipticCurve, key_size: keySize }),
    desire: ({ spec: { privateKeyType = KEY_TYPE, ellipticCurve, keySize } }) => ({
      private_key_type: privateKeyType.toLowerCase(),
      elliptic_curve: ellipticCurve,
      key_size: keySize,
    }),
    observe: ({ public_key, key_type }) => ({ ...typeFacts(key_type), ...keyFacts(public_key) }),
    // The key does not tell by which name its curve was asked for, where that name is not known here.
    comparable: ({ elliptic_curve: curve, ...fields }, remote) => {
      const held = remote && keyFacts(remote.public_key).elliptic_curve
      return { ...fields, elliptic_curve: typeof curve === 'string' ? (curveNamed(curve) ?? held ?? curve) : curve }
    },
    alternatives: ({ elliptic_curve: curve, ...others }) => {
      const bits = typeof curve === 'string' ? curveNamed(curve)?.slice(2) : undefined
      if (bits === undefined) return []
      const names = [`P-${bits}`, `p${bits}`].filter((name) => name !== curve)
      return names.map((name) => ({ ...others, elliptic_curve: name }))
    },
  },
  status: {
    shown: ({ public_key, key_type }) =>
      given({ publicKey: wholeText(public_key, PUBLIC_KEY_LENGTH), keyType: wholeText(key_type, 64) }),
    readiness: ({ spec: { privateKeyType }, remote }) => {
      const type = sshCertificateAuthority.fields.observe(remote).private_key_type
      const isAnother = privateKeyType !== undefined && type !== undefined && type !== privateKeyType.toLowerCase()
      return available(
        isAnother
          ? `the authority has a key of type ${type}, and spec.privateKeyType is ${privateKeyType}, which cannot be changed: delete this resource and create it again with the type that the key has`
          : 'the authority has its key',
      )
    },
  },
  manifest: {
    namedAfter: ({ description }) => [textOf(description)],
    specOf: (remote) => {
      const {
        private_key_type: type,
        elliptic_curve: curve,
        key_size: size,
      } = sshCertificateAuthority.fields.observe(remote)
      const [written] = (['RSA', 'ECDSA', 'Ed25519'] as const).filter((name) => name.toLowerCase() === type)
      return given({
        privateKeyType: written === KEY_TYPE ? undefined : written,
        ellipticCurve: curve,
        keySize: size === 2048 || size === 4096 ? size : undefined,
      })
    },
  },
  output: {
    type: 'derived',
    target: placeOf,
    template: templateOf,
    problem: ({ public_key }) => (answeredKey(public_key) === undefined ? KEY_PROBLEM : undefined),
    data: (_desired, { public_key }): Readonly<Record<string, string>> => {
      const key = answeredKey(public_key)
      return key === undefined ? {} : { 'ca.pub': `${key.trim()}\n`, known_hosts: knownHostsLine([], key) }
    },
  },
}
