import { restartAgent, stopAgent, updateAgent } from '../agents/sessions.ts'
import { REF, TEXT } from '../fields/json-schema.ts'
import { textOf } from '../json.ts'
import { refuseSeed } from './agents.ts'
import type { Resource } from './resource.ts'

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
