import type { Rules } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const sessions = 'management-api.md § Tunnel sessions'
const endpoints = 'management-api.md § Endpoints'
const behaviour = 'api-decisions.md § Behaviour'
const settled = 'api-decisions.md § Agents and tunnel sessions in the emulator'
const noOperator = serverOnly("agents are connected through the admin surface, which is the emulator's own")

/** Tunnel sessions, the commands to their agents, and the agents that the emulator simulates. */
export const tunnelSessionRules = {
  'sessions.online-only': {
    statement: 'only online sessions are listed, newest first and in pages',
    source: sessions,
    operator: heldBy('cluster/tunnel-sessions.test.ts'),
  },
  'sessions.read-only': {
    statement: 'a session cannot be created, changed or deleted by a request',
    source: endpoints,
    operator: heldBy('cluster/tunnel-sessions.test.ts', 'unit/managed/sessions/mirror-reconciler.test.ts'),
  },
  'sessions.own-account': {
    statement: 'a session is visible to its own account only',
    source: settled,
    operator: serverOnly('the operator asks with the key of one account'),
  },
  'sessions.gone': {
    statement: 'a command to a session that is unknown or gone is a 404',
    source: behaviour,
    operator: heldBy('cluster/tunnel-sessions.test.ts', 'unit/managed/sessions/command-reconciler.test.ts'),
  },
  'sessions.command-body': {
    statement: 'a command takes an empty JSON object',
    source: endpoints,
    operator: heldBy('unit/api/client.test.ts'),
  },
  'sessions.restart-new-id': {
    statement: 'a restarted agent has a new session id',
    source: sessions,
    operator: heldBy('cluster/tunnel-sessions.test.ts', 'unit/managed/sessions/command-reconciler.test.ts'),
  },
  'sessions.restart-windows': {
    statement: 'restart is refused on windows',
    source: behaviour,
    operator: heldBy('cluster/tunnel-sessions.test.ts'),
  },
  'sessions.restart-too-early': {
    statement: 'a restart less than 10 s after an update brings the old version back',
    source: behaviour,
    operator: heldBy('cluster/tunnel-sessions.test.ts', 'unit/managed/sessions/command-reconciler.test.ts'),
  },
  'sessions.update-refused': {
    statement: 'an agent update fails with a code of its own in each of the four cases',
    source: behaviour,
    operator: heldBy('cluster/tunnel-sessions.test.ts'),
  },
  'sessions.update-in-major': {
    statement: 'an update goes to the latest version of the same major version and to no other major version',
    source: endpoints,
    operator: heldBy('cluster/tunnel-sessions.test.ts'),
  },
  'sessions.ssh': {
    statement: 'a session through the SSH gateway can be stopped, and neither restarted nor updated',
    source: settled,
    operator: serverOnly('the operator sends what it is asked to, and shows the refusal as that of any session'),
  },
  'sessions.no-events': {
    statement: 'sessions and tunnels that come and go fire no events',
    source: settled,
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  'sessions.credential-deleted': {
    statement: 'a session outlives its credential, and its agent is not let in again',
    source: settled,
    operator: serverOnly('how the service treats agents; the operator deletes credentials as asked'),
  },
  'tunnels.matching': {
    statement: 'a tunnel group backend lists the online tunnels that have all its labels',
    source: settled,
    operator: heldBy('unit/kinds/backend.test.ts'),
  },
  'agents.credential': {
    statement: 'an agent starts its session with the token of a tunnel credential or the key of an SSH credential',
    source: settled,
    operator: noOperator,
  },
  'agents.acl': {
    statement: 'an agent may bind what the ACL of its credential permits, and is refused with the rules it lacks',
    source: 'management-api.md § Access credentials',
    operator: noOperator,
  },
  'agents.restrictions': {
    statement: 'an enforced agent restriction refuses agents from other addresses, an unenforced one warns',
    source: behaviour,
    operator: noOperator,
  },
  'agents.let-in-again': {
    statement: 'a restarting agent is judged again when it comes back',
    source: settled,
    operator: noOperator,
  },
  'agents.bulk': {
    statement: 'many agents are connected and replaced at once, or none of them',
    source: settled,
    operator: noOperator,
  },
} satisfies Rules
