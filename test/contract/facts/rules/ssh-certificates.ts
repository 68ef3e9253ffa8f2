import type { RuleFact } from '../facts.ts'

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
  },
  {
    id: 'ssh-ca.defaults',
    statement: 'an SSH certificate authority is ed25519, ECDSA P-256 and RSA 4096 unless told otherwise',
    source: values,
    due: 'now',
  },
  {
    id: 'ssh-ca.fields-fit',
    statement: 'a curve goes with ecdsa alone and a key size with rsa alone',
    source: settled,
    due: 'now',
    refusal: { status: 400, names: ['elliptic_curve', 'key_size'] },
  },
  {
    id: 'ssh-ca.public-key',
    statement: 'the public key of an SSH certificate authority is in authorized-keys format without a comment',
    source: contract,
    due: 'now',
  },
  {
    id: 'ssh-ca.private-key',
    statement: 'the private key of an SSH certificate authority is in no response, event or journal',
    source: settled,
    due: 'now',
  },
  {
    id: 'ssh-certificates.signed',
    statement: 'a certificate is one that OpenSSH reads, signed by its authority, and says what was asked for',
    source: contract,
    due: 'now',
  },
  {
    id: 'ssh-certificates.key-type',
    statement: 'the key type of a certificate is that of the certified key',
    source: contract,
    due: 'now',
  },
  {
    id: 'ssh-certificates.public-key',
    statement: 'a public key that is none, or of another type, is refused',
    source: contract,
    due: 'now',
    refusal: { status: 400, names: ['public_key'] },
  },
  {
    id: 'ssh-certificates.validity',
    statement: 'valid_until must come after valid_after, and is 24 hours or a year on when unspecified',
    source: values,
    due: 'now',
    refusal: { status: 400, names: ['valid_until'] },
  },
  {
    id: 'ssh-certificates.times',
    statement: 'a time is RFC 3339 in any zone and is returned in UTC with whole seconds',
    source: values,
    due: 'now',
    refusal: { status: 400, names: ['valid_after'] },
  },
  {
    id: 'ssh-certificates.principals',
    statement: 'a certificate holds up to 256 principals, none of them empty',
    source: settled,
    due: 'now',
    refusal: { status: 400, names: ['principals'] },
  },
  {
    id: 'ssh-certificates.critical-options',
    statement: 'critical options other than force-command and source-address are refused',
    source: values,
    due: 'now',
    refusal: { status: 400, names: ['critical_options'] },
  },
  {
    id: 'ssh-certificates.source-address',
    statement: 'source-address is a list of addresses and ranges with commas between them',
    source: settled,
    due: 'now',
    refusal: { status: 400, names: ['critical_options'] },
  },
  {
    id: 'ssh-certificates.extensions',
    statement:
      'extensions are permit-pty and permit-user-rc when unspecified, none when empty, and take no value they do not have',
    source: contract,
    due: 'now',
    refusal: { status: 400, names: ['extensions'] },
  },
]
