import fc from 'fast-check'
import type { ManagedKindTestData } from './kind-test-data.ts'
import { notEmpty, quiet, story } from './shared/edits.ts'
import { bare, described, shownDescribed } from './shared/objects.ts'
import { outputPlaces, outputRefusals, outputSpecs } from './shared/outputs.ts'
import { grantRefusals, managedRefusals, refuse, refuseChange } from './shared/refusals.ts'
import { line, opensshLine, trusted } from './shared/ssh-certificates.ts'
import { pick, textEdits, textRefusals, withTexts } from './shared/texts.ts'

const ed25519 = { public_key: opensshLine('ssh-ed25519'), key_type: 'ed25519' }

export const sshCertificateAuthority: ManagedKindTestData = {
  kind: 'SSHCertificateAuthority',
  accepted: { privateKeyType: 'ECDSA', ellipticCurve: 'P-384' },
  refusals: [
    ...managedRefusals,
    ...textRefusals,
    ...grantRefusals,
    ...outputRefusals('configMap'),
    refuseChange(
      'with another type of key',
      { privateKeyType: 'Ed25519', ellipticCurve: undefined },
      'privateKeyType is immutable: delete',
    ),
    refuseChange('with another curve', { ellipticCurve: 'P-256' }, 'ellipticCurve is immutable: delete'),
    refuseChange('with another number of bits', { keySize: 2048 }, 'keySize is immutable: delete', {
      privateKeyType: 'RSA',
      ellipticCurve: undefined,
    }),
    refuse('with a curve for RSA', { privateKeyType: 'RSA' }, 'ellipticCurve is allowed only with'),
    refuse('with bits for ECDSA', { keySize: 4096 }, 'keySize is allowed only with privateKeyType: RSA'),
    refuse(
      'with a number of bits in between',
      { privateKeyType: 'RSA', ellipticCurve: undefined, keySize: 3072 },
      'keySize must be 2048 or 4096',
    ),
  ],
  specs: {
    minimal: { spec: () => ({}), object: () => ({ ...bare, ...ed25519 }) },
    full: {
      spec: (name) => ({ ...described(name), privateKeyType: 'ECDSA', ellipticCurve: 'P-384' }),
      object: ({ name }) => ({
        ...shownDescribed(name),
        public_key: opensshLine('ecdsa-sha2-nistp384'),
        key_type: 'ecdsa',
      }),
    },
    published: {
      spec: (name) => ({ output: { configMap: { name: `${name}-authority` } } }),
      object: () => ({ ...bare, ...ed25519 }),
    },
    RSA: {
      spec: () => ({ privateKeyType: 'RSA', keySize: 2048 }),
      object: () => ({ ...bare, public_key: opensshLine('ssh-rsa'), key_type: 'rsa' }),
    },
  },
  edits: [story('authority', notEmpty, [...textEdits, ...quiet(...outputSpecs('configMap'), { output: undefined })])],
  collections: {
    ssh_certificate_authorities: withTexts({
      samples: {
        private_key_type: pick('ecdsa', 'rsa'),
        elliptic_curve: pick('P-384', 'P-521'),
        key_size: pick(2048, 4096),
      },
      madeAnew: ['public_key'],
    }),
  },
  // Generating an RSA key takes seconds.
  places: {
    ...outputPlaces('configMap'),
    'spec.privateKeyType': fc.constantFrom('ECDSA', 'ECDSA', 'ECDSA', 'ECDSA', 'Ed25519', 'Ed25519', 'RSA'),
    'spec.ellipticCurve': fc.constantFrom('P-256', 'P-384', 'P-521'),
    'spec.keySize': fc.oneof({ weight: 9, arbitrary: fc.constant(2048) }, { weight: 1, arbitrary: fc.constant(4096) }),
  },
  declares: ({ privateKeyType = 'Ed25519' }, { object }) => [
    ['key_type', String(privateKeyType).toLowerCase(), object.key_type],
  ],
  publishes: (_spec, { public_key }) => ({ 'ca.pub': line(public_key), known_hosts: trusted([], public_key) }),
  referents: [
    ...['team', 'other'].map((name) => ({
      collection: 'ssh_certificate_authorities',
      object: { id: `sshca_${name}` },
      resource: { name, spec: {} },
    })),
    { collection: 'ssh_certificate_authorities', object: { id: 'sshca_third' } },
  ],
}
