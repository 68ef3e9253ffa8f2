import type { RuleFact } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const credentials = 'management-api.md § Access credentials'
const auth = 'management-api.md § Authentication'
const behaviour = 'api-decisions.md § Behaviour'
const values = 'api-decisions.md § Values'

/** Credentials, their permissions, and the bots that own them. */
export const credentialRules: readonly RuleFact[] = [
  {
    id: 'credentials.token-shown-once',
    statement: 'the token of a tunnel credential is in the create response and null in every later one',
    source: 'management-api.md § Endpoints, special rule 5',
    due: 'now',
    operator: heldBy(
      'faults/matrix/scenarios/tokens.test.ts > the token of the kind TunnelCredential > is in its Secret in the end, and nowhere else…',
      'unit/api/account-cache.test.ts > our own writes > are returned with the token, which is not kept',
    ),
  },
  {
    id: 'credentials.token-hashed',
    statement: 'the token of a tunnel credential stands in no snapshot and no journal',
    source: 'api-decisions.md § Admin surface of the emulator',
    due: 'now',
    operator: serverOnly('how the service stores tokens'),
  },
  {
    id: 'credentials.no-api-key',
    statement: 'the token of a tunnel credential is no API key',
    source: auth,
    due: 'now',
    operator: serverOnly("the operator takes the key that the account's Secret holds, whatever it is"),
    refusal: { status: 401 },
  },
  {
    id: 'credentials.verified',
    statement: 'the admin surface names the tunnel credential of a token as long as the credential exists',
    source: 'api-decisions.md § Admin surface of the emulator',
    due: 'now',
    operator: serverOnly("the admin surface is the emulator's own; the operator never calls it"),
  },
  {
    id: 'credentials.owner',
    statement: 'a credential belongs to the owner of the key that created it unless an admin key names another',
    source: auth,
    due: 'now',
    operator: heldBy(
      'unit/kinds/reach.test.ts > whatever a spec of TunnelCredential says stands in a request',
      'unit/kinds/reach.test.ts > whatever a spec of SSHCredential says stands in a request',
      'unit/kinds/ssh-credential.test.ts > its owner stands in the status, and bots that own it are referred to',
    ),
    refusal: { status: 403 },
  },
  {
    id: 'acl.rules',
    statement: 'an ACL rule that does not parse is refused, naming it',
    source: values,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > TunnelCredential with a rule that is none',
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > SSHCredential with a rule that is none',
    ),
    refusal: { status: 400, names: ['acl'] },
  },
  {
    id: 'acl.kinds',
    statement: 'an ACL binds domains, addresses and labels, with wildcards, and is kept to the letter',
    source: credentials,
    due: 'now',
    operator: heldBy(
      'unit/kinds/reach.test.ts > whatever a spec of TunnelCredential says stands in a request',
      'unit/kinds/fixed-point.test.ts > after one write nothing is left to do, whatever the spec was before, for TunnelCredential in credentials',
      'unit/kinds/reach.test.ts > whatever a spec of SSHCredential says stands in a request',
      'unit/kinds/fixed-point.test.ts > after one write nothing is left to do, whatever the spec was before, for SSHCredential in ssh_credentials',
    ),
  },
  {
    id: 'acl.star-alone',
    statement: 'the ACL rule * stands alone',
    source: credentials,
    due: 'now',
    operator: heldBy(
      'cluster/kinds/refusals.test.ts > refused, with field and remedy, is > TunnelCredential with * beside others',
      'unit/kinds/ssh-credential.test.ts > its rules are a set, and are taken away by the one that permits everything',
    ),
    refusal: { status: 400, names: ['acl'] },
  },
  {
    id: 'ssh-credentials.public-key',
    statement: 'the public key of an SSH credential is an authorized-keys line of a known type, kept to the letter',
    source: 'api-decisions.md § Further points that building the emulator settled',
    due: 'now',
    operator: heldBy(
      'unit/kinds/ssh-credential.test.ts > a private key is refused before anything is sent',
      'unit/kinds/ssh-credential.test.ts > another key makes another credential, another comment does not',
    ),
    refusal: { status: 400, names: ['public_key'] },
  },
  {
    id: 'in-use.bot',
    statement: 'a bot user that owns credentials cannot be deleted',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      'unit/kinds/ssh-credential.test.ts > its owner stands in the status, and bots that own it are referred to',
      'cluster/in-use.test.ts > BotUser/pipeline, which …',
    ),
    refusal: { status: 409 },
  },
]
