import type { RuleFact } from '../facts.ts'

const sessions = 'management-api.md § Tunnel sessions'
const behaviour = 'api-decisions.md § Behaviour'

/** Rules of collections whose turn has not come. */
export const laterRules: readonly RuleFact[] = [
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
