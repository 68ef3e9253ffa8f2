import type { Rules } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const contract = 'management-api.md § SSH certificates'
const behaviour = 'api-decisions.md § Behaviour'
const values = 'api-decisions.md § Values'
const settled = 'api-decisions.md § Further points that building the emulator settled'

/** SSH certificate authorities, and the certificates they sign. */
export const sshCertificateRules = {
  'ssh-ca.delete': {
    statement: 'an SSH certificate authority may be deleted and its certificates stay',
    source: behaviour,
    operator: heldBy('cluster/in-use.test.ts'),
  },
  'ssh-ca.defaults': {
    statement: 'an SSH certificate authority is ed25519, ECDSA P-256 and RSA 4096 unless told otherwise',
    source: values,
    operator: heldBy('unit/kinds/ssh-certificate-authority.test.ts'),
  },
  'ssh-ca.fields-fit': {
    statement: 'a curve goes with ecdsa alone and a key size with rsa alone',
    source: settled,
    operator: heldBy('cluster/kinds/refusals.test.ts'),
  },
  'ssh-ca.public-key': {
    statement: 'the public key of an SSH certificate authority is in authorized-keys format without a comment',
    source: contract,
    operator: heldBy('unit/kinds/ssh-certificates.test.ts'),
  },
  'ssh-ca.private-key': {
    statement: 'the private key of an SSH certificate authority is in no response, event or journal',
    source: settled,
    operator: serverOnly('the private key never leaves the service'),
  },
  'ssh-certificates.signed': {
    statement: 'a certificate is one that OpenSSH reads, signed by its authority, and says what was asked for',
    source: contract,
    operator: heldBy('unit/kinds/ssh-certificates.test.ts'),
  },
  'ssh-certificates.key-type': {
    statement: 'the key type of a certificate is that of the certified key',
    source: contract,
    operator: heldBy('unit/kinds/ssh-certificates.test.ts'),
  },
  'ssh-certificates.public-key': {
    statement: 'a public key that is none, or of another type, is refused',
    source: contract,
    operator: heldBy('unit/kinds/ssh-certificates.test.ts', 'cluster/kinds/refusals.test.ts'),
  },
  'ssh-certificates.validity': {
    statement: 'valid_until must come after valid_after, and is 24 hours or a year on when unspecified',
    source: values,
    operator: heldBy('unit/kinds/ssh-certificates.test.ts', 'cluster/kinds/refusals.test.ts'),
  },
  'ssh-certificates.times': {
    statement: 'a time is RFC 3339 in any zone and is returned in UTC with whole seconds',
    source: values,
    operator: heldBy('unit/kinds/ssh-certificates.test.ts'),
  },
  'ssh-certificates.principals': {
    statement: 'a certificate holds up to 256 principals, none of them empty',
    source: settled,
    operator: heldBy('cluster/kinds/refusals.test.ts'),
  },
  'ssh-certificates.critical-options': {
    statement: 'critical options other than force-command and source-address are refused',
    source: values,
    operator: heldBy('cluster/kinds/bounds.test.ts'),
  },
  'ssh-certificates.source-address': {
    statement: 'source-address is a list of addresses and ranges with commas between them',
    source: settled,
    operator: heldBy('unit/kinds/ssh-certificates.test.ts'),
  },
  'ssh-certificates.extensions': {
    statement:
      'extensions are permit-pty and permit-user-rc when unspecified, none when empty, and take no value they do not have',
    source: contract,
    operator: heldBy('unit/kinds/reach.test.ts', 'unit/kinds/fixed-point.test.ts'),
  },
} satisfies Rules
