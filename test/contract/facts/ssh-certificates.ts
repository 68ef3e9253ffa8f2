import type { CollectionFact, Shape } from './facts.ts'
import {
  collection,
  type FieldRow,
  id,
  identity,
  list,
  map,
  oneOf,
  sentAs,
  shown,
  string,
  texts,
  timestamp,
  value,
} from './rows.ts'

const source = 'management-api.md § SSH certificates'

const keyTypes = oneOf('rsa', 'ecdsa', 'ed25519')
const publicKey: Shape = { kind: 'string', form: 'public-key' }
const fixed = { update: 'fixed' } as const
const mandatory = { create: 'mandatory', update: 'fixed' } as const

/** What user and host certificates have in common; all of it is fixed when the certificate is signed. */
const signed: readonly FieldRow[] = [
  value('public_key', publicKey, mandatory),
  shown('key_type', keyTypes),
  value('ssh_certificate_authority_id', id('ssh_certificate_authorities'), mandatory),
  value('principals', list(string), { ...fixed, absent: [] }),
  // Default: now.
  value('valid_after', timestamp, fixed),
  // Default: 24 hours (user) or one year (host) after creation.
  value('valid_until', timestamp, fixed),
  shown('certificate', string),
]

/** SSH certificate authorities and the certificates they sign. */
export const sshCertificateCollections: readonly CollectionFact[] = [
  collection({
    path: 'ssh_certificate_authorities',
    source,
    listKey: 'ssh_certificate_authorities',
    idPrefix: 'sshca_',
    eventName: 'ssh_certificate_authority',
    fields: [
      ...identity(),
      ...texts(),
      shown('public_key', string),
      shown('key_type', keyTypes),
      // Default ed25519.
      sentAs('private_key_type', keyTypes, 'key_type', fixed),
      // Default P-256.
      {
        name: 'elliptic_curve',
        sent: {
          shape: oneOf('P-256', 'P-384', 'P-521'),
          create: 'optional',
          update: 'fixed',
          whenNull: 'refused',
          goesWith: { field: 'private_key_type', value: 'ecdsa' },
        },
      },
      // Default 4096.
      {
        name: 'key_size',
        sent: {
          shape: { kind: 'integer', bits: 64, values: [2048, 4096] },
          create: 'optional',
          update: 'fixed',
          whenNull: 'refused',
          goesWith: { field: 'private_key_type', value: 'rsa' },
        },
      },
    ],
  }),
  collection({
    path: 'ssh_user_certificates',
    source,
    listKey: 'ssh_user_certificates',
    idPrefix: 'sucrt_',
    eventName: 'ssh_user_certificate',
    fields: [
      ...identity(),
      ...texts(),
      ...signed,
      value(
        'critical_options',
        { kind: 'map', of: string, keys: ['force-command', 'source-address'] },
        { ...fixed, absent: {} },
      ),
      value('extensions', map(string), { ...fixed, absent: { 'permit-pty': '', 'permit-user-rc': '' } }),
    ],
  }),
  collection({
    path: 'ssh_host_certificates',
    source,
    listKey: 'ssh_host_certificates',
    idPrefix: 'shcrt_',
    eventName: 'ssh_host_certificate',
    fields: [...identity(), ...texts(), ...signed],
  }),
]
