import { comeBack, restartAgent, stopAgent, updateAgent } from '../agents/agent-sessions.ts'
import { asAgent } from '../agents/stored-agent.ts'
import { REF, TEXT, TEXT_MAP } from '../fields/json-schema.ts'
import type { Resource } from '../objects/resource.ts'
import { isJsonObject, textOf } from '../values/json.ts'
import { invalid } from '../values/request-error.ts'

/**
 * Online tunnel sessions, created by agents (`management-api.md § Tunnel sessions`). A session that has ended no longer
 * exists. The contract has no events for them.
 */
export const tunnelSessions: Resource = {
  path: 'tunnel_sessions',
  listKey: 'tunnel_sessions',
  idPrefix: 'ts',
  eventName: null,
  singular: 'tunnel_session',
  served: true,
  readOnly: true,
  createdAs: 'started_at',
  fields: {},
  prepare: refuseSeed,
  shows: {
    agent_version: TEXT,
    credential: REF,
    ip: TEXT,
    metadata: TEXT,
    os: TEXT,
    region: TEXT,
    transport: TEXT,
  },
  render: (session, view) => ({
    agent_version: textOf(session, 'agent_version'),
    credential: view.ref(session.credential_id),
    ip: textOf(session, 'ip'),
    metadata: textOf(session, 'metadata'),
    os: textOf(session, 'os'),
    region: textOf(session, 'region'),
    transport: textOf(session, 'transport'),
  }),
  commands: [
    { name: 'restart', summary: 'Restart the agent of a tunnel session', run: restartAgent },
    { name: 'stop', summary: 'Stop the agent of a tunnel session', run: stopAgent },
    { name: 'update', summary: 'Update the agent of a tunnel session', run: updateAgent },
  ],
}

/** Refuses a seed of objects that only a connected agent creates. */
function refuseSeed(): never {
  throw invalid('objects', 'agents, their sessions and their tunnels come from POST /_emulator/agents')
}

/** Simulated agents. The API knows only their sessions and tunnels; the admin surface connects them. */
export const agents: Resource = {
  path: 'agents',
  listKey: 'agents',
  idPrefix: 'agt',
  eventName: null,
  served: false,
  fields: {},
  prepare: refuseSeed,
  shows: { metadata: TEXT },
  render: (agent) => ({ metadata: asAgent(agent).metadata }),
  dueAt: (agent) => asAgent(agent).back_at ?? undefined,
  onDue: comeBack,
}

/** Tunnels: the API only refers to them (`management-api.md § Gaps in the endpoint set`). They fire no events. */
export const tunnels: Resource = {
  path: 'tunnels',
  listKey: 'tunnels',
  idPrefix: 'tn',
  eventName: null,
  served: false,
  fields: {},
  prepare: refuseSeed,
  labels: ({ labels }) => (isJsonObject(labels) ? labels : {}),
  shows: { labels: TEXT_MAP },
  render: ({ labels = {} }) => ({ labels }),
}
