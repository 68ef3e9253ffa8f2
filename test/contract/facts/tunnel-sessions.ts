import { type FieldRow, ref, shown, string, timestamp } from './rows.ts'

/** A command on a resource: a POST with an empty JSON object, answered 204. */
export interface CommandFact {
  readonly id: string
  readonly path: string
  readonly statement: string
}

/** The only collection without create, update and delete: agents create and end sessions. */
export const tunnelSessions: {
  readonly path: string
  readonly source: string
  readonly listKey: string
  readonly idPrefix: string
  readonly fields: readonly FieldRow[]
  readonly commands: readonly CommandFact[]
} = {
  path: 'tunnel_sessions',
  source: 'management-api.md § Tunnel sessions',
  listKey: 'tunnel_sessions',
  idPrefix: 'ts_',
  fields: [
    shown('id', string),
    shown('uri', string),
    shown('agent_version', string),
    shown('credential', ref('credentials', 'ssh_credentials')),
    shown('ip', string),
    shown('metadata', string),
    shown('os', string),
    shown('region', string),
    shown('started_at', timestamp),
    shown('transport', string),
  ],
  commands: [
    { id: 'tunnel_sessions/{id}/restart', path: 'restart', statement: 'the agent comes back under a new session id' },
    { id: 'tunnel_sessions/{id}/stop', path: 'stop', statement: 'the agent exits and its session is listed no more' },
    {
      id: 'tunnel_sessions/{id}/update',
      path: 'update',
      statement: 'the agent runs the latest code of its major version after the next restart',
    },
  ],
}
