import fc from 'fast-check'
import { sshKeys } from '../builders/contract/ssh-keys.ts'
import { list, sorted } from '../builders/declared/forms.ts'
import type { Body, Edit, ManagedKindTestData } from './kind-test-data.ts'
import { fromConfigMap } from './shared/account.ts'
import { quiet, story } from './shared/edits.ts'
import { bare, described, shownDescribed } from './shared/objects.ts'
import { refuse } from './shared/refusals.ts'
import {
  again,
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
  validity,
} from './shared/ssh-certificates.ts'
import { pick, textEdits } from './shared/texts.ts'

const extensionEdits: readonly Edit[] = [
  again({ criticalOptions: { forceCommand: 'uptime' } }, { critical_options: { 'force-command': 'uptime' } }),
  again(
    { criticalOptions: { forceCommand: 'who', sourceAddresses: ['192.0.2.0/24'] } },
    { critical_options: { 'force-command': 'who', 'source-address': '192.0.2.0/24' } },
  ),
  again(
    { criticalOptions: { sourceAddresses: ['192.0.2.0/24', '2001:db8::/32'] } },
    { critical_options: { 'source-address': '192.0.2.0/24,2001:db8::/32' } },
  ),
  again({ criticalOptions: {} }, { critical_options: {} }),
  ...quiet({ criticalOptions: undefined }),
  again({ extensions: {} }, { extensions: {} }),
  again({ extensions: { 'permit-pty': '' } }, { extensions: { 'permit-pty': '' } }),
  again({ extensions: undefined }, { extensions: { 'permit-pty': '', 'permit-user-rc': '' } }),
]

const refuseAddress = (address: string, message: string) =>
  refuse(`from ${address}`, { criticalOptions: { sourceAddresses: [address] } }, message)

export const sshUserCertificate: ManagedKindTestData = {
  kind: 'SSHUserCertificate',
  accepted: {
    sshCertificateAuthorityRef: { name: 'team' },
    publicKey: sshKeys.ed25519,
    principals: ['alice'],
    validAfter: '2026-01-01T00:00:00Z',
    validFor: '12h',
  },
  refusals: [
    ...certificateRefusals,
    refuse(
      'with a value for an extension that takes none',
      { extensions: { 'permit-pty': 'yes' } },
      'extensions has a value for one of',
    ),
    refuseAddress('192.0.2', 'sourceAddresses must be an address, such as 192.0.2.1, or a range in CIDR notation'),
    refuseAddress('2001:DB8::1', 'sourceAddresses is not in canonical form: write'),
    refuseAddress('192.0.2.1/24', 'sourceAddresses has host bits set: write'),
    refuseAddress('2001:DB8::/32', 'sourceAddresses is not in canonical form: write'),
    refuse(
      'with an extension of a long name',
      { extensions: { ['a'.repeat(256)]: '' } },
      'names in extensions must have at most 255 characters',
    ),
  ],
  specs: {
    minimal: {
      spec: (name) => ({ ...signed.by(name), publicKey: sshKeys.ed25519, principals: ['alice'] }),
      needs: signed.needs,
      object: (around) => ({
        ...bare,
        ...signed.shownBy(around),
        public_key: sshKeys.ed25519,
        key_type: 'ed25519',
        principals: ['alice'],
        critical_options: {},
        extensions: { 'permit-pty': '', 'permit-user-rc': '' },
        ...issuedNow,
        certificate: certificateLine('ssh-ed25519'),
      }),
    },
    full: {
      spec: (name) => ({
        ...described(name),
        ...signed.by(name),
        publicKey: `${sshKeys.ecdsa256}\n`,
        principals: ['deploy', 'alice'],
        anyPrincipal: false,
        criticalOptions: { forceCommand: 'uptime -p', sourceAddresses: ['198.51.100.0/24', '192.0.2.7/32'] },
        extensions: { 'permit-pty': '', 'login@example.com': 'alice' },
        ...validity,
        output: { secret: { name: `${name}-certificate` } },
      }),
      needs: signed.needs,
      object: (around) => ({
        ...shownDescribed(around.name),
        ...signed.shownBy(around),
        public_key: sshKeys.ecdsa256,
        key_type: 'ecdsa',
        principals: ['deploy', 'alice'],
        critical_options: { 'force-command': 'uptime -p', 'source-address': '198.51.100.0/24,192.0.2.7/32' },
        extensions: { 'permit-pty': '', 'login@example.com': 'alice' },
        ...fixedTimes,
        certificate: certificateLine('ecdsa-sha2-nistp256'),
      }),
    },
    'of a key in a ConfigMap, for any user': {
      spec: (name) => ({
        ...signed.by(name),
        publicKeyFrom: fromConfigMap('publicKey'),
        anyPrincipal: true,
        extensions: {},
        validFor: '1h30m',
        output: { configMap: { name: `${name}-certificate` } },
      }),
      needs: signed.needs,
      object: (around) => ({
        ...bare,
        ...signed.shownBy(around),
        public_key: sshKeys.ecdsa521,
        key_type: 'ecdsa',
        principals: [],
        critical_options: {},
        extensions: {},
        ...issuedNow,
        certificate: certificateLine('ecdsa-sha2-nistp521'),
      }),
    },
  },
  edits: [
    story('user', { sshCertificateAuthorityRef: { name: 'team' }, publicKey: sshKeys.ed25519, principals: ['alice'] }, [
      ...textEdits,
      ...certificateEdits,
      ...extensionEdits,
    ]),
  ],
  collections: {
    ssh_user_certificates: certificateCollection({
      critical_options: pick({ 'source-address': '192.0.2.0/24,2001:db8::/32', 'force-command': '/bin/true' }, {}),
      extensions: pick({ 'permit-pty': '', 'group@example.org': 'ops' }, {}),
    }),
  },
  places: {
    ...certificatePlaces,
    'spec.extensions': fc
      .tuple(
        fc.dictionary(fc.constantFrom('permit-pty', 'permit-user-rc', 'permit-X11-forwarding'), fc.constant('')),
        fc.dictionary(fc.stringMatching(/^[a-z]{1,8}@example\.com$/), fc.string(), { maxKeys: 2 }),
      )
      .map(([flags, own]) => ({ ...flags, ...own })),
  },
  declares: (spec, held, resolved) => {
    const { object } = held
    const { forceCommand, sourceAddresses } = (spec.criticalOptions ?? {}) as Body
    const options = {
      ...(forceCommand === undefined ? {} : { 'force-command': forceCommand }),
      ...(sourceAddresses === undefined ? {} : { 'source-address': sorted(list(sourceAddresses)).join() }),
    }
    const { 'source-address': addresses, ...others } = (object.critical_options ?? {}) as Body
    const found = {
      ...others,
      ...(addresses === undefined ? {} : { 'source-address': sorted(String(addresses).split(',')).join() }),
    }
    return [
      ...declaredCertificate(spec, held, resolved, '24h'),
      ['critical_options', options, found],
      ['extensions', spec.extensions ?? { 'permit-pty': '', 'permit-user-rc': '' }, object.extensions ?? {}],
    ]
  },
  publishes: (_spec, { certificate }) => ({ 'id-cert.pub': line(certificate) }),
}
