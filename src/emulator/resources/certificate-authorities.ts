import { DESCRIBED, SHOWN_TEXTS } from '../fields/conventions.ts'
import { fixed, mandatory, optional, type Reader, reader } from '../fields/field.ts'
import { TEXT, TEXTS, TIMESTAMP } from '../fields/json-schema.ts'
import { authorityFacts, caPem } from '../fields/pem.ts'
import { oneOf, string } from '../fields/readers.ts'
import type { Resource } from '../objects/resource.ts'
import { AuthorityKey, curveNamed, type KeyChoice, makeKey, makeKeyNow, toPem } from '../ssh/authority-key.ts'
import { type JsonObject, textOf, textsOf } from '../values/json.ts'
import { invalid } from '../values/request-error.ts'

/** RSA 2048 or 4096 (`management-api.md § Limits`). */
const keySize: Reader<number> = reader({ type: 'integer', enum: [2048, 4096] }, (value, at) => {
  if (value !== 2048 && value !== 4096) throw invalid(at, 'must be 2048 or 4096')
  return value
})

/** The contract names no curves (`management-api.md § Endpoints`). */
const curve: Reader<string> = reader({ type: 'string', minLength: 1 }, (value, at) => {
  const name = string(value, at)
  if (curveNamed(name) === undefined)
    throw invalid(at, `${JSON.stringify(name)} is not a curve known here: P-256, P-384 or P-521`)
  return name
})

/**
 * SSH certificate authorities. `private_key` is the key in PEM; it is stored with the object, so that it survives
 * restarts, and no response contains it. `api-decisions.md § Values` decides which fields may be sent with which type.
 */
export const sshCertificateAuthorities: Resource = {
  path: 'ssh_certificate_authorities',
  listKey: 'ssh_certificate_authorities',
  idPrefix: 'sshca',
  eventName: 'ssh_certificate_authority',
  served: true,
  fields: {
    ...DESCRIBED,
    private_key_type: fixed(optional(oneOf('rsa', 'ecdsa', 'ed25519'), null)),
    elliptic_curve: fixed(optional(curve, null)),
    key_size: fixed(optional(keySize, null)),
  },
  refuse: ({ elliptic_curve: name }, choices) => {
    if (choices['curve-names'] === 'short' && typeof name === 'string' && !/^(p256|p384|p521)?$/.test(name)) {
      throw invalid('elliptic_curve', 'must be one of p256, p384, p521')
    }
  },
  beforeCreate: async (given) => ({ private_key: toPem(await makeKey(keyChoice(given))) }),
  prepare: ({ given, before, next }) => {
    if (before !== undefined) return
    next.private_key ??= toPem(makeKeyNow(keyChoice(given)))
    const key = new AuthorityKey(textOf(next, 'private_key'))
    next.public_key = key.publicLine
    next.key_type = key.keyType
  },
  shows: { ...SHOWN_TEXTS, public_key: TEXT, key_type: oneOf('rsa', 'ecdsa', 'ed25519').schema },
  render: (authority) => ({
    description: textOf(authority, 'description'),
    metadata: textOf(authority, 'metadata'),
    public_key: textOf(authority, 'public_key'),
    key_type: textOf(authority, 'key_type'),
  }),
}

/** The key that the body asks for, with defaults; a field that does not fit the type is refused. */
function keyChoice({ private_key_type: type, elliptic_curve: name, key_size: bits }: JsonObject): KeyChoice {
  if (name !== null && type !== 'ecdsa') throw invalid('elliptic_curve', 'is for private_key_type ecdsa only')
  if (bits !== null && type !== 'rsa') throw invalid('key_size', 'is for private_key_type rsa only')
  if (type === 'ecdsa') return { type, curve: curveNamed(typeof name === 'string' ? name : '') ?? 'P-256' }
  if (type === 'rsa') return { type, bits: bits === 2048 ? 2048 : 4096 }
  return { type: 'ed25519' }
}

/**
 * Uploaded certificate authorities, to which the `mutual_tls` of TLS edges refers. Everything but the texts is read
 * from the first certificate of the PEM on upload and never changes (`api-decisions.md § Behaviour`).
 */
export const certificateAuthorities: Resource = {
  path: 'certificate_authorities',
  listKey: 'certificate_authorities',
  idPrefix: 'ca',
  eventName: 'certificate_authority',
  updateAnswer: 'unstated',
  served: true,
  fields: { ...DESCRIBED, ca_pem: fixed(mandatory(caPem)) },
  prepare: ({ before, next }) => {
    if (before === undefined) Object.assign(next, authorityFacts(textOf(next, 'ca_pem'), 'ca_pem'))
  },
  shows: {
    ...SHOWN_TEXTS,
    ca_pem: TEXT,
    subject_common_name: TEXT,
    not_before: TIMESTAMP,
    not_after: TIMESTAMP,
    key_usages: TEXTS,
    extended_key_usages: TEXTS,
  },
  render: (authority) => ({
    description: textOf(authority, 'description'),
    metadata: textOf(authority, 'metadata'),
    ca_pem: textOf(authority, 'ca_pem'),
    subject_common_name: textOf(authority, 'subject_common_name'),
    not_before: textOf(authority, 'not_before'),
    not_after: textOf(authority, 'not_after'),
    key_usages: textsOf(authority.key_usages),
    extended_key_usages: textsOf(authority.extended_key_usages),
  }),
}
