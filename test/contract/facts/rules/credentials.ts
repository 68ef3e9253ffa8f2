import type { RuleFact } from '../facts.ts'

const credentials = 'management-api.md § Access credentials'
const auth = 'management-api.md § Authentication'
const behaviour = 'api-decisions.md § Behaviour'
const values = 'api-decisions.md § Values'

/** Credentials, what they permit, and the bots that own them. */
export const credentialRules: readonly RuleFact[] = [
  {
    id: 'credentials.token-shown-once',
    statement: 'the token of a tunnel credential is in the create response and null in every later one',
    source: 'management-api.md § Endpoints, special rule 5',
    due: 'now',
  },
  {
    id: 'credentials.token-hashed',
    statement: 'the token of a tunnel credential stands in no snapshot and no journal',
    source: 'api-decisions.md § Admin surface of the emulator',
    due: 'now',
  },
  {
    id: 'credentials.no-api-key',
    statement: 'the token of a tunnel credential is no API key',
    source: auth,
    due: 'now',
    refusal: { status: 401 },
  },
  {
    id: 'credentials.verified',
    statement: 'the admin surface names the tunnel credential of a token as long as the credential exists',
    source: 'api-decisions.md § Admin surface of the emulator',
    due: 'now',
  },
  {
    id: 'credentials.owner',
    statement: 'a credential belongs to the owner of the key that created it unless an admin key names another',
    source: auth,
    due: 'now',
    refusal: { status: 403 },
  },
  {
    id: 'acl.rules',
    statement: 'an ACL rule that does not parse is refused, naming it',
    source: values,
    due: 'now',
    refusal: { status: 400, names: ['acl'] },
  },
  {
    id: 'acl.kinds',
    statement: 'an ACL binds domains, addresses and labels, with wildcards, and is kept to the letter',
    source: credentials,
    due: 'now',
  },
  {
    id: 'acl.star-alone',
    statement: 'the ACL rule * stands alone',
    source: credentials,
    due: 'now',
    refusal: { status: 400, names: ['acl'] },
  },
  {
    id: 'ssh-credentials.public-key',
    statement: 'the public key of an SSH credential is an authorized-keys line of a known type, kept to the letter',
    source: 'api-decisions.md § Further points that building the emulator settled',
    due: 'now',
    refusal: { status: 400, names: ['public_key'] },
  },
  {
    id: 'in-use.bot',
    statement: 'a bot user that owns credentials cannot be deleted',
    source: behaviour,
    due: 'now',
    refusal: { status: 409 },
  },
]
