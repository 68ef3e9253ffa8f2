import { sshKeys } from '../builders/contract/ssh-keys.ts'
import { list } from '../builders/declared/forms.ts'
import type { ManagedKindTestData } from './kind-test-data.ts'
import { fromSecret } from './shared/account.ts'
import { story } from './shared/edits.ts'
import { bare, shownWorded, worded } from './shared/objects.ts'
import { refuse } from './shared/refusals.ts'
import {
  certificateCollection,
  certificateEdits,
  certificateLine,
  certificatePlaces,
  certificateRefusals,
  declaredCertificate,
  fixedTimes,
  issuedNow,
  line,
  signed,
  trusted,
  validity,
} from './shared/ssh-certificates.ts'
import { textEdits } from './shared/texts.ts'

export const sshHostCertificate: ManagedKindTestData = {
  kind: 'SSHHostCertificate',
  accepted: {
    sshCertificateAuthorityRef: { name: 'team' },
    publicKey: sshKeys.ed25519,
    principals: ['a.example.com', '2001:db8::1'],
    output: { configMap: { name: 'certificate' } },
  },
  refusals: [
    ...certificateRefusals,
    refuse('with a pattern', { principals: ['*.example.com'] }, 'list each name in lower case'),
    refuse('with upper case', { principals: ['A.example.com'] }, 'principals has a pattern or an upper-case letter'),
  ],
  specs: {
    minimal: {
      spec: (name) => ({ ...signed.by(name), publicKey: sshKeys.ed25519, principals: ['a.example.com'] }),
      needs: signed.needs,
      object: (around) => ({
        ...bare,
        ...signed.shownBy(around),
        public_key: sshKeys.ed25519,
        key_type: 'ed25519',
        principals: ['a.example.com'],
        ...issuedNow,
        certificate: certificateLine('ssh-ed25519'),
      }),
    },
    full: {
      spec: (name) => ({
        ...worded(name),
        ...signed.by(name),
        publicKey: sshKeys.ecdsa521,
        principals: ['b.example.com', 'a.example.com', '2001:db8::1'],
        anyPrincipal: false,
        ...validity,
        output: { secret: { name: `${name}-certificate` } },
      }),
      needs: signed.needs,
      object: (around) => ({
        ...shownWorded(around.name),
        ...signed.shownBy(around),
        public_key: sshKeys.ecdsa521,
        key_type: 'ecdsa',
        principals: ['b.example.com', 'a.example.com', '2001:db8::1'],
        ...fixedTimes,
        certificate: certificateLine('ecdsa-sha2-nistp521'),
      }),
    },
    'for any host, into a ConfigMap': {
      spec: (name) => ({
        ...signed.by(name),
        publicKeyFrom: fromSecret('publicKey'),
        anyPrincipal: true,
        validFor: '720h',
        output: { configMap: { name: `${name}-certificate` } },
      }),
      needs: signed.needs,
      object: (around) => ({
        ...bare,
        ...signed.shownBy(around),
        public_key: sshKeys.rsa,
        key_type: 'rsa',
        principals: [],
        ...issuedNow,
        certificate: certificateLine('ssh-rsa'),
      }),
    },
  },
  edits: [
    story('host', { sshCertificateAuthorityRef: { name: 'team' }, publicKey: sshKeys.ed25519, principals: ['alice'] }, [
      ...textEdits,
      ...certificateEdits,
    ]),
  ],
  collections: { ssh_host_certificates: certificateCollection() },
  places: certificatePlaces,
  declares: (spec, held, resolved) => declaredCertificate(spec, held, resolved, '8760h'),
  publishes: ({ principals }, { certificate, ssh_certificate_authority_id: by }, objectAt) => {
    // The authority that signed it according to the API, whether the spec sets it by name or by id.
    const authority = objectAt(`ssh_certificate_authorities/${by}`)
    const file = { 'ssh_host_key-cert.pub': line(certificate) }
    if (authority === undefined) return file
    return { ...file, known_hosts: trusted(list(principals) as readonly string[], authority.public_key) }
  },
}
