import type { RuleFact } from '../facts.ts'
import { heldBy, serverOnly } from './operator-side.ts'

const sessions = 'management-api.md § Tunnel sessions'
const endpoints = 'management-api.md § Endpoints'
const behaviour = 'api-decisions.md § Behaviour'
const settled = 'api-decisions.md § Agents and tunnel sessions in the emulator'
const noOperator = serverOnly("agents are connected through the admin surface, which is the emulator's own")

const cluster = (title: string): string => `cluster/tunnel-sessions.test.ts > ${title}`
const CLUSTER = {
  shown: cluster('online sessions show every field of the contract, and edits and deletions by hand are reverted'),
  ends: cluster(
    'an ended session disappears, a restarted agent shows under its new id, and disabled mirroring removes all',
  ),
  counts: cluster(
    'three hundred sessions cost two writes each, and replacing a tenth of them costs that tenth and pages',
  ),
  four: cluster('each of the four failures of an update is reported by its own reason'),
  refused: cluster(
    'a session that cannot be restarted is reported, a gone one is Gone, and applying again repeats nothing',
  ),
  updated: cluster('an agent that is updated and restarted runs the new version: the restart comes ten seconds later'),
} as const

/** Tunnel sessions, the commands to their agents, and the agents that the emulator simulates. */
export const tunnelSessionRules: readonly RuleFact[] = [
  {
    id: 'sessions.online-only',
    statement: 'only online sessions are listed, newest first and in pages',
    source: sessions,
    due: 'now',
    operator: heldBy(CLUSTER.ends, CLUSTER.counts),
  },
  {
    id: 'sessions.read-only',
    statement: 'a session cannot be created, changed or deleted by a request',
    source: endpoints,
    due: 'now',
    operator: heldBy(
      CLUSTER.shown,
      'unit/managed/sessions/mirror-reconciler.test.ts > what is deleted by hand is made again with the next list',
    ),
    refusal: { status: 405 },
  },
  {
    id: 'sessions.own-account',
    statement: 'a session is there for its own account only',
    source: settled,
    due: 'now',
    operator: serverOnly('the operator asks with the key of one account'),
    refusal: { status: 404 },
  },
  {
    id: 'sessions.gone',
    statement: 'a command to a session that is unknown or gone is a 404',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      CLUSTER.refused,
      'unit/managed/sessions/command-reconciler.test.ts > the answer > ApiError: POST tunnel_sessions: there is none makes it Gone',
    ),
    refusal: { status: 404 },
  },
  {
    id: 'sessions.command-body',
    statement: 'a command takes an empty JSON object',
    source: endpoints,
    due: 'now',
    operator: heldBy(
      'unit/api/client.test.ts > a command > is one POST of an empty JSON object below the object, answered without a body',
    ),
    refusal: { status: 400 },
  },
  {
    id: 'sessions.restart-new-id',
    statement: 'a restarted agent has a new session id',
    source: sessions,
    due: 'now',
    operator: heldBy(
      CLUSTER.ends,
      'unit/managed/sessions/command-reconciler.test.ts > the session after a restart > is the only one that appeared since and is alike',
    ),
  },
  {
    id: 'sessions.restart-windows',
    statement: 'restart is refused on windows',
    source: behaviour,
    due: 'now',
    operator: heldBy(CLUSTER.refused),
    refusal: { status: 409 },
  },
  {
    id: 'sessions.restart-too-early',
    statement: 'a restart less than 10 s after an update brings the old version back',
    source: behaviour,
    due: 'now',
    operator: heldBy(
      CLUSTER.updated,
      'unit/managed/sessions/command-reconciler.test.ts > a restart comes at least ten seconds after the end of the update, also after a crash in between',
    ),
  },
  {
    id: 'sessions.update-refused',
    statement: 'an agent update fails with a code of its own in each of the four cases',
    source: behaviour,
    due: 'now',
    operator: heldBy(CLUSTER.four),
    refusal: { status: 409 },
  },
  {
    id: 'sessions.update-in-major',
    statement: 'an update goes to the latest version of the same major version and to no other major version',
    source: endpoints,
    due: 'now',
    operator: heldBy(CLUSTER.updated),
  },
  {
    id: 'sessions.ssh',
    statement: 'a session through the SSH gateway can be stopped, and neither restarted nor updated',
    source: settled,
    due: 'now',
    operator: serverOnly('the operator sends what it is told to, and shows the refusal as that of any session'),
    refusal: { status: 409 },
  },
  {
    id: 'sessions.no-events',
    statement: 'sessions and tunnels that come and go fire no events',
    source: settled,
    due: 'now',
    operator: serverOnly('the operator declares subscriptions and reads no events'),
  },
  {
    id: 'sessions.credential-deleted',
    statement: 'a session outlives its credential, and its agent is not let in again',
    source: settled,
    due: 'now',
    operator: serverOnly('how the service treats agents; the operator deletes credentials as it is told'),
  },
  {
    id: 'tunnels.matching',
    statement: 'a tunnel group backend lists the online tunnels that bear all its labels',
    source: settled,
    due: 'now',
    operator: {
      tests: [
        'unit/kinds/backend.test.ts > the status > has the labels of a group, and its online tunnels in a fixed order',
      ],
    },
  },
  {
    id: 'agents.credential',
    statement: 'an agent starts its session with the token of a tunnel credential or the key of an SSH credential',
    source: settled,
    due: 'now',
    operator: noOperator,
    refusal: { status: 404 },
  },
  {
    id: 'agents.acl',
    statement: 'an agent may bind what the ACL of its credential permits, and is refused with the rules it lacks',
    source: 'management-api.md § Access credentials',
    due: 'now',
    operator: noOperator,
    refusal: { status: 403 },
  },
  {
    id: 'agents.restrictions',
    statement: 'an enforced agent restriction refuses agents from other addresses, an unenforced one warns',
    source: behaviour,
    due: 'now',
    operator: noOperator,
    refusal: { status: 403 },
  },
  {
    id: 'agents.let-in-again',
    statement: 'a restarting agent is judged anew when it comes back',
    source: settled,
    due: 'now',
    operator: noOperator,
  },
  {
    id: 'agents.bulk',
    statement: 'many agents are connected and replaced at once, or none of them',
    source: settled,
    due: 'now',
    operator: noOperator,
  },
]
