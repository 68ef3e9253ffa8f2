import type { StoredObject } from '../store/database.ts'
import { isJsonObject, type Json, type JsonObject, textOf, textsOf } from '../values/json.ts'

/** The `transport` of sessions through the SSH gateway (`management-api.md § Tunnel sessions`). */
export const SSH = 'ssh'

/**
 * - `online`: has a session.
 * - `restarting`: its process is being replaced; back at `back_at`.
 * - `stopped`: exited because it was told to.
 * - `refused`: was not admitted when it came back.
 */
export type AgentState = 'online' | 'restarting' | 'stopped' | 'refused'

/** A simulated agent, or an SSH client at the SSH gateway, as stored. */
export interface Agent extends StoredObject {
  /** The tunnel credential or SSH credential with which it starts its sessions. */
  credential_id: string
  /** As shown by its sessions (`management-api.md § Tunnel sessions`). */
  transport: string
  agent_version: string
  ip: string
  os: string
  region: string
  metadata: string
  /** What each of its tunnels binds. */
  bindings: JsonObject[]
  /** The available versions, of any major version. */
  available_versions: string[]
  /** Whether its configuration lets it check for updates. */
  update_checks: boolean
  /** How long it is offline when it restarts. */
  restart_seconds: number
  /** How long an update takes. */
  update_seconds: number
  /** Whether it is a client of the SSH gateway, which lives no longer than its connection. */
  connected: boolean
  state: AgentState
  /** Its session and that session's tunnels; null and empty while it has no session. */
  session_id: string | null
  tunnel_ids: string[]
  /** When it comes back from a restart, in emulated milliseconds. */
  back_at: number | null
  /** The update that it was told to install and has not restarted into: the version, and when it was told. */
  update_to: string | null
  update_asked_at: number | null
  /** Restrictions that are not enforced and would have refused it when it last connected. */
  warnings: string[]
  /** Why it was refused. */
  refusal: string | null
}

/** A simulated agent before its first session, without what the caller chooses. */
export const UNBORN = {
  connected: false,
  state: 'stopped',
  session_id: null,
  tunnel_ids: [],
  back_at: null,
  update_to: null,
  update_asked_at: null,
  warnings: [],
  refusal: null,
} as const

/** A stored object of the agents' collection. */
export function asAgent(object: StoredObject): Agent {
  return {
    ...object,
    credential_id: textOf(object, 'credential_id'),
    transport: textOf(object, 'transport'),
    agent_version: textOf(object, 'agent_version'),
    ip: textOf(object, 'ip'),
    os: textOf(object, 'os'),
    region: textOf(object, 'region'),
    metadata: textOf(object, 'metadata'),
    bindings: Array.isArray(object.bindings) ? object.bindings.filter(isJsonObject) : [],
    available_versions: textsOf(object.available_versions),
    update_checks: object.update_checks === true,
    restart_seconds: Number(object.restart_seconds),
    update_seconds: Number(object.update_seconds),
    connected: object.connected === true,
    state: stateOf(object.state),
    session_id: textOrNull(object.session_id),
    tunnel_ids: textsOf(object.tunnel_ids),
    back_at: numberOrNull(object.back_at),
    update_to: textOrNull(object.update_to),
    update_asked_at: numberOrNull(object.update_asked_at),
    warnings: textsOf(object.warnings),
    refusal: textOrNull(object.refusal),
  }
}

function stateOf(value: Json | undefined): AgentState {
  return value === 'online' || value === 'restarting' || value === 'refused' ? value : 'stopped'
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null
}

function numberOrNull(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null
}
