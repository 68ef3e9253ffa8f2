import type { RuleFact } from '../facts.ts'

const sessions = 'management-api.md § Tunnel sessions'
const behaviour = 'api-decisions.md § Behaviour'
const values = 'api-decisions.md § Values'

/** Rules of collections whose turn has not come. */
export const laterRules: readonly RuleFact[] = [
  {
    id: 'ssh-ca.delete',
    statement: 'an SSH certificate authority may be deleted and its certificates stay',
    source: behaviour,
    due: 'later',
  },
  {
    id: 'ssh-ca.defaults',
    statement: 'an SSH certificate authority is ed25519, ECDSA P-256 and RSA 4096 unless told otherwise',
    source: values,
    due: 'later',
  },
  {
    id: 'ssh-certificates.validity',
    statement: 'valid_until must come after valid_after, and is 24 hours or a year on when unspecified',
    source: values,
    due: 'later',
    refusal: { status: 400, names: ['valid_until'] },
  },
  {
    id: 'ssh-certificates.critical-options',
    statement: 'critical options other than force-command and source-address are refused',
    source: values,
    due: 'later',
    refusal: { status: 400, names: ['critical_options'] },
  },
  {
    id: 'sessions.update-refused',
    statement: 'an agent update fails with a code of its own in each of the four cases',
    source: behaviour,
    due: 'later',
    refusal: { status: 409 },
  },
  {
    id: 'sessions.restart-new-id',
    statement: 'a restarted agent has a new session id',
    source: sessions,
    due: 'later',
  },
  {
    id: 'sessions.restart-windows',
    statement: 'restart is refused on windows',
    source: behaviour,
    due: 'later',
    refusal: { status: 409 },
  },
  {
    id: 'sessions.restart-too-early',
    statement: 'a restart less than 10 s after an update brings the old version back',
    source: behaviour,
    due: 'later',
  },
]
