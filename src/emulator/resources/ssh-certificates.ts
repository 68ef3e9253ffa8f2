import { DESCRIBED, id, SHOWN_TEXTS } from '../fields/conventions.ts'
import { type Fields, fixed, mandatory, optional } from '../fields/field.ts'
import { TEXT, TEXT_MAP, TEXTS, TIMESTAMP } from '../fields/json-schema.ts'
import { oneOf, timestamp } from '../fields/readers.ts'
import type { Resource } from '../objects/resource.ts'
import type { WriteContext } from '../objects/write-context.ts'
import { AuthorityKey } from '../ssh/authority-key.ts'
import {
  type CertificateContent,
  criticalOptions,
  extensions,
  principals,
  signCertificate,
} from '../ssh/certificate.ts'
import { parsePublicKey, publicKeyLine } from '../ssh/public-key.ts'
import type { StoredObject } from '../store/database.ts'
import { isJsonObject, type Json, type JsonObject, rfc3339, textOf, textsOf } from '../values/json.ts'
import { invalid } from '../values/request-error.ts'

const DAY_SECONDS = 24 * 3600

/** Everything but the texts is fixed when the certificate is signed (`management-api.md § SSH certificates`). */
const SIGNED: Fields = {
  ...DESCRIBED,
  ssh_certificate_authority_id: fixed(mandatory(id)),
  public_key: fixed(mandatory(publicKeyLine)),
  principals: fixed(optional(principals, [])),
  valid_after: fixed(optional(timestamp, null)),
  valid_until: fixed(optional(timestamp, null)),
}

/** Certificates for users; valid for 24 hours by default. */
export const sshUserCertificates = sshCertificates({
  path: 'ssh_user_certificates',
  idPrefix: 'sucrt',
  eventName: 'ssh_user_certificate',
  updateAnswer: 'unstated',
  use: 'user',
  validSeconds: DAY_SECONDS,
  options: {
    critical_options: fixed(optional(criticalOptions, {})),
    extensions: fixed(optional(extensions, { 'permit-pty': '', 'permit-user-rc': '' })),
  },
})

/** Certificates for hosts; valid for a year by default. */
export const sshHostCertificates = sshCertificates({
  path: 'ssh_host_certificates',
  idPrefix: 'shcrt',
  eventName: 'ssh_host_certificate',
  use: 'host',
  validSeconds: 365 * DAY_SECONDS,
  options: {},
})

interface Kind extends Pick<Resource, 'path' | 'idPrefix' | 'eventName' | 'updateAnswer'> {
  readonly use: CertificateContent['use']
  /** Time from creation to the default of `valid_until`. */
  readonly validSeconds: number
  /** The fields of critical options and extensions, if the kind has them. */
  readonly options: Fields
}

/** A certificate has no links: it stays valid when its authority is deleted. */
function sshCertificates({
  path,
  idPrefix,
  eventName,
  updateAnswer = 'stated',
  use,
  validSeconds,
  options,
}: Kind): Resource {
  return {
    path,
    listKey: path,
    idPrefix,
    eventName,
    updateAnswer,
    served: true,
    fields: { ...SIGNED, ...options },
    prepare: ({ before, next }, context) => {
      if (before !== undefined) return
      const authorityId = textOf(next, 'ssh_certificate_authority_id')
      const authority = context.resolve(['ssh_certificate_authorities'], authorityId, 'ssh_certificate_authority_id')
      settleValidity(next, validSeconds, context)
      next.key_type = parsePublicKey(textOf(next, 'public_key')).keyType
      const key = new AuthorityKey(textOf(authority, 'private_key'))
      next.certificate = signCertificate(contentOf(next, use, context), key)
    },
    shows: {
      ...SHOWN_TEXTS,
      public_key: TEXT,
      key_type: oneOf('rsa', 'ecdsa', 'ed25519').schema,
      ssh_certificate_authority_id: TEXT,
      principals: TEXTS,
      ...Object.fromEntries(Object.keys(options).map((name) => [name, TEXT_MAP])),
      valid_after: TIMESTAMP,
      valid_until: TIMESTAMP,
      certificate: TEXT,
    },
    render: (certificate) => ({
      description: textOf(certificate, 'description'),
      metadata: textOf(certificate, 'metadata'),
      public_key: textOf(certificate, 'public_key'),
      key_type: textOf(certificate, 'key_type'),
      ssh_certificate_authority_id: textOf(certificate, 'ssh_certificate_authority_id'),
      principals: textsOf(certificate.principals),
      ...Object.fromEntries(Object.keys(options).map((name) => [name, certificate[name] ?? {}])),
      valid_after: textOf(certificate, 'valid_after'),
      valid_until: textOf(certificate, 'valid_until'),
      certificate: textOf(certificate, 'certificate'),
    }),
  }
}

/** Defaults for both times, which count from the creation by the emulated clock. */
function settleValidity(certificate: StoredObject, validSeconds: number, context: WriteContext): void {
  const now = context.now()
  certificate.valid_after ??= rfc3339(now)
  certificate.valid_until ??= rfc3339(now + validSeconds * 1000)
  if (secondsOf(certificate, 'valid_until') <= secondsOf(certificate, 'valid_after')) {
    throw invalid('valid_until', `must come after valid_after, ${textOf(certificate, 'valid_after')}`)
  }
}

function contentOf(
  certificate: StoredObject,
  use: CertificateContent['use'],
  context: WriteContext,
): CertificateContent {
  const { random } = context.services
  return {
    use,
    subject: parsePublicKey(textOf(certificate, 'public_key')),
    nonce: Buffer.from(random.hex(32), 'hex'),
    serial: BigInt(`0x${random.hex(8)}`),
    keyId: certificate.id,
    principals: textsOf(certificate.principals),
    validAfter: secondsOf(certificate, 'valid_after'),
    validBefore: secondsOf(certificate, 'valid_until'),
    criticalOptions: textMap(certificate.critical_options),
    extensions: textMap(certificate.extensions),
  }
}

function secondsOf(object: JsonObject, name: string): number {
  return Date.parse(textOf(object, name)) / 1000
}

/** The texts of a stored map; a kind without such a field has none. */
function textMap(value: Json | undefined): Record<string, string> {
  const entries = isJsonObject(value) ? Object.entries(value) : []
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}
