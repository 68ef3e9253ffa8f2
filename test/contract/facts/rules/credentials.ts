import type { Rules } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const credentials = 'management-api.md § Access credentials'
const auth = 'management-api.md § Authentication'
const behaviour = 'api-decisions.md § Behaviour'
const values = 'api-decisions.md § Values'

/** Credentials, their permissions, and the bots that own them. */
export const credentialRules = {
  'credentials.token-shown-once': {
    statement: 'the token of a tunnel credential is in the create response and null in every later one',
    source: 'management-api.md § Endpoints, special rule 5',
    operator: heldBy('faults/matrix/scenarios/tokens.test.ts', 'unit/api/account-cache.test.ts'),
  },
  'credentials.token-hashed': {
    statement: 'the token of a tunnel credential stands in no snapshot and no journal',
    source: 'api-decisions.md § Admin surface of the emulator',
    operator: serverOnly('how the service stores tokens'),
  },
  'credentials.no-api-key': {
    statement: 'the token of a tunnel credential is no API key',
    source: auth,
    operator: serverOnly("the operator takes the key that the account's Secret holds, whatever it is"),
  },
  'credentials.verified': {
    statement: 'the admin surface names the tunnel credential of a token as long as the credential exists',
    source: 'api-decisions.md § Admin surface of the emulator',
    operator: serverOnly("the admin surface is the emulator's own; the operator never calls it"),
  },
  'credentials.owner': {
    statement: 'a credential belongs to the owner of the key that created it unless an admin key names another',
    source: auth,
    operator: heldBy('unit/kinds/reach.test.ts', 'unit/kinds/ssh-credential.test.ts'),
  },
  'acl.rules': {
    statement: 'an ACL rule that does not parse is refused, naming it',
    source: values,
    operator: heldBy('cluster/kinds/refusals.test.ts'),
  },
  'acl.kinds': {
    statement: 'an ACL binds domains, addresses and labels, with wildcards, and is kept to the letter',
    source: credentials,
    operator: heldBy('unit/kinds/reach.test.ts', 'unit/kinds/fixed-point.test.ts'),
  },
  'acl.star-alone': {
    statement: 'the ACL rule * stands alone',
    source: credentials,
    operator: heldBy('cluster/kinds/refusals.test.ts', 'unit/kinds/ssh-credential.test.ts'),
  },
  'ssh-credentials.public-key': {
    statement: 'the public key of an SSH credential is an authorized-keys line of a known type, kept to the letter',
    source: 'api-decisions.md § Further points that building the emulator settled',
    operator: heldBy('unit/kinds/ssh-credential.test.ts'),
  },
  'in-use.bot': {
    statement: 'a bot user that owns credentials cannot be deleted',
    source: behaviour,
    operator: heldBy('unit/kinds/ssh-credential.test.ts', 'cluster/in-use.test.ts'),
  },
} satisfies Rules
