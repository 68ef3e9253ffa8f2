import type { RuleFact } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const contract = 'management-api.md § SSH certificates'
const behaviour = 'api-decisions.md § Behaviour'
const values = 'api-decisions.md § Values'
const settled = 'api-decisions.md § Further points that building the emulator settled'

/** SSH certificate authorities, and the certificates they sign. */
export const sshCertificateRules: readonly RuleFact[] = [
  {
    id: 'ssh-ca.delete',
    statement: 'an SSH certificate authority may be deleted and its certificates stay',
    source: behaviour,
    due: 'now',
    operator: heldBy('cluster/in-use.test.ts > SSHCertificateAuthority/team, which …'),
  },
  {
    id: 'ssh-ca.defaults',
    statement: 'an SSH certificate authority is ed25519, ECDSA P-256 and RSA 4096 unless told otherwise',
    source: values,
    due: 'now',
    operator: heldBy(
      'unit/kinds/ssh-certificate-authority.test.ts > the key is described in the words of the API, and what the spec leaves open is left to the service',
    ),
  },
  {
    id: 'ssh-ca.fields-fit',
    statement: 'a curve goes with ecdsa alone and a key size with rsa alone',
    source: settled,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > SSHCertificateAuthority with a curve for RSA',
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > SSHCertificateAuthority with bits for ECDSA',
    ),
    refusal: { status: 400, names: ['elliptic_curve', 'key_size'] },
  },
  {
    id: 'ssh-ca.public-key',
    statement: 'the public key of an SSH certificate authority is in authorized-keys format without a comment',
    source: contract,
    due: 'now',
    operator: heldBy(
      'unit/kinds/ssh-certificates.test.ts > outputs > of an authority are its public key for hosts and for clients',
    ),
  },
  {
    id: 'ssh-ca.private-key',
    statement: 'the private key of an SSH certificate authority is in no response, event or journal',
    source: settled,
    due: 'now',
    operator: serverOnly('the private key never leaves the service'),
  },
  {
    id: 'ssh-certificates.signed',
    statement: 'a certificate is one that OpenSSH reads, signed by its authority, and says what was asked for',
    source: contract,
    due: 'now',
    operator: heldBy(
      'unit/kinds/ssh-certificates.test.ts > outputs > of a user certificate are the file that ssh looks for beside the key',
    ),
  },
  {
    id: 'ssh-certificates.key-type',
    statement: 'the key type of a certificate is that of the certified key',
    source: contract,
    due: 'now',
    operator: heldBy(
      'unit/kinds/ssh-certificates.test.ts > a certificate > is in the status with its key type and its times',
    ),
  },
  {
    id: 'ssh-certificates.public-key',
    statement: 'a public key that is none, or of another type, is refused',
    source: contract,
    due: 'now',
    operator: heldBy(
      'unit/kinds/ssh-certificates.test.ts > a private key put in the place of a public one > is refused without being shown, wherever it stands',
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > SSHUserCertificate with no public key as public key',
    ),
    refusal: { status: 400, names: ['public_key'] },
  },
  {
    id: 'ssh-certificates.validity',
    statement: 'valid_until must come after valid_after, and is 24 hours or a year on when unspecified',
    source: values,
    due: 'now',
    operator: heldBy(
      'unit/kinds/ssh-certificates.test.ts > how long a certificate is valid > is what the contract says unless the spec says otherwise, in whole seconds from its issue',
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > SSHUserCertificate that ends as it begins',
    ),
    refusal: { status: 400, names: ['valid_until'] },
  },
  {
    id: 'ssh-certificates.times',
    statement: 'a time is RFC 3339 in any zone and is returned in UTC with whole seconds',
    source: values,
    due: 'now',
    operator: heldBy(
      'unit/kinds/ssh-certificates.test.ts > how long a certificate is valid > is what the contract says unless the spec says otherwise, in whole seconds from its issue',
    ),
    refusal: { status: 400, names: ['valid_after'] },
  },
  {
    id: 'ssh-certificates.principals',
    statement: 'a certificate holds up to 256 principals, none of them empty',
    source: settled,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > SSHUserCertificate with empty principals',
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > SSHHostCertificate with empty principals',
    ),
    refusal: { status: 400, names: ['principals'] },
  },
  {
    id: 'ssh-certificates.critical-options',
    statement: 'critical options other than force-command and source-address are refused',
    source: values,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/bounds.test.ts > every bound in the spec of SSHUserCertificate is kept by the apiserver, which names the field',
    ),
    refusal: { status: 400, names: ['critical_options'] },
  },
  {
    id: 'ssh-certificates.source-address',
    statement: 'source-address is a list of addresses and ranges with commas between them',
    source: settled,
    due: 'now',
    operator: heldBy(
      'unit/kinds/ssh-certificates.test.ts > a new certificate is issued > not because the API writes addresses without their length',
    ),
    refusal: { status: 400, names: ['critical_options'] },
  },
  {
    id: 'ssh-certificates.extensions',
    statement:
      'extensions are permit-pty and permit-user-rc when unspecified, none when empty, and take no value they do not have',
    source: contract,
    due: 'now',
    operator: heldBy(
      'unit/kinds/reach.test.ts > whatever a spec of SSHUserCertificate says stands in a request',
      'unit/kinds/fixed-point.test.ts > after one write nothing is left to do, whatever the spec was before, for SSHUserCertificate in ssh_user_certificates',
    ),
    refusal: { status: 400, names: ['extensions'] },
  },
]
